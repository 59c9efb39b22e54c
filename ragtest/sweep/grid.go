package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/catalog"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

type (
	chunk    = chunkers.PositionAwareChunk
	scored   = ragtest.ScoredChunk[chunk]
	reranker = ragtest.Reranker[chunk]
)

// Grid is the design space of a sweep. Corpus, Queries, at least one Embedder or
// Retriever and, unless there are only Retrievers, at least one chunker are required;
// every other field has a useful zero value. Components must have names that differ: what their
// String method returns, else their type.
//
// Of the fields of [ragtest.TokenLevel] it lacks Repeat, as one retrieval serves all K;
// and Baseline, Margin, Budgets, Severities and Reporters, which guard one configuration
// and have no say in a comparison: run the one that was chosen with them. What Budgets
// bounds is part of each [Cell], but for the usage of services, which cells share, and
// for tokens: Tokens and TokenBudget are lacking too, as Budget compares at an equal
// context, of tokens if you like.
//
// The components are called as [ragtest.TokenLevel] does. A Retriever is handed the
// chunks of one chunker after the other, and must replace what it held.
type Grid struct {
	Name    string               // "": in a test its name
	Corpus  *spans.Corpus        // at least one document
	Queries []ragtest.TokenQuery // at least one; their IDs differ

	Chunkers     []chunkers.PositionAwareChunker // chunkers.WithPositions makes one of a plain Chunker
	ChunkerNames []string                        // further ones, such as "recursive/size=400/overlap=50": see catalog.Parse
	Embedders    []ragtest.Embedder
	Retrievers   []ragtest.Retriever[chunkers.PositionAwareChunk] // beside the embedders; without a chunker they search what they hold
	Rerankers    []ragtest.Reranker[chunkers.PositionAwareChunk]  // nil: none. A nil element is the choice of none
	K            []int                                            // nil: 5
	FetchK       []int                                            // candidates for the rerankers; nil: 4*K. Combinations with FetchK < K are left out
	Skip         func(Configuration) bool                         // says which combinations to leave out; nil: none

	// NewStore makes the store of one chunker and embedder; nil: ragtest.NewMemoryStore.
	// A store that is an io.Closer is closed when that pair is done.
	NewStore func() (ragtest.VectorStore[chunkers.PositionAwareChunk], error)

	Metrics      []ragtest.TokenMetric // nil: SpanRecall, SpanPrecision, SpanIoU. The first decides the order
	MaxUnlocated int                   // of each chunker: see ragtest.TokenLevel
	SliceBy      []string              // cells also have the means over the queries with each value of these keys: see ragtest.TokenLevel

	// EquivalentText counts text that equals relevant text as relevant: see
	// ragtest.TokenLevel.
	EquivalentText bool

	Budget Budget // also compare at an equal context; zero: do not

	// Cost is what a cell costs, in whatever unit; nil: the characters that models
	// read, EmbeddedChars + RerankedChars.
	Cost func(Cell) float64

	// Dir is the folder that keeps finished cells, which is made if need be; "": none.
	// A cell is found again by its content: the corpus, the queries, the chunks, the
	// vectors of the queries, and the names of metrics and components, which must
	// therefore tell a metric of your own, a store, a retriever or a reranker from every
	// other. An embedder that gives a text now one vector, now another, as services do,
	// belongs into an embedcache.
	Dir   string
	Shard Shard // the part of the grid to evaluate; zero: all of it

	// OneAtATime keeps the chunks and vectors of one chunker in memory at a time. Texts
	// that several chunkers make are then embedded again. Without it the scores of
	// such texts with all queries are kept until the last chunker that makes them is
	// done; their vectors where there is a NewStore, or scores would take more than a
	// gigabyte.
	OneAtATime bool

	// Visit, if it is not nil, is given the whole result of each cell that is
	// evaluated, in the order of the grid within each chunker; not of one that was kept
	// in Dir. An error ends the sweep.
	Visit func(Cell, *ragtest.Result) error

	// Progress, if it is not nil, is told after each chunker and embedder or retriever
	// how many cells are done.
	Progress func(done, total int, last string)
}

// Shard is one of Count equal parts of a grid: Index is 0 to Count-1. The zero value
// is the whole grid. Cells that share a chunker and embedder stay together.
type Shard struct{ Index, Count int }

func (s Shard) has(group int) bool { return s.Count < 2 || group%s.Count == s.Index }

// plan is a grid that is checked and laid out.
type plan struct {
	Grid
	chunkers  []chunkers.PositionAwareChunker // at least one, which may be nil
	rerankers []reranker
	ks        []int
	metrics   []string
	groups    []*group
	cells     int
}

