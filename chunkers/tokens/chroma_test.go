package tokens

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// The separators and the trimming of the recursive chunking of Chroma's
// technical report (Smith & Troynikov 2024).
func chromaRecursive(size, overlap int, length chunkers.Length) chunkers.PositionAwareChunker {
	return chunkers.RecursiveCharacter{
		Size:       size,
		Overlap:    overlap,
		Separators: []string{"\n\n", "\n", ".", "?", "!", " ", ""},
		Length:     length,
		Trim:       true,
	}
}

// Precision Ω of the report's chunkings, in percent, mean ± population standard
// deviation over the questions. Chunks are placed as in Chroma's code: see
// chromaPlaces and ragtest.PrecisionOmegaEdges. The figures with three digits were
// computed with that code from the same data; published has the report's own.
//
// Where thrice is set, the corpora have "\n\n\n" at a place that matters. It is
// cut twice here, as in LangChain for JavaScript, and once in Chroma's splitter,
// which is LangChain for Python's: one more chunk, and figures that differ in
// the third digit after the point. If cut once, all digits are those recorded.
func TestChromaReport(t *testing.T) {
	collection := readChroma(t)
	cl100k := Length(CL100K)
	wordpiece := Length(realBERT(t))
	// all-MiniLM-L6-v2 puts [CLS] and [SEP] around every text, the empty one too.
	marked := chunkers.Length{Name: "bert-marked", Of: func(s string) int { return wordpiece.Of(s) + 2 }}

	tests := []struct {
		chunker   chunkers.PositionAwareChunker
		chunks    int // 0: not known
		mean, std string
		published string // mean, or mean ± deviation, as printed
		reason    string // why the published figure is another; "" if it is not
		thrice    bool
	}{
		{chromaRecursive(800, 400, cl100k), 704, "6.682", "5.222", "6.7", "", false},
		{chromaRecursive(400, 200, cl100k), 1412, "13.943", "10.423", "13.9", "", true},
		{chromaRecursive(400, 0, cl100k), 1187, "17.743", "14.045", "17.7", "", false},
		{chromaRecursive(200, 0, cl100k), 2386, "29.942", "18.421", "29.9", "", true},
		{FixedToken{Tokens: 800, Overlap: 400}, 819, "4.659", "3.068", "4.7", "", false},
		{FixedToken{Tokens: 400, Overlap: 200}, 1639, "8.445", "5.082", "8.4", "", false},
		{FixedToken{Tokens: 400}, 824, "12.502", "8.144", "12.5", "", false},
		{FixedToken{Tokens: 200}, 1644, "20.980", "11.873", "21.0", "", false},

		{chromaRecursive(250, 125, marked), 0, "21.863", "14.871", "21.9 ± 14.9", "", false},
		{chromaRecursive(250, 0, marked), 0, "26.734", "18.322", "26.7 ± 18.3", "", true},
		{chromaRecursive(200, 0, marked), 0, "31.159", "18.396", "31.2 ± 18.4", "", false},

		{FixedToken{Tokens: 250, Overlap: 125}, 0, "12.39", "", "11.4 ± 6.6", "its windows are larger than labelled: see 278/139", false},
		{FixedToken{Tokens: 250}, 0, "18.06", "", "16.4 ± 10.3", "its windows are larger than labelled: see 278/0", false},
		{FixedToken{Tokens: 200}, 1644, "20.98", "", "19.1 ± 11.0", "its windows are larger than labelled: see 222/0", false},
		// Windows of size/0.9: inferred from the figures, not documented.
		{FixedToken{Tokens: 278, Overlap: 139}, 0, "11.4", "6.6", "11.4 ± 6.6", "", false},
		{FixedToken{Tokens: 278}, 0, "16.4", "10.3", "16.4 ± 10.3", "", false},
		{FixedToken{Tokens: 222}, 0, "19.1", "11.0", "19.1 ± 11.0", "", false},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.chunker), func(t *testing.T) {
			var chromas, trues []spans.Span
			for doc := range collection.Corpus.All() {
				pieces, err := test.chunker.ChunkWithPositions(t.Context(), doc)
				if err != nil {
					t.Fatal(err)
				}
				trues = append(trues, truePlaces(t, doc, pieces)...)
				chromas = append(chromas, chromaPlaces(doc, pieces)...)
			}
			mean, std := meanAndDeviation(collection.Queries, func(q ragtest.TokenQuery) float64 {
				return 100 * ragtest.PrecisionOmegaEdges(chromas, q.Relevant)
			})
			ours, oursStd := meanAndDeviation(collection.Queries, func(q ragtest.TokenQuery) float64 {
				return 100 * ragtest.PrecisionOmega(trues, q.Relevant)
			})
			t.Logf("%d chunks; as Chroma computes it %.3f ± %.3f, published %s; with true places and without touching edges %.3f ± %.3f, %+.3f",
				len(trues), mean, std, test.published, ours, oursStd, ours-mean)
			more := 0 // chunks that we may have
			if test.thrice {
				more = 1
				checkNear(t, "mean", mean, test.mean)
				checkNear(t, "standard deviation", std, test.std)
			} else {
				checkDigits(t, "mean", mean, test.mean)
				checkDigits(t, "standard deviation", std, test.std)
			}
			if test.chunks > 0 && (len(trues) < test.chunks || len(trues) > test.chunks+more) {
				t.Errorf("got %d chunks, want %d and at most %d more", len(trues), test.chunks, more)
			}
			publishedMean, publishedStd, _ := strings.Cut(test.published, " ± ")
			if test.reason != "" {
				if digits(mean, publishedMean) == publishedMean {
					t.Errorf("the published %s is reproduced after all: the reason given why not was %q", test.published, test.reason)
				}
				t.Logf("published %s, not %.3f: %s", test.published, mean, test.reason)
				return
			}
			checkDigits(t, "published mean", mean, publishedMean)
			checkDigits(t, "published standard deviation", std, publishedStd)
		})
	}
}

