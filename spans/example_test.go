package spans_test

import (
	"fmt"
	"strings"

	"github.com/rageval/rageval/spans"
)

func ExampleDocument() {
	d, err := spans.NewDocument("menu.md", "Crème brûlée costs 7 €.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	start := strings.Index(d.Text(), "7 €") // bytes
	s, err := d.CharSpan(start, start+len("7 €"))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := d.Slice(s)
	fmt.Println(start, s, text, err)
	// Output: 22 menu.md[19:22] 7 € <nil>
}

func ExampleNewDocument_invalid() {
	_, err := spans.NewDocument("menu.md", "Cr\xe8me", nil)
	fmt.Println(err)
	// Output: document menu.md: invalid UTF-8 at byte 2
}

func ExampleCorpus() {
	leave, _ := spans.NewDocument("leave.md", "Every employee has 28 days of leave.", nil)
	travel, _ := spans.NewDocument("travel.md", "Trains are booked in second class.", nil)
	corpus, err := spans.NewCorpus(leave, travel)
	if err != nil {
		fmt.Println(err)
		return
	}
	for d := range corpus.All() {
		fmt.Println(d.ID(), d.Len())
	}
	fmt.Println(corpus.Fingerprint()[:12])
	// Output:
	// leave.md 36
	// travel.md 34
	// 9c9981ab96d8
}

func ExampleNew() {
	s, err := spans.New("leave.md", 19, 26)
	fmt.Println(s, s.Len(), err)
	_, err = spans.New("leave.md", 26, 19)
	fmt.Println(err)
	// Output:
	// leave.md[19:26] 7 <nil>
	// span leave.md[26:19]: want 0 <= start <= end
}

func ExampleUnion() {
	fmt.Println(spans.Union(
		spans.Span{Doc: "a.md", Start: 30, End: 80},
		spans.Span{Doc: "a.md", Start: 0, End: 50},
		spans.Span{Doc: "b.md", Start: 50, End: 60},
		spans.Span{Doc: "b.md", Start: 60, End: 70},
	))
	// Output: {a.md[0:80] b.md[50:70]}
}

func ExampleSet_Subtract() {
	relevant := spans.Union(spans.Span{Doc: "a.md", Start: 0, End: 100})
	retrieved := spans.Union(spans.Span{Doc: "a.md", Start: 20, End: 60})
	fmt.Println("found", relevant.Intersect(retrieved))
	fmt.Println("missed", relevant.Subtract(retrieved))
	// Output:
	// found {a.md[20:60]}
	// missed {a.md[0:20] a.md[60:100]}
}

func ExampleRecall() {
	relevant := spans.Union(spans.Span{Doc: "a.md", Start: 0, End: 100})
	retrieved := spans.Union(spans.Span{Doc: "a.md", Start: 50, End: 150})
	fmt.Println(spans.OverlapLen(retrieved, relevant))
	fmt.Printf("%.3f\n", spans.Recall(retrieved, relevant))
	fmt.Printf("%.3f\n", spans.Precision(retrieved, relevant))
	fmt.Printf("%.3f\n", spans.IoU(retrieved, relevant))
	// Output:
	// 50
	// 0.500
	// 0.500
	// 0.333
}
