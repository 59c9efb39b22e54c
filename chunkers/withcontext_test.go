package chunkers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

func ExampleWithContext() {
	doc, err := spans.NewDocument("handbook/leave.md", leave, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := chunkers.WithContext(chunkers.FixedSize{Size: 30}, 6, 10)
	pieces, err := c.ChunkWithPositions(context.Background(), doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, p := range pieces[:2] {
		fmt.Printf("%q is found by %q\n", leave[p.Start:p.End], p.Text)
	}
	// Output:
	// fixed/size=30/before=6/after=10
	// "Annual leave is 28 days. Ask y" is found by "Annual leave is 28 days. Ask your lead t"
	// "our lead two weeks ahead.\n\nSic" is found by " Ask your lead two weeks ahead.\n\nSick leave ne"
}

// pieceChunker returns its pieces, or its error.
type pieceChunker struct {
	pieces []chunkers.Piece
	err    error
}

func (c pieceChunker) ChunkWithPositions(context.Context, *spans.Document) ([]chunkers.Piece, error) {
	return c.pieces, c.err
}

func TestWithContext(t *testing.T) {
	const text = "aé語😀 b\u0301c" // 1, 2, 3, 4, 1, 1, 2 and 1 bytes
	heading := map[string]string{"heading": "H"}
	pieces := []chunkers.Piece{
		{Text: "aé", Start: 0, End: 3},
		{Text: "語", Start: 3, End: 6, Metadata: heading},
		{Text: "lost", Start: -1, End: -1},
		{Text: "H: 😀", Start: 6, End: 10, Metadata: heading},
		{Text: "b\u0301c", Start: 11, End: 15},
	}
	for _, test := range []struct {
		before, after int
		want          []string
	}{
		{0, 0, []string{"aé", "語", "lost", "H: 😀", "b\u0301c"}},
		{1, 0, []string{"aé", "é語", "lost", "語H: 😀", " b\u0301c"}},
		{0, 2, []string{"aé語😀", "語😀 ", "lost", "H: 😀 b", "b\u0301c"}},
		{2, 1, []string{"aé語", "aé語😀", "lost", "é語H: 😀 ", "😀 b\u0301c"}},
		{1 << 62, 1 << 62, []string{text, text, "lost", "aé語H: 😀 b\u0301c", text}},
	} {
		c := chunkers.WithContext(pieceChunker{pieces: pieces}, test.before, test.after)
		got, err := c.ChunkWithPositions(t.Context(), documentOf(t, "doc", text))
		if err != nil {
			t.Fatal(err)
		}
		want := append([]chunkers.Piece(nil), pieces...)
		for i := range want {
			want[i].Text = test.want[i]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("before %d, after %d (-want +got)\n%s", test.before, test.after, diff)
		}
		texts, err := c.(chunkers.Chunker).Chunk(t.Context(), text)
		if diff := cmp.Diff(test.want, texts); diff != "" || err != nil {
			t.Errorf("Chunk, before %d, after %d: error %v (-want +got)\n%s", test.before, test.after, err, diff)
		}
	}
}

func TestWithContextErrors(t *testing.T) {
	failed := errors.New("out of paper")
	for _, test := range []struct {
		name, want string
		validates  bool
		c          chunkers.PositionAwareChunker
	}{
		{"nil", "chunker given to WithContext is nil: want a PositionAwareChunker", false, chunkers.WithContext(nil, 1, 1)},
		{"before", "chunker WithContext: before is -1: want at least 0", false, chunkers.WithContext(chunkers.FixedSize{Size: 1}, -1, 1)},
		{"after", "chunker WithContext: after is -2: want at least 0", false, chunkers.WithContext(chunkers.FixedSize{Size: 1}, 1, -2)},
		{"chunker", "fixed-size chunker: Size is 0: want at least 1", false, chunkers.WithContext(chunkers.FixedSize{}, 1, 1)},
		{"failure", failed.Error(), true, chunkers.WithContext(pieceChunker{err: failed}, 1, 1)},
		{"bounds", "adding context to piece 0 of chunkers_test.pieceChunker: bytes [1:5]: want 0 <= start <= end <= 4", true,
			chunkers.WithContext(pieceChunker{pieces: []chunkers.Piece{{Text: "x", Start: 1, End: 5}}}, 1, 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.c.(chunkers.Validator).Validate()
			if test.validates && err != nil || !test.validates && (err == nil || err.Error() != test.want) {
				t.Errorf("Validate: got error %v, want %q", err, test.want)
			}
			if _, err := test.c.ChunkWithPositions(t.Context(), documentOf(t, "doc", "text")); err == nil || err.Error() != test.want {
				t.Errorf("ChunkWithPositions: got error %v, want %q", err, test.want)
			}
			if _, err := test.c.(chunkers.Chunker).Chunk(t.Context(), "text"); err == nil || err.Error() != test.want {
				t.Errorf("Chunk: got error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := chunkers.WithContext(chunkers.FixedSize{Size: 1}, 1, 1).(chunkers.Chunker).Chunk(t.Context(), "a\xff"); err == nil || !strings.Contains(err.Error(), "invalid UTF-8 at byte 1") {
		t.Errorf("Chunk of bytes that are not UTF-8: got error %v", err)
	}
}

func TestWithContextConforms(t *testing.T) {
	for want, c := range map[string]chunkers.PositionAwareChunker{
		"fixed/size=50/overlap=10":                           chunkers.WithContext(chunkers.FixedSize{Size: 50, Overlap: 10}, 0, 0),
		"recursive/size=100/before=20/after=30":              chunkers.WithContext(chunkers.RecursiveCharacter{Size: 100}, 20, 30),
		"recursive/size=100/before=20/after=30/before=5":     chunkers.WithContext(chunkers.WithContext(chunkers.RecursiveCharacter{Size: 100}, 20, 30), 5, 0),
		"chunkers.Func/positions=aligned/before=20/after=30": chunkers.WithContext(chunkers.WithPositions(chunkers.Func(chunkers.FixedSize{Size: 200}.Chunk)), 20, 30),
	} {
		if got := c.(fmt.Stringer).String(); got != want {
			t.Errorf("got the name %s, want %s", got, want)
		}
		if err := chunkers.Check(t.Context(), c, documentOf(t, "leave.md", leave)); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if got, want := chunkers.IsAdapted(c), strings.Contains(want, "aligned"); got != want {
			t.Errorf("%v: IsAdapted is %v, want %v", c, got, want)
		}
	}
}

// A piece is found by words around it, and counts for its own place alone.
func TestWithContextRetrieves(t *testing.T) {
	const text = "The printer on floor two: press green. The scanner on floor six: press amber."
	corpus, err := spans.NewCorpus(documentOf(t, "office.md", text))
	if err != nil {
		t.Fatal(err)
	}
	answer := chunkers.Piece{Start: strings.Index(text, "press amber"), End: len(text)}
	var pieces []chunkers.Piece
	for _, cut := range [][2]int{{0, 26}, {26, 39}, {39, answer.Start}, {answer.Start, answer.End}} {
		pieces = append(pieces, chunkers.Piece{Text: text[cut[0]:cut[1]], Start: cut[0], End: cut[1]})
	}
	for _, test := range []struct {
		before int
		recall float64
	}{{0, 0}, {26, 1}} {
		result, err := ragtest.TokenLevel{
			Corpus:   corpus,
			Queries:  []ragtest.TokenQuery{{Query: ragtest.Query{Text: "what to press on the scanner"}, Relevant: []spans.Span{{Doc: "office.md", Start: answer.Start, End: answer.End}}}},
			Chunker:  chunkers.WithContext(pieceChunker{pieces: pieces}, test.before, 0),
			Embedder: lexical.Embedder{},
			K:        1,
		}.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if recall, _ := result.Score("span_recall"); recall != test.recall {
			t.Errorf("before %d: got span_recall %v, want %v", test.before, recall, test.recall)
		}
		if precision, _ := result.Score("span_precision"); precision != test.recall {
			t.Errorf("before %d: got span_precision %v, want %v", test.before, precision, test.recall)
		}
	}
}

func FuzzWithContext(f *testing.F) {
	f.Add("aé語😀 b\u0301c", 2, 1, 1, 3)
	f.Add("plain text, all of it ASCII", 5, 2, 0, 7)
	f.Add("", 1, 0, 1, 1)
	f.Fuzz(func(t *testing.T, text string, size, overlap, before, after int) {
		doc, err := spans.NewDocument("doc", text, nil)
		inner := chunkers.FixedSize{Size: size, Overlap: overlap}
		c := chunkers.WithContext(inner, before, after)
		if err != nil || c.(chunkers.Validator).Validate() != nil {
			return
		}
		pieces, err := c.ChunkWithPositions(t.Context(), doc)
		if err != nil {
			t.Fatal(err)
		}
		want, err := inner.ChunkWithPositions(t.Context(), doc)
		if err != nil || len(pieces) != len(want) {
			t.Fatalf("got %d pieces, want %d (error %v)", len(pieces), len(want), err)
		}
		for i, p := range want {
			runesBefore, runesAfter := []rune(text[:p.Start]), []rune(text[p.End:])
			p.Text = string(runesBefore[len(runesBefore)-min(before, len(runesBefore)):]) + p.Text + string(runesAfter[:min(after, len(runesAfter))])
			if diff := cmp.Diff(p, pieces[i]); diff != "" {
				t.Fatalf("piece %d (-want +got)\n%s", i, diff)
			}
		}
	})
}

func BenchmarkWithContext(b *testing.B) {
	for _, input := range []struct{ name, text string }{
		{"ascii", strings.Repeat("Annual leave is 28 days. Ask your lead two weeks ahead.\n", 10_000)},
		{"unicode", strings.Repeat("Zażółć gęślą jaźń. Zażółć gęślą jaźń, zażółć gęślą jaźń.\n", 10_000)},
	} {
		b.Run("text="+input.name, func(b *testing.B) {
			doc := documentOf(b, "doc", input.text)
			c := chunkers.WithContext(chunkers.FixedSize{Size: 400}, 200, 200)
			b.SetBytes(int64(len(input.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.ChunkWithPositions(b.Context(), doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
