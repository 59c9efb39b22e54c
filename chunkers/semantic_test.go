package chunkers

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/units"
	"github.com/rageval/rageval/spans"
)

var (
	_ testChunker = Semantic{}
	_ Validator   = Semantic{}
)

// letters embeds a text as how often each of 16 groups of words occurs in it.
type letters struct{ calls *atomic.Int64 }

func (e letters) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.calls != nil {
		e.calls.Add(1)
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 16)
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r <= '@' }) {
			h := fnv.New32a()
			h.Write([]byte(word))
			vectors[i][h.Sum32()%16]++
		}
	}
	return vectors, ctx.Err()
}

func (letters) String() string { return "letters/dim=16" }

// table embeds texts as it lists them, and others as the zero vector of two
// dimensions.
type table map[string][]float32

func (e table) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if vectors[i] = e[text]; vectors[i] == nil {
			vectors[i] = make([]float32, 2)
		}
	}
	return vectors, nil
}

// angles embeds "a.", "b.", … at the given degrees.
func angles(degrees ...float64) (text string, e table) {
	e = table{}
	for i, d := range degrees {
		sentence := string(rune('A'+i)) + "."
		text += sentence + " "
		e[sentence] = []float32{float32(math.Cos(d * math.Pi / 180)), float32(math.Sin(d * math.Pi / 180))}
	}
	return text, e
}

func TestThreshold(t *testing.T) {
	text, e := angles(0, 10, 70, 75, 180, 190) // neighbours 10, 60, 5, 105 and 10 degrees apart
	for _, test := range []struct {
		threshold Threshold
		want      []string
	}{
		{-1, []string{"A. B. C. D. E. F. "}},
		{0, []string{"A. B. C. D. ", "E. F. "}},
		{0.4, []string{"A. B. C. D. ", "E. F. "}},
		{0.6, []string{"A. B. ", "C. D. ", "E. F. "}},
		{0.99, []string{"A. ", "B. ", "C. D. ", "E. ", "F. "}},
		{1, []string{"A. ", "B. ", "C. ", "D. ", "E. ", "F. "}},
	} {
		got := trimmedTexts(mustCut(t, Semantic{Embedder: e, Rule: test.threshold}, text), false)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", test.threshold, diff)
		}
	}
}

// A threshold of 1 cuts between all but equal directions, however vectors are
// scaled; the zero vector is similar to nothing, not even to itself.
func TestSemanticDirections(t *testing.T) {
	e := table{
		"A.": {1e-30, 2e-30}, "B.": {3e30, 6e30}, "C.": {0, 0}, "D.": {0, 0}, "E.": {-1, -2}, "F.": {math.MaxFloat32, math.MaxFloat32},
		"G.": {math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32},
	}
	for _, test := range []struct {
		rule SemanticRule
		want []string
	}{
		{Threshold(1), []string{"A. B. ", "C. ", "D. ", "E. ", "F. G."}},
		{Threshold(0), []string{"A. B. C. D. E. ", "F. G."}},
	} {
		got := trimmedTexts(mustCut(t, Semantic{Embedder: e, Rule: test.rule}, "A. B. C. D. E. F. G."), false)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", test.rule, diff)
		}
	}
}

func TestPercentile(t *testing.T) {
	text, e := angles(0, 10, 70, 75, 180, 190)
	for _, test := range []struct {
		rule SemanticRule
		want []string
	}{
		{nil, []string{"A. B. C. D. ", "E. F. "}},
		{Percentile{}, []string{"A. B. C. D. ", "E. F. "}},
		{Percentile{Percentile: 75}, []string{"A. B. C. D. ", "E. F. "}}, // the fourth of five distances
		{Percentile{Percentile: 74}, []string{"A. B. ", "C. D. ", "E. F. "}},
		{Percentile{Percentile: 50}, []string{"A. B. ", "C. D. ", "E. F. "}}, // two are equal to the bound
		{Percentile{Percentile: 100}, []string{text}},
		{Percentile{Percentile: 1e-9}, []string{"A. ", "B. ", "C. D. ", "E. ", "F. "}},
	} {
		got := trimmedTexts(mustCut(t, Semantic{Embedder: e, Rule: test.rule}, text), false)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%#v (-want +got)\n%s", test.rule, diff)
		}
	}
}

