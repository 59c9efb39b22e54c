// Command model2vec embeds with a tokenizer of its model, and needs no vocabulary
// of OpenAI.
package main

import (
	"context"
	"log"

	"github.com/rageval/rageval/ragtest/model2vec"
)

func main() {
	e, err := model2vec.Open("potion-base-2M")
	if err != nil {
		log.Fatal(err)
	}
	vectors, err := e.Embed(context.Background(), []string{"a text"})
	log.Print(vectors, err)
}
