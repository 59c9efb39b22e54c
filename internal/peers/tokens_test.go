package peers

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"github.com/tmc/langchaingo/textsplitter"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/spans"
)

// plainLength measures as tokens.Length does, and remembers no text.
var plainLength = tokens.CL100K.Count

func langchaingoTokens(tb testing.TB, doc *spans.Document, size, overlap int, length func(string) int) []string {
	texts, err := textsplitter.NewRecursiveCharacter(
		textsplitter.WithChunkSize(size),
		textsplitter.WithChunkOverlap(overlap),
		textsplitter.WithSeparators(separators),
		textsplitter.WithKeepSeparator(true),
		textsplitter.WithLenFunc(length),
	).SplitText(doc.Text())
	if err != nil {
		tb.Fatal(err)
	}
	return texts
}

func ragevalTokens(tb testing.TB, doc *spans.Document, size, overlap int, length chunkers.Length) []chunkers.Piece {
	c := chunkers.RecursiveCharacter{Size: size, Overlap: overlap, Separators: separators, Length: length, Trim: true}
	pieces, err := c.ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatal(err)
	}
	return pieces
}

// Three line ends in a row are cut twice by us and once by langchaingo, so the
// test has no more than two.
func TestTokenLengthsDoTheSameWork(t *testing.T) {
	docs, _ := chromaCorpora(t)
	for _, s := range settings {
		for _, doc := range docs {
			doc, err := spans.NewDocument(doc.ID(), lineEnds.ReplaceAllString(doc.Text(), "\n\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range ragevalTokens(t, doc, s.size, s.overlap, tokens.Length(tokens.CL100K)) {
				got = append(got, p.Text)
			}
			if want := langchaingoTokens(t, doc, s.size, s.overlap, plainLength); !slices.Equal(got, want) {
				t.Errorf("%s, size %d, overlap %d: our %d chunks are not langchaingo's %d", doc.ID(), s.size, s.overlap, len(got), len(want))
			}
		}
	}
}

var lineEnds = regexp.MustCompile(`\n{3,}`)

// BenchmarkTokenLengths compares RecursiveCharacter in cl100k tokens with
// langchaingo's, which counts with our tokenizer or with tiktoken-go/tokenizer.
// First forgets before each run what the length remembers, so that nothing is
// known but what recurs in the corpora.
func BenchmarkTokenLengths(b *testing.B) {
	docs, size := chromaCorpora(b)
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		b.Fatal(err)
	}
	impls := []struct {
		name string
		cut  func(b *testing.B, doc *spans.Document, size, overlap int, length chunkers.Length) int
	}{
		{"rageval", func(b *testing.B, doc *spans.Document, size, overlap int, _ chunkers.Length) int {
			return len(ragevalTokens(b, doc, size, overlap, tokens.Length(tokens.CL100K)))
		}},
		{"rageval-first", func(b *testing.B, doc *spans.Document, size, overlap int, first chunkers.Length) int {
			return len(ragevalTokens(b, doc, size, overlap, first))
		}},
		{"langchaingo", func(b *testing.B, doc *spans.Document, size, overlap int, _ chunkers.Length) int {
			return len(langchaingoTokens(b, doc, size, overlap, plainLength))
		}},
		{"langchaingo-tiktoken-go", func(b *testing.B, doc *spans.Document, size, overlap int, _ chunkers.Length) int {
			return len(langchaingoTokens(b, doc, size, overlap, func(text string) int {
				n, err := codec.Count(text)
				if err != nil {
					b.Fatal(err)
				}
				return n
			}))
		}},
	}
	plainLength("") // loads the encoding
	for _, impl := range impls {
		for _, s := range settings {
			b.Run(fmt.Sprintf("impl=%s/size=%d/overlap=%d", impl.name, s.size, s.overlap), func(b *testing.B) {
				b.ReportAllocs()
				measure(b, size, nil, func() {
					first := tokens.Length(unnamed{tokens.CL100K})
					for _, doc := range docs {
						impl.cut(b, doc, s.size, s.overlap, first)
					}
				})
			})
		}
	}
}

// unnamed is an encoding that is not of type Encoding, the lengths of which share
// what they remember.
type unnamed struct{ tokens.Encoding }
