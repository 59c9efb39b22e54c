package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/spans"
)

type (
	chunk  = chunkers.PositionAwareChunk
	scored = ragtest.ScoredChunk[chunk]
)

// shortest reranks by length, the shortest chunk first.
type shortest struct{ asked *counter }

func (shortest) String() string { return "shortest" }

func (s shortest) Rerank(_ context.Context, _ string, chunks []scored) ([]scored, error) {
	s.asked.add(1)
	list := slices.Clone(chunks)
	slices.SortStableFunc(list, func(a, b scored) int { return len(a.Chunk.Text) - len(b.Chunk.Text) })
	return list, nil
}

type counter struct {
	mu    sync.Mutex
	n     int
	texts map[string]int
}

func (c *counter) add(n int, texts ...string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
	if c.texts == nil {
		c.texts = map[string]int{}
	}
	for _, t := range texts {
		c.texts[t]++
	}
}

// counting is the lexical embedder, counting what it embeds.
type counting struct {
	lexical.Embedder
	asked *counter
}

func (c counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.asked.add(len(texts), texts...)
	return c.Embedder.Embed(ctx, texts)
}

func handbook(tb testing.TB) sweep.Grid {
	tb.Helper()
	corpus, err := fixtures.ReadDir("../../examples/quickstart/testdata/handbook")
	if err != nil {
		tb.Fatal(err)
	}
	queries, err := fixtures.ReadTokenTruth(os.DirFS("../../examples/quickstart/testdata"), "handbook.golden.jsonl", corpus)
	if err != nil {
		tb.Fatal(err)
	}
	queries = queries[:30]
	for i := range queries {
		queries[i].Metadata = map[string]string{"part": string("ab"[i%2])}
	}
	// An answer of two, and one whose text is elsewhere too.
	queries[3].Alternatives = [][]spans.Span{queries[4].Relevant}
	queries[5].Relevant = often(corpus)
	return sweep.Grid{
		Name:         "handbook",
		Corpus:       corpus,
		Queries:      queries,
		Chunkers:     []chunkers.PositionAwareChunker{chunkers.FixedSize{Size: 100}, chunkers.WithPositions(chunkers.Func(paragraphs))},
		ChunkerNames: []string{"recursive/size=300/overlap=50"},
		Embedders:    []ragtest.Embedder{lexical.Embedder{}, lexical.Embedder{Dim: 64}},
		Retrievers:   []ragtest.Retriever[chunk]{lexical.NewBM25[chunk]()},
		Rerankers:    []ragtest.Reranker[chunk]{nil, shortest{}},
		K:            []int{1, 5},
		FetchK:       []int{4, 10},
		Metrics:      []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanNDCG, ragtest.SpanIoU},
	}
}

// often returns the first heading, whose mark many others have.
func often(corpus *spans.Corpus) []spans.Span {
	for doc := range corpus.All() {
		return []spans.Span{{Doc: doc.ID(), Start: 0, End: 3}}
	}
	return nil
}

func paragraphs(_ context.Context, text string) ([]string, error) {
	return slices.DeleteFunc(strings.Split(text, "\n\n"), func(s string) bool { return strings.TrimSpace(s) == "" }), nil
}

