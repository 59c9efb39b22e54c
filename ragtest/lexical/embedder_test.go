package lexical

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

var _ ragtest.Embedder = Embedder{}

func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func cosine(tb testing.TB, e Embedder, a, b string) float64 {
	tb.Helper()
	v := embedAll(tb, e, []string{a, b})
	var sum float64
	for i := range v[0] {
		sum += float64(v[0][i]) * float64(v[1][i])
	}
	return sum
}

func TestConformance(t *testing.T) {
	doc, err := spans.NewDocument("a.md", "The cat sleeps. Rotate the keys.", nil)
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Embedder{{}, {Dim: 64}, Embedder{}.Fit(corpus)} {
		if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
			t.Errorf("%v: %v", e, err)
		}
	}
}

func TestEmbedDimensions(t *testing.T) {
	for _, test := range []struct{ dim, want int }{{0, 2048}, {1, 1}, {7, 7}, {384, 384}, {5000, 5000}} {
		for i, v := range embedAll(t, Embedder{Dim: test.dim}, []string{"retrieval of chunks", ""}) {
			if len(v) != test.want || cap(v) != test.want {
				t.Errorf("Dim %d, text %d: got %d components (capacity %d), want %d", test.dim, i, len(v), cap(v), test.want)
			}
		}
	}
	if v := embedAll(t, Embedder{}, nil); len(v) != 0 {
		t.Errorf("no texts: got %d vectors", len(v))
	}
	_, err := Embedder{Dim: -3}.Embed(t.Context(), []string{"a"})
	if want := "lexical.Embedder: Dim is -3: want 0, which means 2048, or more"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestEmbedLength(t *testing.T) {
	for _, test := range []struct {
		text string
		want float64
	}{
		{"", 0},
		{" \n", 0},
		{"and then it was not", 0},
		{"… — !", 0},
		{"retrieval", 1},
		{"7", 1},
		{"🚀", 1},
		{"检索", 1},
		{"\xff\xfe", 0},
		{strings.Repeat("word soup 42 ", 10000), 1},
		{strings.Repeat("x", 1<<20), 1},
		{strings.Repeat("检", 1<<18), 1},
	} {
		for _, dim := range []int{0, 64} {
			got := length(embedAll(t, Embedder{Dim: dim}, []string{test.text})[0])
			if math.Abs(got-test.want) > 1e-6 {
				t.Errorf("%.20q in %d dimensions: got the length %v, want %v", test.text, dim, got, test.want)
			}
		}
	}
}

func TestEmbedSimilarity(t *testing.T) {
	for _, test := range []struct{ query, near, far string }{
		{"how do I reset my password", "Resetting passwords: choose Forgot password.", "Invoices are sent monthly."},
		{"regulatory changes", "a change in regulation", "a chance to relax"},
		{"open connections", "max_open_conns, the largest number of open connections", "closing statements"},
		{"readfile", "func ReadFile(name string)", "func WriteString(s string)"},
		{"revenue in 2023", "In 2023, revenue rose.", "In 2017, costs fell."},
		{"résumé template", "templates for a resume", "a plate of rice"},
		{"microbiology", "a microbiologist", "a macroeconomist"},
		{"数据库的索引", "索引可以加快数据库查询", "今天天气很好"},
		{"東京タワー", "タワーは東京にある", "大阪の城"},
		{"การค้นหา", "ระบบการค้นหาข้อมูล", "แมวนอนหลับ"},
		{"مكتبة المدينة", "المكتبات في المدن", "الطقس بارد"},
		{"한국의 수도", "수도는 서울이다", "날씨가 춥다"},
		{"🚀", "launch 🚀 today", "lunch 🍕 today"},
	} {
		near, far := cosine(t, Embedder{}, test.query, test.near), cosine(t, Embedder{}, test.query, test.far)
		if near <= far+0.05 {
			t.Errorf("%q: got the similarities %.3f of %q and %.3f of %q, want the first greater", test.query, near, test.near, far, test.far)
		}
	}
	if got := cosine(t, Embedder{}, "Cafe\u0301 au lait", "café au LAIT!"); math.Abs(got-1) > 1e-6 {
		t.Errorf("composed and decomposed: got the similarity %v, want 1", got)
	}
	if got := cosine(t, Embedder{}, "automobile", "car"); math.Abs(got) > 0.1 {
		t.Errorf("synonyms: got the similarity %v: the documentation says that there are none", got)
	}
}

// mixedTexts are many short texts of various scripts.
func mixedTexts(n int) []string {
	kinds := []string{"chunk %d of the handbook", "查询 %d 数据库", "parseJSON_%d(config)", "مكتبة %d", "", "the %d 🚀🚀 of it", "\xffbroken %d"}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = kinds[i%len(kinds)]
		if texts[i] != "" {
			texts[i] = fmt.Sprintf(texts[i], i*i)
		}
	}
	return texts
}