// NumPy's documentation of percentile has these values.
func TestPercentileOf(t *testing.T) {
	for _, test := range []struct {
		values  []int32
		p, want float64
	}{
		{[]int32{7}, 95, 7},
		{[]int32{4, 1}, 50, 2.5},
		{[]int32{10, 7, 4, 3, 2, 1}, 50, 3.5},
		{[]int32{40, 15, 50, 20, 35}, 40, 29},
		{[]int32{40, 15, 50, 20, 35}, 0, 15},
		{[]int32{40, 15, 50, 20, 35}, 100, 50},
		{[]int32{1 << 25, 0}, 50, 1 << 24},
	} {
		if got := percentileOf(test.values, test.p); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("percentile %v of %v: got %v, want %v", test.p, test.values, got, test.want)
		}
	}
}

func TestSemanticBuffer(t *testing.T) {
	var embedded []string
	e := embedderFunc(func(_ context.Context, texts []string) ([][]float32, error) {
		embedded = append(embedded, texts...)
		return table{}.Embed(t.Context(), texts)
	})
	for buffer, want := range map[int][]string{
		0:       {"A.", "B\nb.", "C."},
		1:       {"A.  B\nb.", "A.  B\nb.\n\nC.", "B\nb.\n\nC."},
		1 << 62: {"A.  B\nb.\n\nC.", "A.  B\nb.\n\nC.", "A.  B\nb.\n\nC."},
	} {
		embedded = nil
		if _, err := (Semantic{Embedder: e, Rule: Percentile{Buffer: buffer}}).Chunk(t.Context(), "\nA.  B\nb.\n\nC. "); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, embedded); diff != "" {
			t.Errorf("buffer %d (-want +got)\n%s", buffer, diff)
		}
	}
}

type embedderFunc func(ctx context.Context, texts []string) ([][]float32, error)

func (f embedderFunc) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return f(ctx, texts)
}

// randomSimilarities has few different values, so that ties are many.
func randomSimilarities(random *rand.Rand, n, reach int) *similarities {
	s := &similarities{n: n, reach: min(reach, n-1), mean: int32(random.IntN(5) - 2)}
	s.before = make([]int32, n*s.reach)
	for i := range s.before {
		s.before[i] = int32(random.IntN(9) - 4)
	}
	return s
}

// The bisection of the report, where it stops in time and distances are at most
// 1, gives the cuts that TargetSize reads off.
func TestTargetSizeEqualsBisection(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 2 + random.IntN(40)
		s := &similarities{n: n, reach: 1, before: make([]int32, n)}
		lengths := make([]int, n)
		for i := range lengths {
			lengths[i] = 1 + random.IntN(50)
			s.before[i] = int32(random.IntN(20)) * (one / 20)
		}
		rule := TargetSize{Size: 1 + random.IntN(200)}
		got, err := rule.cuts(t.Context(), s, lengths)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, l := range lengths {
			total += l
		}
		wider := func(bound float64) (cuts []int) {
			for i := range n - 1 {
				if 1-float64(s.before[i+1])/one > bound {
					cuts = append(cuts, i+1)
				}
			}
			return cuts
		}
		lower, upper := 0.0, 1.0
		for upper-lower > 1e-6 {
			if middle := (lower + upper) / 2; len(wider(middle)) > total/rule.Size {
				lower = middle
			} else {
				upper = middle
			}
		}
		if want := wider(upper); !slices.Equal(got, want) {
			t.Fatalf("%v of lengths %v, distances %v: got %v, want %v", rule, lengths, s.distances(), got, want)
		}
	}
}