func evaluate(tb testing.TB, g sweep.Grid) *sweep.Report {
	tb.Helper()
	r, err := g.Evaluate(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// What is skipped is not part of the grid, and changes nothing else.
func TestSkip(t *testing.T) {
	all := evaluate(t, handbook(t))
	g := handbook(t)
	g.Skip = func(c sweep.Configuration) bool {
		return c.Chunker == "fixed/size=100" || c.Embedder == "lexical" && c.Reranker != "" || c.Retriever != "" && c.FetchK == 10
	}
	some := evaluate(t, g)
	var want []sweep.Cell
	for _, c := range all.Cells {
		if !g.Skip(c.Configuration) {
			c.Index = len(want)
			want = append(want, c)
		}
	}
	if len(want) == len(all.Cells) || len(want) == 0 {
		t.Fatalf("%d of %d cells are left: this test checks nothing", len(want), len(all.Cells))
	}
	if diff := cmp.Diff(want, some.Cells); diff != "" {
		t.Errorf("the cells differ (-want +got):\n%s", diff)
	}
	if some.Work.Chunked.Done >= all.Work.Chunked.Done {
		t.Errorf("chunked %d documents, want fewer than the %d of the whole grid", some.Work.Chunked.Done, all.Work.Chunked.Done)
	}
	var parts []*sweep.Report
	for i := range 4 {
		g.Shard = sweep.Shard{Index: i, Count: 4}
		parts = append(parts, evaluate(t, g))
	}
	merged, err := sweep.Merge(parts...)
	if err != nil {
		t.Fatal(err)
	}
	if encode(t, merged) != encode(t, some) {
		t.Error("the shards of a grid of which some is skipped merge to another report")
	}
	g.Shard, g.Skip = sweep.Shard{}, func(sweep.Configuration) bool { return true }
	if _, err := g.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), "Skip") {
		t.Errorf("everything is skipped: got the error %v, want one that names Skip", err)
	}
}

