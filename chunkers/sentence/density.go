package sentence

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// SemanticDensity makes chunks of Size characters, as [chunkers.FixedSize] does,
// that share more text with the next one the denser they are: where much is
// said in few words, a fact is easily cut in two, and more is repeated.
//
//  1. A chunk ends Size characters after its start, or at the start of the last
//     word that begins in the quarter before that, if there is one. The quarter
//     is no longer than Size-MaxOverlap-1 characters.
//  2. The next chunk begins MinOverlap + (MaxOverlap-MinOverlap) × D characters
//     before that end, rounded to the nearest character, halves up, where D is
//     the density of the chunk; or at the start of the nearest word, the
//     earlier of two, for which the overlap is still within MinOverlap and
//     MaxOverlap.
//  3. The last chunk ends where the text does. White space is text like other
//     text: every character is in a chunk. Starts and ends increase from chunk
//     to chunk.
//
// The density of a text of N words, V of them different in their small letters,
// H of those occurring once, and E of the N part of names, is
//
//	D = 0.4 T + 0.3 R + 0.3 S
//	T = V/N, scaled from [0.55, 0.9] to [0, 1]   type–token ratio
//	R = H/V, scaled from [0.6, 0.9] to [0, 1]    vocabulary richness
//	S = E/N, scaled from [0, 0.5] to [0, 1]      named entities
//
// with T, R and S clipped to [0, 1], and 0 for a text without words. [Density]
// returns it. It is computed in integers, each step rounded down to the
// millionth, so that chunks are the same on every machine.
//
// T is the measure of Johnson, "Studies in language behavior: a program of
// research" (Psychological Monographs 56, 1944). R is the share of hapax
// legomena in the vocabulary (Baayen, Word Frequency Distributions, 2001). Both
// sink as a text grows, so they compare chunks of one size only. The scales hold
// about the middle nine tenths of chunks of 400 characters of the corpora of
// Chroma's chunking evaluation, where the mean density is 0.5; weights and scales
// are our choice.
//
// A word is a run of letters, digits, combining marks and, before a letter,
// apostrophes; in Han, Kana, Thai, Lao, Khmer and Myanmar text each letter is
// one. Runs of more than 64 characters are several words. Words are told apart
// by 64-bit hashes, and count for the chunks that they lie wholly in.
//
// A word is part of a name if it holds a digit; if it is an acronym, two or more
// letters, all capital; or if it begins with a capital, has more than one letter
// and is not the first word of a sentence (of [Bounds] of the whole text, so that
// a chunk which begins within a sentence may have another density than its text
// alone). This knows nothing of meaning: all nouns of German text count, while
// names that start a sentence do not, nor those in scripts without capitals.
//
// It takes time linear in the text, but for the search for the nearest word,
// which takes up to MaxOverlap-MinOverlap characters a chunk; memory for the
// words of one chunk and the text's vocabulary, and besides the result two ints
// for each chunk. Pieces share the text's memory. It is safe for concurrent use.
//
// Note: the Go libraries for named entities that were tried took half a second a
// document and found names poorly; the rule above is exact in what it promises.
type SemanticDensity struct {
	Size       int // most characters of a chunk; at least 1
	MinOverlap int // characters that chunks of density 0 share with the next; at most MaxOverlap
	MaxOverlap int // characters that chunks of density 1 share with the next; less than Size
}

// Validate returns an error unless 0 <= MinOverlap <= MaxOverlap < Size.
func (c SemanticDensity) Validate() error {
	const name = "semantic density chunker"
	if c.Size < 1 {
		return fmt.Errorf("%s: Size is %d: want at least 1", name, c.Size)
	}
	if c.MaxOverlap < 0 || c.MaxOverlap >= c.Size {
		return fmt.Errorf("%s: MaxOverlap is %d: want at least 0 and less than Size, which is %d", name, c.MaxOverlap, c.Size)
	}
	if c.MinOverlap < 0 || c.MinOverlap > c.MaxOverlap {
		return fmt.Errorf("%s: MinOverlap is %d: want at least 0 and at most MaxOverlap, which is %d", name, c.MinOverlap, c.MaxOverlap)
	}
	return nil
}

// String returns a name such as density/size=400/minoverlap=20/maxoverlap=120.
func (c SemanticDensity) String() string {
	return nameOf("density", field{"Size", c.Size}, field{"MinOverlap", c.MinOverlap}, field{"MaxOverlap", c.MaxOverlap})
}

// Chunk returns the texts of the chunks. Errors are those of
// [SemanticDensity.Validate] and the cause of ctx being done.
func (c SemanticDensity) Chunk(ctx context.Context, text string) ([]string, error) {
	chunks, err := c.cut(ctx, text, utf8.RuneCountInString(text))
	return textsOf(text, chunks), err
}

// ChunkWithPositions returns the chunks with their positions. Errors are as for
// [SemanticDensity.Chunk].
func (c SemanticDensity) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	chunks, err := c.cut(ctx, doc.Text(), doc.Len())
	return piecesOf(doc.Text(), chunks), err
}

// cut cuts a text of n characters.
func (c SemanticDensity) cut(ctx context.Context, text string, n int) (chunks []byteRange, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if n == 0 {
		return nil, nil
	}
	if n <= c.Size {
		return []byteRange{{0, len(text)}}, nil
	}
	w := newWindow(text)
	defer w.scanner.stop()
	slack := min(c.Size/4, c.Size-c.MaxOverlap-1)
	var start, end place
	for n-start.char > c.Size {
		if len(chunks)%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		limit := start.char + c.Size
		w.readTo(limit)
		end = w.lastStart(max(limit-slack, end.char+1), limit)
		w.moveTo(start.char, end.char)
		chunks = append(chunks, byteRange{start.byte, end.byte})
		target := end.char - c.overlap(w.density())
		start = w.nearestStart(end.char-c.MaxOverlap, target, end.char-c.MinOverlap)
	}
	return append(chunks, byteRange{start.byte, len(text)}), nil
}

// overlap returns the overlap for a density in millionths.
func (c SemanticDensity) overlap(density int) int {
	return c.MinOverlap + int((int64(c.MaxOverlap-c.MinOverlap)*int64(density)+million/2)/million)
}

const million = 1_000_000 // products with it are made in 64 bits on every machine

// Density returns the lexical density of text, from 0 to 1, as
// [SemanticDensity] defines it: a multiple of one millionth.
func Density(text string) float64 {
	w := newWindow(text)
	defer w.scanner.stop()
	n := utf8.RuneCountInString(text)
	w.readTo(n)
	w.moveTo(0, n)
	return float64(w.density()) / million
}

// counts is what is counted in the words of a text.
type counts struct{ words, types, hapaxes, entities int }

// density returns the density in millionths.
func (c counts) density() int {
	if c.words == 0 {
		return 0
	}
	types := scaled(c.types, c.words, 550_000, 900_000)
	richness := scaled(c.hapaxes, c.types, 600_000, 900_000)
	entities := scaled(c.entities, c.words, 0, 500_000)
	return (4*types + 3*richness + 3*entities) / 10
}

// scaled returns a/b, scaled from [low, high] in millionths to [0, million] and
// clipped.
func scaled(a, b int, low, high int64) int {
	ratio := int64(a) * million / int64(b)
	return int(min(max(ratio-low, 0), high-low) * million / (high - low))
}
