package peers

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/tiktoken-go/tokenizer"
	"github.com/tmc/langchaingo/textsplitter"

	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/spans"
)

func init() { tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader()) } // or it downloads the vocabularies

func langchaingoWindows(tb testing.TB, doc *spans.Document, size, overlap int) []string {
	texts, err := textsplitter.NewTokenSplitter(
		textsplitter.WithEncodingName("cl100k_base"),
		textsplitter.WithChunkSize(size),
		textsplitter.WithChunkOverlap(overlap),
	).SplitText(doc.Text())
	if err != nil {
		tb.Fatal(err)
	}
	return texts
}

func ragevalWindows(tb testing.TB, doc *spans.Document, size, overlap int) []string {
	pieces, err := tokens.FixedToken{Tokens: size, Overlap: overlap}.ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatal(err)
	}
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Text
	}
	return texts
}

// langchaingo's windows begin and end within characters where ours do not, and
// go on until one begins at the end of the text, where ours end with the first
// that ends there.
func TestFixedTokenDoesTheSameWork(t *testing.T) {
	docs, _ := chromaCorpora(t)
	for _, s := range settings {
		compared := 0
		for _, doc := range docs {
			got, want := ragevalWindows(t, doc, s.size, s.overlap), langchaingoWindows(t, doc, s.size, s.overlap)
			if len(want) < len(got) || len(want) > len(got)+1 || s.overlap == 0 && len(want) != len(got) {
				t.Fatalf("%s, size %d, overlap %d: got %d windows, langchaingo has %d", doc.ID(), s.size, s.overlap, len(got), len(want))
			}
			for i := range got {
				if utf8.ValidString(want[i]) {
					compared++
					if got[i] != want[i] {
						t.Errorf("%s, size %d, overlap %d: window %d is %q, langchaingo's is %q", doc.ID(), s.size, s.overlap, i, got[i], want[i])
					}
				}
			}
		}
		if compared < 700 {
			t.Errorf("size %d, overlap %d: %d windows compared, want at least 700", s.size, s.overlap, compared)
		}
	}
}

// BenchmarkFixedToken compares windows of tokens with langchaingo's, and with
// what the library that embeds the vocabulary takes to encode the same text.
func BenchmarkFixedToken(b *testing.B) {
	docs, size := chromaCorpora(b)
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		b.Fatal(err)
	}
	plainLength("") // loads the encoding
	for _, s := range settings {
		for _, impl := range []struct {
			name   string
			before func()
			run    func(doc *spans.Document) error
		}{
			{"rageval-warm", nil, func(doc *spans.Document) error {
				_, err := tokens.FixedToken{Tokens: s.size, Overlap: s.overlap}.ChunkWithPositions(b.Context(), doc)
				return err
			}},
			{"rageval-cold", forget, func(doc *spans.Document) error {
				_, err := tokens.FixedToken{Tokens: s.size, Overlap: s.overlap}.ChunkWithPositions(b.Context(), doc)
				return err
			}},
			{"langchaingo", nil, func(doc *spans.Document) error {
				langchaingoWindows(b, doc, s.size, s.overlap)
				return nil
			}},
			{"tiktoken-go-encode", nil, func(doc *spans.Document) error {
				_, _, err := codec.Encode(doc.Text())
				return err
			}},
		} {
			b.Run(fmt.Sprintf("impl=%s/size=%d/overlap=%d", impl.name, s.size, s.overlap), func(b *testing.B) {
				b.ReportAllocs()
				measure(b, size, impl.before, func() {
					for _, doc := range docs {
						if err := impl.run(doc); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}
