package chunkers_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

const leave = `Annual leave is 28 days. Ask your lead two weeks ahead.

Sick leave needs no notice. From the fourth day on, send a doctor's note.

Zażółć gęślą jaźń.`

func ExampleFixedSize() {
	c := chunkers.FixedSize{Size: 20, Overlap: 5}
	texts, err := c.Chunk(context.Background(), "Annual leave is 28 days. Ask your lead.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, text := range texts {
		fmt.Printf("%q\n", text)
	}
	// Output:
	// fixed/size=20/overlap=5
	// "Annual leave is 28 d"
	// " 28 days. Ask your l"
	// "our lead."
}

func ExampleRecursiveCharacter() {
	doc, err := spans.NewDocument("handbook/leave.md", leave, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := chunkers.RecursiveCharacter{Size: 60, Trim: true}
	pieces, err := c.ChunkWithPositions(context.Background(), doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, p := range pieces {
		fmt.Printf("%d-%d %q\n", p.Start, p.End, p.Text)
	}
	// Output:
	// recursive/size=60/trim=true
	// 0-55 "Annual leave is 28 days. Ask your lead two weeks ahead."
	// 57-83 "Sick leave needs no notice"
	// 83-130 ". From the fourth day on, send a doctor's note."
	// 132-159 "Zażółć gęślą jaźń."
}

// Sizes are in words here; with a tokenizer they would be in tokens.
func ExampleRecursiveCharacter_length() {
	c := chunkers.RecursiveCharacter{
		Size:    8,
		Overlap: 3,
		Length:  chunkers.Length{Name: "words", Of: func(text string) int { return len(strings.Fields(text)) }},
		Trim:    true,
	}
	texts, err := c.Chunk(context.Background(), "Sick leave needs no notice, but from the fourth day on a doctor's note.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, text := range texts {
		fmt.Printf("%q\n", text)
	}
	// Output:
	// recursive/size=8/overlap=3/length=words/trim=true
	// "Sick leave needs no notice, but from the"
	// "but from the fourth day on a doctor's"
	// "on a doctor's note."
}