func TestTargetSize(t *testing.T) {
	const text = "aa bb cc dd. aa bb cc dd. aa bb cc ee. ff gg hh ii. ff gg hh ii. jj kk ll mm"
	for _, test := range []struct {
		rule TargetSize
		want []string
	}{
		{TargetSize{Size: 1000, UnitSize: 13}, []string{text}},
		{TargetSize{Size: 70, UnitSize: 13}, []string{"aa bb cc dd. aa bb cc dd. aa bb cc ee. ff gg hh ii. ff gg hh ii.", " jj kk ll mm"}},
		{TargetSize{Size: 36, UnitSize: 13}, []string{"aa bb cc dd. aa bb cc dd. aa bb cc ee.", " ff gg hh ii. ff gg hh ii.", " jj kk ll mm"}},
	} {
		got := trimmedTexts(mustCut(t, Semantic{Embedder: letters{}, Rule: test.rule}, text), false)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", test.rule, diff)
		}
	}
}

// bestClusters tries every way to join units, and returns the one that Cluster
// promises.
func bestClusters(s *similarities, lengths []int, maxSize int) []int {
	var bestCuts []int
	var best int64
	found := false
	var try func(end int, sum int64, cuts []int) // from the last chunk to the first, longer ones first
	try = func(end int, sum int64, cuts []int) {
		if end == 0 {
			if !found || sum > best {
				found, best, bestCuts = true, sum, slices.Clone(cuts)
			}
			return
		}
		for start := max(0, end-1-s.reach); start < end; start++ {
			size, within := 0, int64(0)
			for i := start; i < end; i++ {
				size += lengths[i]
				for j := start; j < i; j++ {
					within += int64(s.at(i, i-j)) - int64(s.mean)
				}
			}
			if size > maxSize && end-start > 1 {
				continue
			}
			if start > 0 {
				try(start, sum+within, append(cuts, start))
			} else {
				try(0, sum+within, cuts)
			}
		}
	}
	try(s.n, 0, nil)
	slices.Reverse(bestCuts)
	return bestCuts
}

func TestClusterEqualsBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		s := randomSimilarities(random, 2+random.IntN(10), 1+random.IntN(6))
		lengths := make([]int, s.n)
		for i := range lengths {
			lengths[i] = random.IntN(6)
		}
		rule := Cluster{MaxSize: 1 + random.IntN(20)}
		got, err := rule.cuts(t.Context(), s, lengths)
		if err != nil {
			t.Fatal(err)
		}
		if want := bestClusters(s, lengths, rule.MaxSize); !slices.Equal(got, want) {
			t.Fatalf("%v of lengths %v, similarities %v (reach %d, mean %d): got %v, want %v", rule, lengths, s.before, s.reach, s.mean, got, want)
		}
	}
}

func TestCluster(t *testing.T) {
	text, e := angles(0, 5, 90, 2, 3, 88, 92, 95) // C is an aside
	for _, test := range []struct {
		rule Cluster
		want []string
	}{
		{Cluster{MaxSize: 24, UnitSize: 3}, []string{"A. B. C. D. E. ", "F. G. H. "}},
		{Cluster{MaxSize: 9, UnitSize: 3}, []string{"A. B. ", "C. ", "D. E. ", "F. G. H. "}},
		{Cluster{MaxSize: 24, UnitSize: 12}, []string{"A. B. ", "C. ", "D. E. ", "F. ", "G. H. "}},
		{Cluster{MaxSize: 2, UnitSize: 1}, []string{"A. ", "B. ", "C. ", "D. ", "E. ", "F. ", "G. ", "H. "}},
	} {
		c := Semantic{Embedder: e, Rule: test.rule, Units: sentenceUnits{}}
		if diff := cmp.Diff(test.want, trimmedTexts(mustCut(t, c, text), false)); diff != "" {
			t.Errorf("%v (-want +got)\n%s", test.rule, diff)
		}
	}
	// Where all is equally similar, chunks are as long as they may be.
	same := Semantic{Embedder: table{"Same.": {0.1, 0.7}}, Rule: Cluster{MaxSize: 20, UnitSize: 5}, Units: sentenceUnits{}}
	if diff := cmp.Diff([]string{"Same. ", "Same. Same. Same. ", "Same. Same. Same. "}, trimmedTexts(mustCut(t, same, strings.Repeat("Same. ", 7)), false)); diff != "" {
		t.Errorf("equal units (-want +got)\n%s", diff)
	}
}

