package sentence

import (
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// settings are those of the property tests.
var settings = []chunker{
	Sentence{},
	Sentence{MaxSize: 1},
	Sentence{MaxSize: 50},
	Sentence{MaxSize: 400, Overlap: 1},
	Sentence{MaxSize: 400, Overlap: 5},
	Sentence{MaxSize: 100_000, Overlap: 100_000},
	Paragraph{},
	Paragraph{MinSize: 300},
	Paragraph{MaxSize: 1},
	Paragraph{MaxSize: 400},
	Paragraph{MaxSize: 800, MinSize: 200},
	Paragraph{MaxSize: 500, MinSize: 500},
	SemanticDensity{Size: 3},
	SemanticDensity{Size: 400},
	SemanticDensity{Size: 400, MinOverlap: 100, MaxOverlap: 100},
	SemanticDensity{Size: 400, MinOverlap: 20, MaxOverlap: 200},
	SemanticDensity{Size: 100, MinOverlap: 0, MaxOverlap: 99},
	SemanticDensity{Size: 2000, MinOverlap: 100, MaxOverlap: 500},
}

// checkPieces checks the properties that the chunkers document.
func checkPieces(t *testing.T, c chunker, text string, pieces []chunkers.Piece) {
	t.Helper()
	covered := 0
	for i, p := range pieces {
		if p.Text != text[p.Start:p.End] {
			t.Fatalf("%v: piece %d is %.40q, want %.40q", c, i, p.Text, text[p.Start:p.End])
		}
		if i > 0 && (p.Start <= pieces[i-1].Start || p.End <= pieces[i-1].End) {
			t.Fatalf("%v: piece %d is at [%d:%d], the one before it at [%d:%d]", c, i, p.Start, p.End, pieces[i-1].Start, pieces[i-1].End)
		}
		if p.Start > covered && !blank(text[covered:p.Start]) {
			t.Fatalf("%v: nothing covers %.40q before piece %d", c, text[covered:p.Start], i)
		}
		covered = p.End
	}
	if !blank(text[covered:]) {
		t.Fatalf("%v: nothing covers %.40q at the end", c, text[covered:])
	}
	switch c := c.(type) {
	case Sentence:
		checkTrimmed(t, c, pieces, c.MaxSize)
		checkSentenceOverlap(t, c, text, pieces)
	case Paragraph:
		checkTrimmed(t, c, pieces, c.MaxSize)
		for i := 1; i < len(pieces); i++ {
			if pieces[i].Start < pieces[i-1].End {
				t.Fatalf("%v: pieces %d and %d overlap", c, i-1, i)
			}
		}
	case SemanticDensity:
		checkDensityPieces(t, c, text, pieces)
	}
}

func checkTrimmed(t *testing.T, c chunker, pieces []chunkers.Piece, size int) {
	t.Helper()
	for i, p := range pieces {
		if strings.TrimFunc(p.Text, isSpace) != p.Text || p.Text == "" {
			t.Fatalf("%v: piece %d is %.40q: it has white space at its ends", c, i, p.Text)
		}
		if size > 0 && len(p.Text) > size && chars(p.Text) > size {
			t.Fatalf("%v: piece %d has %d characters", c, i, chars(p.Text))
		}
	}
}

// checkSentenceOverlap checks that pieces begin and end with sentences, share
// as many of them as fit, and take as many as fit.
func checkSentenceOverlap(t *testing.T, c Sentence, text string, pieces []chunkers.Piece) {
	t.Helper()
	var bounds []byteRange
	for start, end := range Bounds(text) {
		bounds = append(bounds, byteRange{start, end})
	}
	at := func(b byteRange, start int) int { return b.start - start }
	i := 0 // pieces
	for s := 0; s < len(bounds); {
		if c.MaxSize > 0 && chars(text[bounds[s].start:bounds[s].end]) > c.MaxSize {
			for ; i < len(pieces) && pieces[i].Start >= bounds[s].start && pieces[i].End <= bounds[s].end; i++ {
			}
			s++
			continue
		}
		if i >= len(pieces) {
			t.Fatalf("%v: no piece for sentence %d", c, s)
		}
		first, ok := slices.BinarySearchFunc(bounds, pieces[i].Start, at)
		if !ok || first > s {
			t.Fatalf("%v: piece %d does not begin with a sentence up to number %d", c, i, s)
		}
		last := s
		for last+1 < len(bounds) && bounds[last].end < pieces[i].End {
			last++
		}
		if bounds[last].end != pieces[i].End {
			t.Fatalf("%v: piece %d does not end with a sentence", c, i)
		}
		if s-first > c.Overlap {
			t.Fatalf("%v: piece %d shares %d sentences with the one before", c, i, s-first)
		}
		length := func(a, b int) int { return chars(text[bounds[a].start:bounds[b].end]) }
		if c.MaxSize > 0 && last+1 < len(bounds) && length(first, last+1) <= c.MaxSize {
			t.Fatalf("%v: piece %d could take sentence %d", c, i, last+1)
		}
		if s-first < c.Overlap && first > 0 && i > 0 && pieces[i-1].Start < bounds[first-1].end && length(first-1, s) <= c.MaxSize {
			if _, whole := slices.BinarySearchFunc(bounds, pieces[i-1].Start, at); whole && pieces[i-1].Start <= bounds[first-1].start {
				t.Fatalf("%v: piece %d could share sentence %d too", c, i, first-1)
			}
		}
		s = last + 1
		i++
	}
	if i != len(pieces) {
		t.Fatalf("%v: %d pieces, want %d", c, len(pieces), i)
	}
}

func checkDensityPieces(t *testing.T, c SemanticDensity, text string, pieces []chunkers.Piece) {
	t.Helper()
	for i, p := range pieces {
		if len(p.Text) > c.Size && chars(p.Text) > c.Size {
			t.Fatalf("%v: piece %d has %d characters", c, i, chars(p.Text))
		}
		if i == 0 {
			continue
		}
		prev := pieces[i-1]
		if p.Start > prev.End {
			t.Fatalf("%v: nothing covers %q before piece %d", c, text[prev.End:p.Start], i)
		}
		if n := chars(text[p.Start:prev.End]); n < c.MinOverlap || n > c.MaxOverlap {
			t.Fatalf("%v: pieces %d and %d share %d characters", c, i-1, i, n)
		}
	}
	if len(pieces) > 0 && (pieces[0].Start > 0 || pieces[len(pieces)-1].End < len(text)) {
		t.Fatalf("%v: the pieces do not reach from start to end", c)
	}
}

func realDocuments(t *testing.T) []*spans.Document {
	docs := chromaCorpora(t)
	for _, language := range []string{"en", "zh", "ar"} {
		docs = append(docs, xquadParagraphs(t, language)...)
	}
	return docs
}

func TestPropertiesOnRealText(t *testing.T) {
	docs := realDocuments(t)
	for _, c := range settings {
		for _, doc := range docs {
			checkPieces(t, c, doc.Text(), cut(t, c, doc.Text()))
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []chunker{
		Sentence{},
		Sentence{MaxSize: 40, Overlap: 2},
		Sentence{MaxSize: 100_000, Overlap: 1000},
		Paragraph{},
		Paragraph{MaxSize: 400, MinSize: 100},
		SemanticDensity{Size: 50, MaxOverlap: 49},
		SemanticDensity{Size: 2000, MinOverlap: 100, MaxOverlap: 500},
	} {
		if err := chunkers.Check(t.Context(), c, document(t, "doc", "One. Two.\n\nThree e.g. Four.")); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestCheckOnRealText(t *testing.T) {
	docs := realDocuments(t)
	for _, c := range []chunker{Sentence{MaxSize: 400, Overlap: 1}, Paragraph{MaxSize: 800, MinSize: 200}, SemanticDensity{Size: 400, MinOverlap: 20, MaxOverlap: 120}} {
		if err := chunkers.Check(t.Context(), c, docs...); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}
