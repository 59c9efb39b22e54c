package chunkers_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// byParagraph stands for a chunker that you have already: it returns texts
// and, as many do, tidies up their white space.
var byParagraph = chunkers.Func(func(ctx context.Context, text string) ([]string, error) {
	var chunks []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if words := strings.Fields(paragraph); len(words) > 0 {
			chunks = append(chunks, strings.Join(words, " "))
		}
	}
	return chunks, nil
})

func ExampleWithPositions() {
	const text = `Annual leave

Ask your
manager.

Sick leave

Ask your
manager.
`
	doc, err := spans.NewDocument("handbook/leave.md", text, nil)
	if err != nil {
		log.Fatal(err)
	}
	pieces, err := chunkers.WithPositions(byParagraph).ChunkWithPositions(context.Background(), doc)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range pieces {
		fmt.Printf("%2d %2d %q %q\n", p.Start, p.End, p.Text, doc.Text()[p.Start:p.End])
	}
	// Output:
	//  0 12 "Annual leave" "Annual leave"
	// 14 31 "Ask your manager." "Ask your\nmanager."
	// 33 43 "Sick leave" "Sick leave"
	// 45 62 "Ask your manager." "Ask your\nmanager."
}

func ExampleLocate() {
	doc, err := spans.NewDocument("café.md", "Das Café öffnet\num neun. Es schließt um neun.", nil)
	if err != nil {
		log.Fatal(err)
	}
	span, err := chunkers.Locate(doc, "öffnet um neun")
	fmt.Println(span, err)
	_, err = chunkers.Locate(doc, "um neun")
	fmt.Println(err)
	_, err = chunkers.Locate(doc, "öffnet um zehn")
	fmt.Println(err)
	// Output:
	// café.md[9:23] <nil>
	// locating "um neun" in document café.md: it occurs exactly at 2 places, want one: characters [16:23], [37:44]
	// locating "öffnet um zehn" in document café.md: it does not occur: its first 9 characters, up to white space, do at [9:18], but then the document has " neun. Es schließt um neun.", not " zehn"
}

// wholeDocument makes one chunk of each document, and counts in characters
// where it should count in bytes.
type wholeDocument struct{}

func (wholeDocument) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if doc.Len() == 0 {
		return nil, nil
	}
	return []chunkers.Piece{{Text: doc.Text(), Start: 0, End: doc.Len()}}, nil
}

func ExampleCheck() {
	fmt.Println("by paragraph:", chunkers.Check(context.Background(), chunkers.WithPositions(byParagraph)))

	doc, err := spans.NewDocument("café.md", "Das Café", nil)
	if err != nil {
		log.Fatal(err)
	}
	err = chunkers.Check(context.Background(), wholeDocument{}, doc)
	first, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Println("whole document:", first)
	// Output:
	// by paragraph: <nil>
	// whole document: document café.md: piece 0: bytes [0:8]: byte 8 is inside a UTF-8 sequence
}
