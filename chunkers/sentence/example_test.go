package sentence_test

import (
	"context"
	"fmt"

	"github.com/rageval/rageval/chunkers/sentence"
	"github.com/rageval/rageval/spans"
)

const handbook = `# Leave

Annual leave is 28 days. Ask your lead, e.g. Dr. Moreau, two weeks ahead.

Sick leave needs no notice. From the fourth day on, send a note (see Fig. 3) to H. R. Vogel.`

func ExampleBounds() {
	for start, end := range sentence.Bounds(handbook) {
		fmt.Printf("%d-%d %s\n", start, end, handbook[start:end])
	}
	// Output:
	// 0-7 # Leave
	// 9-33 Annual leave is 28 days.
	// 34-82 Ask your lead, e.g. Dr. Moreau, two weeks ahead.
	// 84-111 Sick leave needs no notice.
	// 112-176 From the fourth day on, send a note (see Fig. 3) to H. R. Vogel.
}

func ExampleSentence() {
	doc, err := spans.NewDocument("handbook/leave.md", handbook, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := sentence.Sentence{MaxSize: 100, Overlap: 1}
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
	// sentence/maxsize=100/overlap=1
	// 0-82 "# Leave\n\nAnnual leave is 28 days. Ask your lead, e.g. Dr. Moreau, two weeks ahead."
	// 34-111 "Ask your lead, e.g. Dr. Moreau, two weeks ahead.\n\nSick leave needs no notice."
	// 84-176 "Sick leave needs no notice. From the fourth day on, send a note (see Fig. 3) to H. R. Vogel."
}

func ExampleParagraph() {
	c := sentence.Paragraph{MaxSize: 90, MinSize: 20}
	texts, err := c.Chunk(context.Background(), handbook)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, text := range texts {
		fmt.Printf("%q\n", text)
	}
	// Output:
	// paragraph/maxsize=90/minsize=20
	// "# Leave\n\nAnnual leave is 28 days. Ask your lead, e.g. Dr. Moreau, two weeks ahead."
	// "Sick leave needs no notice."
	// "From the fourth day on, send a note (see Fig. 3) to H. R. Vogel."
}

func ExampleSemanticDensity() {
	c := sentence.SemanticDensity{Size: 60, MinOverlap: 0, MaxOverlap: 30}
	texts, err := c.Chunk(context.Background(),
		"We talk and we talk, and as we talk we talk of the talk. In 1938 Otto Hahn and Fritz Strassmann split uranium in Berlin. Lise Meitner explained it.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, text := range texts {
		fmt.Printf("%.2f %q\n", sentence.Density(text), text)
	}
	// Output:
	// density/size=60/maxoverlap=30
	// 0.00 "We talk and we talk, and as we talk we talk of the talk. In "
	// 1.00 "1938 Otto Hahn and Fritz Strassmann split uranium in "
	// 0.85 "Strassmann split uranium in Berlin. Lise Meitner explained "
	// 0.85 "Lise Meitner explained it."
}