func readChroma(tb testing.TB) *fixtures.TokenCollection {
	tb.Helper()
	collection, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(tb, "data", "chroma")))
	if err != nil {
		tb.Fatal(err)
	}
	return collection
}

// digits returns x with as many digits after the point as want has.
func digits(x float64, want string) string {
	_, fraction, _ := strings.Cut(want, ".")
	return fmt.Sprintf("%.*f", len(fraction), x)
}

// checkDigits checks that got, rounded to the digits of want, is want, unless
// that is empty: not known.
func checkDigits(t *testing.T, what string, got float64, want string) {
	t.Helper()
	if want != "" && digits(got, want) != want {
		t.Errorf("%s: got %.4f, want %s", what, got, want)
	}
}

func checkNear(t *testing.T, what string, got float64, want string) {
	t.Helper()
	x, err := strconv.ParseFloat(want, 64)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got-x) > 0.005 {
		t.Errorf("%s: got %.4f, want %s ± 0.005", what, got, want)
	}
}

func truePlaces(t *testing.T, doc *spans.Document, pieces []chunkers.Piece) (places []spans.Span) {
	t.Helper()
	for _, p := range pieces {
		span, err := doc.CharSpan(p.Start, p.End)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, span)
	}
	return places
}

// chromaPlaces returns where Chroma's code believes the pieces to be: each
// where its text, but for a full stop at its end, occurs first.
func chromaPlaces(doc *spans.Document, pieces []chunkers.Piece) (places []spans.Span) {
	for _, p := range pieces {
		text := strings.TrimSuffix(p.Text, ".")
		start := utf8.RuneCountInString(doc.Text()[:strings.Index(doc.Text(), text)])
		places = append(places, spans.Span{Doc: doc.ID(), Start: start, End: start + utf8.RuneCountInString(text)})
	}
	return places
}

// meanAndDeviation returns the mean and the population standard deviation of a
// figure of the queries.
func meanAndDeviation(queries []ragtest.TokenQuery, of func(ragtest.TokenQuery) float64) (mean, std float64) {
	var sum, squares float64
	for _, q := range queries {
		x := of(q)
		sum += x
		squares += x * x
	}
	n := float64(len(queries))
	mean = sum / n
	return mean, math.Sqrt(squares/n - mean*mean)
}
