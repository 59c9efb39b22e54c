package llm_test

import (
	"context"
	"fmt"

	chunker "github.com/rageval/rageval/chunkers/llm"
	"github.com/rageval/rageval/ragtest/llm"
)

// The client here is a script; a real one calls a model.
func Example() {
	var client llm.Client = llm.Func(func(ctx context.Context, r llm.Request) (llm.Response, error) {
		return llm.Response{Text: `{"split_after": [2]}`, FinishReason: llm.FinishStop}, ctx.Err()
	})
	c := chunker.LLM{Client: client, Model: "small", UnitSize: 60}
	chunks, err := c.Chunk(context.Background(), `Annual leave is 28 days.
Leave that you do not take by March is lost.
Printers are on every floor.
A printer that jams is not yours to open.`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, chunk := range chunks {
		fmt.Printf("%q\n", chunk)
	}
	// Output:
	// llm/model=small/unitsize=60/client=llm.Func
	// "Annual leave is 28 days.\nLeave that you do not take by March is lost."
	// "\nPrinters are on every floor.\nA printer that jams is not yours to open."
}
