package tokens

import (
	"fmt"
	"testing"

	"github.com/rageval/rageval/chunkers"
)

func BenchmarkFixedToken(b *testing.B) {
	for _, t := range []Tokenizer{CL100K, O200K, realBERT(b)} {
		b.Run(fmt.Sprintf("encoding=%v", t), func(b *testing.B) {
			benchmarkOnChroma(b, func() chunkers.PositionAwareChunker {
				return FixedToken{Tokens: 200, Overlap: 100, Encoding: t}
			})
		})
	}
}

// BenchmarkLength cuts with lengths that remember nothing at first, and with
// those that have measured the corpora before.
func BenchmarkLength(b *testing.B) {
	recursive := func(l *lengths) chunkers.PositionAwareChunker {
		return chunkers.RecursiveCharacter{Size: 400, Length: chunkers.Length{Name: "cl100k", Of: l.of}}
	}
	b.Run("memory=none", func(b *testing.B) {
		benchmarkOnChroma(b, func() chunkers.PositionAwareChunker { return recursive(newLengths(CL100K)) })
	})
	b.Run("memory=all", func(b *testing.B) {
		c := recursive(newLengths(CL100K))
		benchmarkOnChroma(b, func() chunkers.PositionAwareChunker { return c })
	})
}

func benchmarkOnChroma(b *testing.B, chunker func() chunkers.PositionAwareChunker) {
	collection := readChroma(b)
	bytes := 0
	for doc := range collection.Corpus.All() {
		bytes += len(doc.Text())
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		c := chunker()
		for doc := range collection.Corpus.All() {
			if _, err := c.ChunkWithPositions(b.Context(), doc); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAppendIDs tokenizes the paragraphs of XQuAD with real tokenizers.
func BenchmarkAppendIDs(b *testing.B) {
	unigram, err := vq64()
	for _, m := range []*ModelTokenizer{&realBERT(b).ModelTokenizer, unigram} {
		for _, language := range []string{"en", "zh", "ar"} {
			b.Run(fmt.Sprintf("tokenizer=%v/language=%s", m, language), func(b *testing.B) {
				if err != nil {
					b.Fatal(err)
				}
				texts := corpusTexts(b, "xquad/xquad."+language+".json")
				bytes, tokens := 0, 0
				var ids []int
				for _, text := range texts {
					bytes += len(text)
				}
				b.SetBytes(int64(bytes))
				b.ReportAllocs()
				for b.Loop() {
					tokens = 0
					for _, text := range texts {
						ids = m.AppendIDs(ids[:0], text)
						tokens += len(ids)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tokens), "ns/token")
			})
		}
	}
}