// sentenceUnits are sentences, without white space at the ends.
type sentenceUnits struct{}

func (sentenceUnits) ChunkWithPositions(_ context.Context, doc *spans.Document) ([]Piece, error) {
	all, err := units.Of(doc.Text(), rangesOf(sentences(doc.Text())))
	var pieces []Piece
	for _, u := range all {
		pieces = append(pieces, Piece{Text: doc.Text()[u.TextStart:u.TextEnd], Start: u.TextStart, End: u.TextEnd})
	}
	return pieces, err
}

func (sentenceUnits) String() string { return "sentences/max=1" }

func TestMeanSimilarity(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		n, dim := 2+random.IntN(30), 1+random.IntN(9)
		vectors := make([]embedded, n)
		var mean meanSimilarity
		for i := range vectors {
			v := make([]float32, dim)
			for j := range v {
				v[j] = float32(random.IntN(5) - 2)
			}
			vectors[i] = embedded{v, math.Sqrt(dot(v, v))}
			mean.add(vectors[i])
		}
		sum := 0.0
		for i := range vectors {
			for j := range i {
				sum += float64(cosine(vectors[i], vectors[j]))
			}
		}
		if got, want := float64(mean.of(n)), sum/float64(n*(n-1)/2); math.Abs(got-want) > 2 {
			t.Fatalf("got mean %v, want %v", got, want)
		}
	}
}

// Batches, and forgetting vectors that are compared already, change nothing.
func TestCompareInBatches(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	const n, reach = 3*embedBatch - 5, 7
	texts := make([]string, n)
	for i := range texts {
		for range 1 + random.IntN(6) {
			texts[i] += string(rune('a'+random.IntN(20))) + " "
		}
	}
	var calls atomic.Int64
	s, err := compare(t.Context(), letters{&calls}, n, reach, func(i int) string { return texts[i] })
	if err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 3 {
		t.Errorf("got %d calls of Embed, want 3", calls.Load())
	}
	vectors, _ := letters{}.Embed(t.Context(), texts)
	for i := range n {
		for d := 1; d <= min(i, reach); d++ {
			a, b := vectors[i], vectors[i-d]
			want := rounded(dot(a, b) / (math.Sqrt(dot(a, a)) * math.Sqrt(dot(b, b))))
			if got := s.at(i, d); got != want {
				t.Fatalf("similarity of %d and %d: got %d, want %d", i-d, i, got, want)
			}
		}
	}
}

func TestSemanticValidate(t *testing.T) {
	e := letters{}
	for _, test := range []struct {
		chunker Semantic
		want    string
	}{
		{Semantic{Embedder: e}, ""},
		{Semantic{}, "semantic chunker: Embedder is nil: want an Embedder"},
		{Semantic{Embedder: e, Rule: Threshold(-1)}, ""},
		{Semantic{Embedder: e, Rule: Threshold(1.5)}, "semantic chunker: threshold rule: Threshold is 1.5: want a similarity from -1 to 1"},
		{Semantic{Embedder: e, Rule: Threshold(math.NaN())}, "semantic chunker: threshold rule: Threshold is NaN: want a similarity from -1 to 1"},
		{Semantic{Embedder: e, Rule: Percentile{Percentile: 101}}, "semantic chunker: percentile rule: Percentile is 101: want 0, which means 95, or a percentile up to 100"},
		{Semantic{Embedder: e, Rule: Percentile{Percentile: math.NaN()}}, "semantic chunker: percentile rule: Percentile is NaN: want 0, which means 95, or a percentile up to 100"},
		{Semantic{Embedder: e, Rule: Percentile{Buffer: -1}}, "semantic chunker: percentile rule: Buffer is -1: want at least 0"},
		{Semantic{Embedder: e, Rule: TargetSize{}}, "semantic chunker: target-size rule: Size is 0: want at least 1"},
		{Semantic{Embedder: e, Rule: TargetSize{Size: 9, UnitSize: 10}}, "semantic chunker: target-size rule: UnitSize is 10: want 0, which means an eighth of Size, or at most Size, which is 9"},
		{Semantic{Embedder: e, Rule: TargetSize{Size: 9, Buffer: -2}}, "semantic chunker: target-size rule: Buffer is -2: want at least 0"},
		{Semantic{Embedder: e, Rule: Cluster{MaxSize: -1}}, "semantic chunker: cluster rule: MaxSize is -1: want at least 1"},
		{Semantic{Embedder: e, Rule: Cluster{MaxSize: 5, UnitSize: -1}}, "semantic chunker: cluster rule: UnitSize is -1: want 0, which means an eighth of MaxSize, or at most MaxSize, which is 5"},
		{Semantic{Embedder: e, Rule: Cluster{MaxSize: 1}}, ""},
		{Semantic{Embedder: e, Units: FixedSize{}}, "semantic chunker: Units: fixed-size chunker: Size is 0: want at least 1"},
	} {
		checkValidation(t, test.chunker, test.want)
	}
}