func TestEmbedIsAPureFunctionOfTheText(t *testing.T) {
	texts := mixedTexts(5*batch + 3)
	corpus := newCorpus(t, texts[0], texts[1], strings.Join(texts[:20], "\n\n"))
	for _, e := range []Embedder{{}, {Dim: 5}, Embedder{}.Fit(corpus)} {
		want := make([][]float32, len(texts))
		for i, text := range texts {
			h := newHasher()
			want[i] = make([]float32, dimOf(e))
			h.embed(text, e.fitted, want[i])
		}
		var wg sync.WaitGroup
		for _, size := range []int{1, 7, batch, len(texts)} {
			wg.Go(func() {
				var got [][]float32
				for first := 0; first < len(texts); first += size {
					vectors, err := e.Embed(t.Context(), texts[first:min(first+size, len(texts))])
					if err != nil {
						t.Error(err)
						return
					}
					got = append(got, vectors...)
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%v, %d texts at a time: got another vector for text %d, %q, than alone", e, size, i, texts[i])
					}
				}
			})
		}
		wg.Wait()
	}
}

func dimOf(e Embedder) int {
	if e.Dim == 0 {
		return defaultDim
	}
	return e.Dim
}

// TestEmbedManyDistinctTerms embeds more terms than a hasher keeps.
func TestEmbedManyDistinctTerms(t *testing.T) {
	texts := make([]string, 150)
	for i := range texts {
		var b strings.Builder
		for j := range 1000 {
			fmt.Fprintf(&b, "w%dq%d ", i, j)
		}
		texts[i] = b.String()
	}
	got := embedAll(t, Embedder{Dim: 16}, texts)
	for _, i := range []int{0, 64, 65, 66, 149} {
		if alone := embedAll(t, Embedder{Dim: 16}, texts[i:i+1])[0]; !slices.Equal(got[i], alone) {
			t.Errorf("text %d: got %v, alone %v", i, got[i], alone)
		}
	}
}

// TestEmbedGolden holds vectors to the bit. Vectors are stored and compared
// across machines and versions: whoever changes these hashes changes them all.
func TestEmbedGolden(t *testing.T) {
	corpus := newCorpus(t, "The cat sat on the mat.", "Chunks are retrieved by the words that they share with the query. Queries are words too.")
	texts := []string{
		"What significant regulatory changes has the administration announced?",
		"max_open_conns limits http.Server connections to 1,000 in v1.2",
		"数据库的索引 カメラ ไทย",
		"مكتبة المدينة café ΟΔΥΣΣΕΎΣ",
		"chunks chunks chunks of words; the query retrieves chunked words 🚀",
	}
	for _, test := range []struct {
		embedder Embedder
		want     string
	}{
		{Embedder{}, "3c0b14360dc57712b8069f53f0849f25cc75877270228303fd21b0f193698768"},
		{Embedder{Dim: 384}, "c19aaf7278532e3840030023c5a2129ae4eb7833145c5cd1579e9b547ee3f2e2"},
		{Embedder{}.Fit(corpus), "fdd3023b16e9314d3e467b1de0a5d5a5f012051a66d2c9c35b25e6afce04794c"},
	} {
		hash := sha256.New()
		for _, v := range embedAll(t, test.embedder, texts) {
			for _, x := range v {
				hash.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
			}
		}
		if got := hex.EncodeToString(hash.Sum(nil)); got != test.want {
			t.Errorf("%v: got vectors of the SHA-256 %s, want %s", test.embedder, got, test.want)
		}
	}
}