// group is what one chunker and one embedder or retriever have in common.
type group struct {
	number    int
	source    int                      // the number of its embedder or, beyond those, of its retriever
	chunker   int                      // of plan.chunkers
	embedder  ragtest.Embedder         // or
	retriever ragtest.Retriever[chunk] // one of them
	rankings  []*ranking
}

// ranking is what the cells have in common that differ in K alone.
type ranking struct {
	number   int
	reranker reranker
	fetchK   int // 0: none, as there is no reranker
	cells    []Cell
	curve    Curve
}

// depth is how many candidates the ranking needs for its cells.
func (r *ranking) depth() int {
	if r.reranker != nil {
		return r.fetchK
	}
	return slices.MaxFunc(r.cells, func(a, b Cell) int { return a.K - b.K }).K
}

// mostK keeps what is computed with K from overflowing.
const mostK = 1 << 28

func (g Grid) plan() (*plan, error) {
	p := &plan{Grid: g, chunkers: slices.Clone(g.Chunkers), rerankers: g.Rerankers, ks: g.K}
	for i, name := range g.ChunkerNames {
		c, err := catalog.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("field ChunkerNames: name %d: %w", i, err)
		}
		p.chunkers = append(p.chunkers, c)
	}
	switch {
	case g.Shard.Count < 0 || g.Shard.Index < 0 || g.Shard.Index >= max(g.Shard.Count, 1):
		return nil, fmt.Errorf("field Shard: got %d of %d, want an index from 0 to Count-1", g.Shard.Index, g.Shard.Count)
	case len(g.Embedders)+len(g.Retrievers) == 0:
		return nil, errors.New("fields Embedders and Retrievers: both are empty, want at least one of either")
	case len(p.chunkers) == 0 && len(g.Embedders) > 0:
		return nil, errors.New("fields Chunkers and ChunkerNames: both are empty, which only Retrievers that are indexed already allow")
	}
	if err := g.Budget.validate(); err != nil {
		return nil, err
	}
	if len(p.chunkers) == 0 {
		p.chunkers = []chunkers.PositionAwareChunker{nil}
	}
	if p.rerankers == nil {
		p.rerankers = []reranker{nil}
	}
	if p.ks == nil {
		p.ks = []int{5}
	}
	for i, k := range p.ks {
		if k < 1 || k > mostK || slices.Contains(p.ks[:i], k) {
			return nil, fmt.Errorf("field K: element %d is %d, want numbers from 1 to %d that differ", i, k, mostK)
		}
	}
	for i, k := range g.FetchK {
		if k < 1 || k > mostK || slices.Contains(g.FetchK[:i], k) {
			return nil, fmt.Errorf("field FetchK: element %d is %d, want numbers from 1 to %d that differ", i, k, mostK)
		}
	}
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	p.layOut()
	if p.cells == 0 {
		if g.Skip != nil {
			return nil, errors.New("field Skip: every combination is skipped, or has FetchK < K")
		}
		return nil, fmt.Errorf("fields K and FetchK: every combination of %v and %v has FetchK < K", p.ks, g.FetchK)
	}
	return p, p.checkCells()
}

func (p *plan) checkNames() error {
	for _, axis := range []struct {
		field      string
		components []any
	}{
		{"Chunkers", anys(p.chunkers)}, {"Embedders", anys(p.Embedders)}, {"Retrievers", anys(p.Retrievers)}, {"Rerankers", anys(p.rerankers)},
	} {
		first := map[string]int{}
		for i, c := range axis.components {
			name := nameOf(c)
			if j, ok := first[name]; ok {
				return fmt.Errorf("field %s: elements %d and %d have the same name %q: want a String method that tells them apart", axis.field, j, i, name)
			}
			first[name] = i
			if c == nil && axis.field != "Rerankers" && (axis.field != "Chunkers" || len(p.chunkers) > 1 || len(p.Chunkers) > 0) {
				return fmt.Errorf("field %s: element %d is nil", axis.field, i)
			}
		}
	}
	return nil
}

func anys[T any](list []T) []any {
	all := make([]any, len(list))
	for i, c := range list {
		all[i] = c
	}
	return all
}