func TestSemanticString(t *testing.T) {
	words := Length{Name: "words", Of: func(s string) int { return len(strings.Fields(s)) }}
	for want, c := range map[string]Semantic{
		"semantic":                         {},
		"semantic/embedder=letters,dim=16": {Embedder: letters{}},
		"semantic/threshold=0.5/units=sentences,max=1/embedder=chunkers.table":             {Embedder: table{}, Rule: Threshold(0.5), Units: sentenceUnits{}},
		"semantic/percentile=95/embedder=*chunkers.table":                                  {Embedder: &table{}, Rule: Percentile{}},
		"semantic/percentile=99.5/buffer=1/length=words/embedder=letters,dim=16":           {Embedder: letters{}, Rule: Percentile{99.5, 1}, Length: words},
		"semantic/targetsize=400/embedder=letters,dim=16":                                  {Embedder: letters{}, Rule: TargetSize{Size: 400}},
		"semantic/targetsize=400/unitsize=50/buffer=3/length=\"\"/embedder=letters,dim=16": {Embedder: letters{}, Rule: TargetSize{400, 50, 3}, Length: Length{Of: words.Of}},
		"semantic/cluster=400/unitsize=50/embedder=letters,dim=16":                         {Embedder: letters{}, Rule: Cluster{400, 50}},
	} {
		if got := c.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSemanticEmbedderFails(t *testing.T) {
	failed := errors.New("no such model")
	var zero float32
	tests := map[string]struct {
		vectors [][]float32
		err     error
		want    string
	}{
		"error":     {nil, failed, "embedding units 0 to 2 of 3: no such model"},
		"few":       {[][]float32{{1}, {1}}, nil, "embedding units 0 to 2 of 3: got 2 vectors for 3 texts"},
		"many":      {make([][]float32, 4), nil, "embedding units 0 to 2 of 3: got 4 vectors for 3 texts"},
		"none":      {nil, nil, "embedding units 0 to 2 of 3: got 0 vectors for 3 texts"},
		"dimension": {[][]float32{{1, 2}, {1, 2}, {1}}, nil, `embedding unit 2 of 3, "C.": its vector has dimension 1, want 2`},
		"empty":     {[][]float32{{}, {}, {}}, nil, `embedding unit 0 of 3, "A.": its vector is empty: want at least one component`},
		"nan":       {[][]float32{{1, 2}, {1, zero / zero}, {1, 2}}, nil, `embedding unit 1 of 3, "B.": its vector has component 1 = NaN: want a finite number`},
		"infinite":  {[][]float32{{1, 2}, {1, 2}, {1 / zero, 2}}, nil, `embedding unit 2 of 3, "C.": its vector has component 0 = +Inf: want a finite number`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := Semantic{Embedder: embedderFunc(func(context.Context, []string) ([][]float32, error) { return test.vectors, test.err })}
			_, err := c.Chunk(t.Context(), "A. B. C.")
			if err == nil || err.Error() != test.want || test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

func TestSemanticUnitsFail(t *testing.T) {
	failed := errors.New("no units today")
	for name, test := range map[string]struct {
		units stubUnits
		want  string
	}{
		"error":   {stubUnits{err: failed}, "cutting into units: no units today"},
		"lost":    {stubUnits{pieces: []Piece{{Text: "x", Start: -1}}}, `cutting into units: chunkers.stubUnits: unit 0, "x", has no place in the text`},
		"overlap": {stubUnits{pieces: []Piece{{Start: 0, End: 3}, {Start: 2, End: 4}}}, "cutting into units: chunkers.stubUnits: unit 1 is bytes [2:4]: want a part of what follows byte 3, in a text of 8 bytes"},
		"beyond":  {stubUnits{pieces: []Piece{{Start: 0, End: 9}}}, "cutting into units: chunkers.stubUnits: unit 0 is bytes [0:9]: want a part of what follows byte 0, in a text of 8 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Semantic{Embedder: letters{}, Units: test.units}.Chunk(t.Context(), "A. B. C.")
			if err == nil || err.Error() != test.want {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := (Semantic{Embedder: letters{}, Units: sentenceUnits{}}).Chunk(t.Context(), "a\xff"); err == nil || !strings.Contains(err.Error(), "invalid UTF-8") {
		t.Errorf("got error %v, want one for invalid UTF-8", err)
	}
}

type stubUnits struct {
	pieces []Piece
	err    error
}

func (u stubUnits) ChunkWithPositions(context.Context, *spans.Document) ([]Piece, error) {
	return u.pieces, u.err
}

// One unit, or none, needs no embedding; what Units leaves out is kept.
func TestSemanticFewUnits(t *testing.T) {
	refuse := embedderFunc(func(context.Context, []string) ([][]float32, error) { return nil, errors.New("called") })
	for text, want := range map[string][]string{"": nil, " \n\n ": nil, "\n\nOne sentence. \n": {"\n\nOne sentence. \n"}} {
		got, err := Semantic{Embedder: refuse}.Chunk(t.Context(), text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: error %v (-want +got)\n%s", text, err, diff)
		}
	}
	c := Semantic{Embedder: letters{}, Rule: Threshold(1), Units: stubUnits{pieces: []Piece{{Start: 2, End: 4}, {Start: 4, End: 5}, {Start: 8, End: 10}}}}
	got, err := c.Chunk(t.Context(), "--AA ...BB--")
	if diff := cmp.Diff([]string{"--AA ...", "BB--"}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

func TestSemanticStopsWhenCancelled(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	c := Semantic{Embedder: embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
		calls++
		cancel(cause)
		return letters{}.Embed(context.WithoutCancel(ctx), texts)
	})}
	if _, err := c.Chunk(ctx, strings.Repeat("A sentence. ", 3*embedBatch)); !errors.Is(err, cause) || calls != 1 {
		t.Errorf("got error %v after %d calls, want %v after 1", err, calls, cause)
	}
	if _, err := c.Chunk(ctx, "A. B."); !errors.Is(err, cause) || calls != 1 {
		t.Errorf("got error %v after %d calls, want %v and no other call", err, calls, cause)
	}
}

var semanticRules = []SemanticRule{
	nil, Threshold(0.5), Percentile{Percentile: 80, Buffer: 1}, TargetSize{Size: 120, Buffer: 3}, Cluster{MaxSize: 400}, Cluster{MaxSize: 60, UnitSize: 20},
}

func TestSemanticConforms(t *testing.T) {
	words := Length{Name: "words", Of: func(s string) int { return len(strings.Fields(s)) }}
	for _, rule := range semanticRules {
		for _, c := range []Semantic{{}, {Units: sentenceUnits{}}, {Length: words}} {
			c.Embedder, c.Rule = letters{}, rule
			t.Run(c.String(), func(t *testing.T) {
				if err := Check(t.Context(), c, document(t, "Annual leave. Is 28 days.\n\nSick leave needs no notice.")); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func FuzzSemantic(f *testing.F) {
	f.Add("", 0, byte(0), false)
	f.Add("One fish. Two fish. Red fish! Blue fish?\n\nBlack fish. 青い魚。赤い魚。", 20, byte(3), false)
	f.Add("a b. a b. c d. e\u0301 e. a. 😀. a b.", 9, byte(4), true)
	f.Add("\x80. \xff. a", 5, byte(5), false)
	f.Fuzz(func(t *testing.T, text string, size int, rule byte, sentenceUnit bool) {
		c := Semantic{Embedder: letters{}, Rule: semanticRules[int(rule)%len(semanticRules)]}
		if rule >= 128 {
			c.Length = Length{Name: "words", Of: func(s string) int { return len(strings.Fields(s)) }}
		}
		if size > 0 && size < 1<<20 {
			switch c.Rule.(type) {
			case TargetSize:
				c.Rule = TargetSize{Size: size}
			case Cluster:
				c.Rule = Cluster{MaxSize: size}
			}
		}
		if !utf8.ValidString(text) {
			chunks, err := c.Chunk(t.Context(), text)
			if got := strings.Join(chunks, ""); err != nil || got != text && strings.TrimFunc(text, isWhiteSpace) != "" {
				t.Fatalf("%v: chunks of %q join to %q, error %v", c, text, got, err)
			}
			return
		}
		if sentenceUnit {
			c.Units = sentenceUnits{}
		}
		pieces := mustCut(t, c, text)
		if strings.TrimFunc(text, isWhiteSpace) == "" {
			if len(pieces) > 0 {
				t.Fatalf("%v: got %d chunks of %q, want none", c, len(pieces), text)
			}
			return
		}
		end := 0
		for i, p := range pieces {
			if p.Start != end || strings.TrimFunc(p.Text, isWhiteSpace) == "" {
				t.Fatalf("%v: chunk %d of %q is %q at %d, want what follows byte %d and more than white space", c, i, text, p.Text, p.Start, end)
			}
			end = p.End
			if cluster, ok := c.Rule.(Cluster); ok && c.Length.Len(p.Text) > cluster.MaxSize {
				whole, err := spans.NewDocument("chunk", p.Text, nil)
				if err != nil {
					t.Fatal(err)
				}
				parts, err := c.parts(t.Context(), p.Text, cluster.needs().unitSize, func() (*spans.Document, error) { return whole, nil })
				if err != nil {
					t.Fatal(err)
				}
				units, err := units.Of(p.Text, parts)
				if err != nil {
					t.Fatal(err)
				}
				if len(units) > 1 {
					t.Fatalf("%v: chunk %q has length %d and %d units", c, p.Text, c.Length.Len(p.Text), len(units))
				}
			}
		}
		if end != len(text) {
			t.Fatalf("%v: chunks end at byte %d of %d", c, end, len(text))
		}
	})
}

// fixedVectors costs nothing, so that what is measured is the chunker.
type fixedVectors struct{ vectors [][]float32 }

func (e fixedVectors) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return e.vectors[:len(texts)], nil
}

// BenchmarkSemantic cuts texts of two sizes, so that linear growth shows, with
// an embedder of 384 dimensions that costs nothing.
func BenchmarkSemantic(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	e := fixedVectors{make([][]float32, embedBatch)}
	for i := range e.vectors {
		e.vectors[i] = make([]float32, 384)
		for j := range e.vectors[i] {
			e.vectors[i][j] = random.Float32() - 0.4
		}
	}
	for _, rule := range []SemanticRule{Threshold(0.5), Percentile{Buffer: 1}, TargetSize{Size: 400, Buffer: 3}, Cluster{MaxSize: 400}, Cluster{MaxSize: 1600, UnitSize: 50}} {
		for _, kilobytes := range []int{64, 1024} {
			b.Run(fmt.Sprintf("%v/text=%dkB", rule, kilobytes), func(b *testing.B) {
				var text strings.Builder
				for text.Len() < kilobytes<<10 {
					fmt.Fprintf(&text, "Sentence %d of this text says little. ", random.IntN(1000))
				}
				doc := document(b, text.String())
				c := Semantic{Embedder: e, Rule: rule}
				b.SetBytes(int64(text.Len()))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.ChunkWithPositions(b.Context(), doc); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