func newCorpus(tb testing.TB, texts ...string) *spans.Corpus {
	tb.Helper()
	var docs []*spans.Document
	for i, text := range texts {
		doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("doc-%d", i)), strings.ToValidUTF8(text, ""), nil)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		tb.Fatal(err)
	}
	return corpus
}

func TestEmbedCancellation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := (Embedder{}).Embed(ctx, mixedTexts(100)); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
}

func TestFit(t *testing.T) {
	// "report" is in every passage, "tardigrade" in one.
	texts := make([]string, 50)
	for i := range texts {
		texts[i] = fmt.Sprintf("report number%d", i)
	}
	texts[7] += " tardigrade"
	fitted := Embedder{}.Fit(newCorpus(t, texts...))
	const query = "tardigrade report"
	common, rare, unseen := cosine(t, fitted, query, "report"), cosine(t, fitted, query, "tardigrade"), cosine(t, fitted, "xylophone report", "xylophone")
	if !(common < 0.5 && rare > 0.8 && unseen >= rare-0.05) {
		t.Errorf("got the similarities %.3f of the common, %.3f of the rare and %.3f of the unseen word, want them to rise", common, rare, unseen)
	}
	if v := embedAll(t, fitted, []string{query})[0]; math.Abs(length(v)-1) > 1e-6 {
		t.Errorf("got the length %v, want 1", length(v))
	}
	for name, corpus := range map[string]*spans.Corpus{"nil": nil, "empty": newCorpus(t), "no terms": newCorpus(t, "", "the of and")} {
		if got := (Embedder{Dim: 3}).Fit(corpus); got != (Embedder{Dim: 3}) {
			t.Errorf("%s corpus: got %v, want an embedder that is not fitted", name, got)
		}
	}
	if (Embedder{}).Fit(newCorpus(t, "a b c", "cat")) == (Embedder{}) {
		t.Error("Fit changed nothing")
	}
}

func TestFrequencies(t *testing.T) {
	// Two documents; the first has two passages.
	long := strings.Repeat("alpha ", passageTerms) + "beta gamma"
	f := countFrequencies(newCorpus(t, long, "alpha beta"))
	for term, df := range map[string]int{"alpha": 2, "beta": 2, "gamma": 1, "delta": 0} {
		want := math.Sqrt(math.Log(1 + (3-float64(df)+0.5)/(float64(df)+0.5)))
		if got := float64(f.weight(term)); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s, in %d of 3 passages: got the weight %v, want %v", term, df, got, want)
		}
	}
}

func TestEmbedderString(t *testing.T) {
	corpus := newCorpus(t, "alpha beta")
	for _, test := range []struct {
		embedder Embedder
		want     string
	}{
		{Embedder{}, "lexical"},
		{Embedder{Dim: 512}, "lexical/dim=512"},
		{Embedder{Dim: 512}.Fit(corpus), "lexical/dim=512/fitted=" + corpus.Fingerprint()[:12]},
	} {
		if got := test.embedder.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func FuzzEmbed(f *testing.F) {
	for i, text := range append(mixedTexts(7), "", "a,1 _x_ 1.", "e\u0301\u0301", "👩\u200d💻 ไทย カメラ") {
		f.Add(text, "another text", i*100)
	}
	fitted := Embedder{}.Fit(newCorpus(f, "another text of words", "chunk 36 查询"))
	f.Fuzz(func(t *testing.T, a, b string, dim int) {
		for _, e := range []Embedder{{Dim: dim & 0xFFF}, fitted} {
			together := embedAll(t, e, []string{a, b, a})
			for i, v := range together {
				if len(v) != dimOf(e) {
					t.Fatalf("got %d components, want %d", len(v), dimOf(e))
				}
				if l := length(v); !(l == 0 || math.Abs(l-1) < 1e-5) { // also if a component is not finite
					t.Fatalf("got a vector of length %v for %q, want 0 or 1", l, []string{a, b, a}[i])
				}
			}
			alone := embedAll(t, e, []string{a})
			if !slices.Equal(together[0], alone[0]) || !slices.Equal(together[2], alone[0]) {
				t.Fatalf("%q: got another vector in a batch than alone", a)
			}
		}
	})
}