// layOut makes groups, rankings and cells, in the order of the fields of the grid.
func (p *plan) layOut() {
	rankings := 0
	for c := range p.chunkers {
		sources := make([]*group, 0, len(p.Embedders)+len(p.Retrievers))
		for _, e := range p.Embedders {
			sources = append(sources, &group{embedder: e})
		}
		for _, r := range p.Retrievers {
			sources = append(sources, &group{retriever: r})
		}
		for i, g := range sources {
			g.number, g.source, g.chunker = len(p.groups), i, c
			for _, reranker := range p.rerankers {
				for _, fetchK := range p.fetchKs(reranker) {
					r := &ranking{number: rankings, reranker: reranker, fetchK: fetchK}
					if p.Skip != nil && p.Skip(p.configuration(g, r)) {
						continue
					}
					for _, k := range p.ks {
						switch {
						case reranker == nil || len(p.FetchK) > 0 && fetchK >= k || len(p.FetchK) == 0 && fetchK == 4*k:
							r.cells = append(r.cells, p.cell(g, r, k))
							p.cells++
						}
					}
					if len(r.cells) > 0 {
						r.curve.Configuration = r.cells[0].Configuration
						r.curve.Index = rankings
						g.rankings = append(g.rankings, r)
						rankings++
					}
				}
			}
			if len(g.rankings) > 0 {
				p.groups = append(p.groups, g)
			}
		}
	}
}

// fetchKs returns the numbers of candidates that a reranker is tried with.
func (p *plan) fetchKs(r reranker) []int {
	switch {
	case r == nil:
		return []int{0}
	case len(p.FetchK) > 0:
		return p.FetchK
	}
	var list []int
	for _, k := range p.ks {
		list = append(list, 4*k)
	}
	return list
}

func (p *plan) configuration(g *group, r *ranking) Configuration {
	return Configuration{Chunker: nameOf(p.chunkers[g.chunker]), Embedder: nameOf(g.embedder), Retriever: nameOf(g.retriever),
		Reranker: nameOf(r.reranker), FetchK: r.fetchK}
}

func (p *plan) cell(g *group, r *ranking, k int) Cell {
	c := Cell{Index: p.cells, K: k, Configuration: p.configuration(g, r)}
	c.Name = c.Configuration.name() + fmt.Sprintf("/k=%d", k)
	return c
}

// evaluation returns the evaluation of a cell as a single one, without its store.
func (p *plan) evaluation(g *group, r *ranking, c Cell) ragtest.TokenLevel {
	e := p.common(g)
	e.Name, e.Reranker, e.K, e.FetchK = c.Name, r.reranker, c.K, c.FetchK
	return e
}

// common returns what all cells of a group share.
func (p *plan) common(g *group) ragtest.TokenLevel {
	return ragtest.TokenLevel{Corpus: p.Corpus, Queries: p.Queries, Chunker: p.chunkers[g.chunker], Embedder: g.embedder,
		Retriever: g.retriever, Metrics: p.Metrics, MaxUnlocated: p.MaxUnlocated, SliceBy: p.SliceBy, EquivalentText: p.EquivalentText}
}

// checkCells validates the components and the ground truth with the first cells, and
// the metrics with all.
func (p *plan) checkCells() error {
	for _, m := range p.Metrics {
		p.metrics = append(p.metrics, m.Name())
	}
	if p.Metrics == nil {
		p.metrics = []string{ragtest.SpanRecall.Name(), ragtest.SpanPrecision.Name(), ragtest.SpanIoU.Name()}
	}
	if len(p.metrics) == 0 {
		return errors.New("field Metrics: empty, want nil or at least one metric")
	}
	one := p.Queries[:min(1, len(p.Queries))]
	for i, g := range p.groups {
		for _, r := range g.rankings {
			for _, c := range r.cells {
				e := p.evaluation(g, r, c)
				if i > 0 {
					e.Queries, e.SliceBy = one, nil
				}
				if err := e.Validate(); err != nil {
					return fmt.Errorf("%s: %w", c.Name, err)
				}
			}
		}
	}
	return nil
}

// nameOf returns what a component calls itself, or its type; "" for nil.
func nameOf(component any) string {
	switch c := component.(type) {
	case nil:
		return ""
	case fmt.Stringer:
		return c.String()
	}
	return fmt.Sprintf("%T", component)
}

// stopped returns the error of a context that is done.
func stopped(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// name returns the settings as a benchmark names them, such as
// "chunker=fixed/size=200/embedder=lexical".
func (c Configuration) name() string {
	var parts []string
	for _, s := range [][2]string{{"chunker", c.Chunker}, {"embedder", c.Embedder}, {"retriever", c.Retriever}, {"reranker", c.Reranker}} {
		if s[1] != "" {
			parts = append(parts, s[0]+"="+strings.Join(strings.Fields(s[1]), "_"))
		}
	}
	if c.FetchK > 0 {
		parts = append(parts, fmt.Sprintf("fetchk=%d", c.FetchK))
	}
	return strings.Join(parts, "/")
}
