package tokens_test

import (
	"context"
	"fmt"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/spans"
)

const leave = "Annual leave is 28 days. Ask your lead two weeks ahead. Zażółć gęślą jaźń."

func ExampleFixedToken() {
	doc, err := spans.NewDocument("handbook/leave.md", leave, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := tokens.FixedToken{Tokens: 10, Overlap: 2}
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
	// fixedtoken/tokens=10/overlap=2
	// 0-38 "Annual leave is 28 days. Ask your lead"
	// 28-66 " your lead two weeks ahead. Zażółć"
	// 60-82 "ółć gęślą jaźń"
	// 78-83 "źń."
}

func ExampleEncoding() {
	fmt.Println(tokens.O200K.Count(leave), "tokens")
	fmt.Println(tokens.O200K.AppendIDs(nil, "Annual leave"))
	for start, end := range tokens.O200K.Tokens("Zażółć") {
		fmt.Printf("%d-%d ", start, end)
	}
	// Output:
	// 26 tokens
	// [94467 7668]
	// 0-2 2-4 4-8 8-10
}

func ExampleLength() {
	c := chunkers.RecursiveCharacter{Size: 8, Length: tokens.Length(tokens.O200K), Trim: true}
	texts, err := c.Chunk(context.Background(), leave)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, text := range texts {
		fmt.Printf("%q\n", text)
	}
	// Output:
	// recursive/size=8/length=o200k/trim=true
	// "Annual leave is 28 days"
	// ". Ask your lead two weeks ahead"
	// ". Zażółć"
	// "gęślą jaźń."
}