// single evaluates the configuration of a cell alone.
func single(tb testing.TB, g sweep.Grid, c sweep.Cell) *ragtest.Result {
	tb.Helper()
	e := ragtest.TokenLevel{Name: c.Name, Corpus: g.Corpus, Queries: g.Queries, K: c.K, FetchK: c.FetchK, Metrics: g.Metrics,
		SliceBy: g.SliceBy, EquivalentText: g.EquivalentText}
	for _, chunker := range g.Chunkers {
		if s, ok := chunker.(interface{ String() string }); ok && s.String() == c.Chunker {
			e.Chunker = chunker
		}
	}
	if c.Chunker == "recursive/size=300/overlap=50" {
		e.Chunker = chunkers.RecursiveCharacter{Size: 300, Overlap: 50}
	}
	switch c.Embedder {
	case "lexical":
		e.Embedder = lexical.Embedder{}
	case "lexical/dim=64":
		e.Embedder = lexical.Embedder{Dim: 64}
	default:
		e.Retriever = lexical.NewBM25[chunk]()
	}
	if g.NewStore != nil && e.Embedder != nil {
		store, err := g.NewStore()
		if err != nil {
			tb.Fatal(err)
		}
		if c, ok := store.(io.Closer); ok {
			defer c.Close()
		}
		e.Store = store
	}
	if c.Reranker != "" {
		e.Reranker = shortest{}
	}
	r, err := e.Evaluate(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestCellsAreSingleEvaluations(t *testing.T) {
	for name, change := range map[string]func(*sweep.Grid){
		"memory":      func(*sweep.Grid) {},
		"budget":      func(g *sweep.Grid) { g.Budget = sweep.AtCharacters(1000) },
		"one at once": func(g *sweep.Grid) { g.OneAtATime = true },
		"default FetchK": func(g *sweep.Grid) {
			g.FetchK = nil
		},
		"equivalent text": func(g *sweep.Grid) { g.EquivalentText = true },
		"slices":          func(g *sweep.Grid) { g.SliceBy = []string{"part"} },
		"all at once": func(g *sweep.Grid) {
			g.EquivalentText, g.SliceBy, g.Budget, g.Dir = true, []string{"part"}, sweep.AtTokens(150), t.TempDir()
		},
		"compact store": func(g *sweep.Grid) {
			g.EquivalentText, g.SliceBy = true, []string{"part"}
			dir := t.TempDir()
			g.NewStore = func() (ragtest.VectorStore[chunk], error) { return ragtest.NewCompactStore[chunk](dir) }
		},
		"own store": func(g *sweep.Grid) {
			g.NewStore = func() (ragtest.VectorStore[chunk], error) { return &ownStore{}, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := handbook(t)
			change(&g)
			seen := 0
			g.Visit = func(c sweep.Cell, got *ragtest.Result) error {
				seen++
				want := single(t, g, c)
				if diff := cmp.Diff(encode(t, got), encode(t, want)); diff != "" {
					t.Errorf("%s: (-sweep +single)\n%s", c.Name, diff)
				}
				return nil
			}
			r := evaluate(t, g)
			want := 3 * 3 * (2 + 1 + 2) // FetchK = 4 < 5 is left out
			if name == "default FetchK" {
				want = 3 * 3 * (2 + 2)
			}
			if seen != want || len(r.Cells) != want || r.GridCells != want {
				t.Errorf("got %d visits, %d cells and %d of the grid, want %d", seen, len(r.Cells), r.GridCells, want)
			}
			for i, c := range r.Cells {
				if c.Index != i {
					t.Errorf("cell %d has the index %d", i, c.Index)
				}
			}
		})
	}
}

// ownStore is a store that is not a MemoryStore, and can be closed.
type ownStore struct {
	ragtest.MemoryStore[chunk]
	closed bool
}

func (s *ownStore) Close() error {
	if s.closed {
		return errors.New("closed twice")
	}
	s.closed = true
	return nil
}

func TestNothingIsDoneTwice(t *testing.T) {
	g := handbook(t)
	var embedded, chunked, reranked counter
	g.Chunkers = append([]chunkers.PositionAwareChunker{chunkers.WithContext(chunkers.WithPositions(chunkers.Func(func(ctx context.Context, text string) ([]string, error) {
		chunked.add(1)
		return paragraphs(ctx, text)
	})), 10, 0)}, g.Chunkers...)
	g.Embedders = []ragtest.Embedder{counting{lexical.Embedder{}, &embedded}}
	g.Rerankers = []ragtest.Reranker[chunk]{nil, shortest{&reranked}}
	// Chunkers that make the same texts.
	g.ChunkerNames = append(g.ChunkerNames, "recursive/size=300/overlap=40")
	r := evaluate(t, g)
	for text, n := range embedded.texts {
		if n != 1 {
			t.Errorf("%q was embedded %d times", text, n)
		}
	}
	if want := r.Work.Embedded.Done + r.Work.Queries.Done; embedded.n != want || r.Work.Queries.Done != len(g.Queries) {
		t.Errorf("got %d texts embedded, the report says %d with %d queries", embedded.n, want, r.Work.Queries.Done)
	}
	if chunked.n != g.Corpus.Len() {
		t.Errorf("the chunker got %d documents, want %d", chunked.n, g.Corpus.Len())
	}
	if want := len(g.Queries) * 5 * 2 * 2; reranked.n != want || r.Work.Reranked.Done != want {
		t.Errorf("the reranker was called %d times, the report says %d, want %d", reranked.n, r.Work.Reranked.Done, want)
	}
	if r.Work.Embedded.Alone <= r.Work.Embedded.Done || r.Work.Chunked.Alone != 10*r.Work.Chunked.Done {
		t.Errorf("got %+v", r.Work)
	}

	embedded, g.OneAtATime = counter{}, true
	bounded := evaluate(t, g)
	if diff := cmp.Diff(encode(t, r), encode(t, bounded)); diff != "" {
		t.Errorf("one at a time gives another report: %s", diff)
	}
}

func TestReportIsTheSameAtEveryGOMAXPROCS(t *testing.T) {
	g := handbook(t)
	g.Budget = sweep.AtTokens(200)
	want := evaluate(t, g)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range []int{1, 3} {
		runtime.GOMAXPROCS(n)
		got := evaluate(t, g)
		if encode(t, got) != encode(t, want) || withoutTime(got.String()) != withoutTime(want.String()) {
			t.Errorf("another report at GOMAXPROCS=%d", n)
		}
	}
	var back sweep.Report
	if err := json.Unmarshal([]byte(encode(t, want)), &back); err != nil {
		t.Fatal(err)
	}
	if encode(t, back) != encode(t, want) {
		t.Error("the report does not read back")
	}
}

func withoutTime(s string) string {
	before, _, _ := strings.Cut(s, "\ntook ")
	return before
}

func TestSweepGoesOn(t *testing.T) {
	g := handbook(t)
	g.Budget = sweep.AtCharacters(800)
	want := encode(t, evaluate(t, g))

	g.Dir = filepath.Join(t.TempDir(), "cells")
	visits := 0
	stop := errors.New("stop here")
	g.Visit = func(sweep.Cell, *ragtest.Result) error {
		if visits++; visits == 20 {
			return stop
		}
		return nil
	}
	if _, err := g.Evaluate(t.Context()); !errors.Is(err, stop) {
		t.Fatalf("got error %v, want %v", err, stop)
	}
	g.Visit = func(sweep.Cell, *ragtest.Result) error { visits++; return nil }
	r := evaluate(t, g)
	if r.Work.Kept != 19 || visits != len(r.Cells)+1 { // one was visited in vain
		t.Errorf("got %d cells kept and %d visits, want 19 and %d", r.Work.Kept, visits, len(r.Cells)+1)
	}
	if encode(t, r) != want {
		t.Error("the report of the sweep that went on differs")
	}
	if r = evaluate(t, g); r.Work.Kept != len(r.Cells) || encode(t, r) != want {
		t.Errorf("got %d of %d cells kept, want all", r.Work.Kept, len(r.Cells))
	}

	// A damaged file is evaluated again, and one that is there only in part.
	files, err := filepath.Glob(filepath.Join(g.Dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, f := range files[:4] {
		if err := os.WriteFile(f, []byte(`{"schemaVersion":1,"key":"`)[:8*i], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if r = evaluate(t, g); encode(t, r) != want {
		t.Error("the report differs where files were damaged")
	}

	// Other content is not found.
	for name, change := range map[string]func(*sweep.Grid){
		"queries":  func(g *sweep.Grid) { g.Queries = g.Queries[1:] },
		"relevant": func(g *sweep.Grid) { g.Queries = slices.Clone(g.Queries); g.Queries[0].Relevant = nil },
		"metrics":  func(g *sweep.Grid) { g.Metrics = g.Metrics[:2] },
		"alternatives": func(g *sweep.Grid) {
			g.Queries = slices.Clone(g.Queries)
			g.Queries[7].Alternatives = [][]spans.Span{g.Queries[8].Relevant}
		},
		"equivalent text": func(g *sweep.Grid) { g.EquivalentText = true },
		"slices":          func(g *sweep.Grid) { g.SliceBy = []string{"part"} },
		"stores": func(g *sweep.Grid) {
			g.Retrievers, g.Chunkers = nil, g.Chunkers[:1]
			g.NewStore = func() (ragtest.VectorStore[chunk], error) { return &ownStore{}, nil }
		},
	} {
		g := g
		change(&g)
		if r := evaluate(t, g); r.Work.Kept != 0 {
			t.Errorf("%s: %d cells were kept", name, r.Work.Kept)
		}
	}
	// A grid that has grown finds what it had.
	g.K = append(slices.Clone(g.K), 2)
	if grown := evaluate(t, g); grown.Work.Kept != len(r.Cells) {
		t.Errorf("got %d cells kept, want %d", grown.Work.Kept, len(r.Cells))
	}
}

func TestShardsMerge(t *testing.T) {
	g := handbook(t)
	g.Budget = sweep.AtCharacters(800)
	want := evaluate(t, g)
	var parts []*sweep.Report
	for i := range 4 {
		g.Shard = sweep.Shard{Index: i, Count: 4}
		part := evaluate(t, g)
		path := filepath.Join(t.TempDir(), "part.json")
		if err := part.Write(path); err != nil {
			t.Fatal(err)
		}
		read, err := sweep.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		parts = append([]*sweep.Report{read}, parts...)
	}
	merged, err := sweep.Merge(append(parts, parts[1])...)
	if err != nil {
		t.Fatal(err)
	}
	if encode(t, merged) != encode(t, want) {
		t.Error("the merged report differs from that of the whole grid")
	}
	part, err := sweep.Merge(parts[:3]...)
	if err != nil {
		t.Fatal(err)
	}
	if w := part.Warnings(); !slices.ContainsFunc(w, func(s string) bool { return strings.Contains(s, "cells of the grid are missing") }) {
		t.Errorf("got warnings %q, want one of missing cells", w)
	}
	for name, change := range map[string]func(*sweep.Report){
		"corpus":    func(r *sweep.Report) { r.CorpusFingerprint = "x" },
		"queries":   func(r *sweep.Report) { r.QueriesFingerprint = "x" },
		"grid":      func(r *sweep.Report) { r.Grid = "x" },
		"budget":    func(r *sweep.Report) { r.Budget = "" },
		"different": func(r *sweep.Report) { r.Cells = slices.Clone(r.Cells); r.Cells[0].Chunks++ },
	} {
		other := *parts[0]
		change(&other)
		if _, err := sweep.Merge(parts[0], &other); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want one that names it", name, err)
		}
	}
	if _, err := sweep.Merge(); err == nil {
		t.Error("merging nothing is no error")
	}
	if _, err := sweep.Merge(parts[0], nil); err == nil {
		t.Error("merging nil is no error")
	}
}

func TestCancel(t *testing.T) {
	g := handbook(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	g.Visit = func(sweep.Cell, *ragtest.Result) error { cancel(stop); return nil }
	before := runtime.NumGoroutine()
	if _, err := g.Evaluate(ctx); !errors.Is(err, stop) {
		t.Errorf("got error %v, want %v", err, stop)
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("got %d goroutines, before %d", runtime.NumGoroutine(), before)
}

func TestSlicesAndEquivalentTextAreReported(t *testing.T) {
	g := handbook(t)
	g.Retrievers, g.Rerankers, g.FetchK = nil, nil, nil
	plain := evaluate(t, g)
	g.SliceBy, g.EquivalentText = []string{"part"}, true
	r := evaluate(t, g)
	for i, c := range r.Cells {
		if len(c.Slices) != 2 || c.Slices[0].Name != "part=a" || c.Slices[0].Queries != 15 {
			t.Fatalf("%s: got slices %+v, want part=a and part=b of 15 queries", c.Name, c.Slices)
		}
		for m, s := range c.Metrics {
			if got := (c.Slices[0].Metrics[m].Value + c.Slices[1].Metrics[m].Value) / 2; math.Abs(got-s.Value) > 1e-12 {
				t.Errorf("%s: the mean of the slices by %s is %v, want %v", c.Name, s.Metric, got, s.Value)
			}
		}
		if c.EmbeddedTexts == 0 || c.IndexBytes == 0 || c.EmbeddedTexts > c.Chunks || c.EmbeddedTexts != plain.Cells[i].EmbeddedTexts {
			t.Errorf("%s: got %d texts in %d bytes for %d chunks", c.Name, c.EmbeddedTexts, c.IndexBytes, c.Chunks)
		}
	}
	if !strings.Contains(r.String(), "\n  part=a  15 queries  ") {
		t.Errorf("no table of slices:\n%s", r)
	}
	var table strings.Builder
	if err := r.WriteCSV(&table); err != nil || !strings.Contains(table.String(), ",span_recall[part=a],span_ndcg[part=a],") {
		t.Errorf("error %v; no column of a slice in\n%s", err, table.String())
	}
	var back sweep.Report
	if err := json.Unmarshal([]byte(encode(t, r)), &back); err != nil || encode(t, back) != encode(t, r) {
		t.Errorf("error %v, or another report reading it back", err)
	}
	back.Cells[1].Slices = nil
	if _, err := sweep.Merge(&back); err == nil {
		t.Error("cells of different slices are merged")
	}
	if _, err := sweep.Merge(plain, r); err == nil || !strings.Contains(err.Error(), "another grid") {
		t.Errorf("merging what counts equivalent text with what does not: got error %v", err)
	}
	g.SliceBy = []string{"missing"}
	if _, err := g.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), "field SliceBy") {
		t.Errorf("got error %v, want one of the field SliceBy", err)
	}
}
