package ragtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/stats"
)

// Loss says how much of a score one stage lost.
type Loss struct {
	Stage  string  `json:"stage"`  // see Result.RecallLosses and Result.PrecisionLosses
	Amount float64 `json:"amount"` // in units of the score
}

// The stages at which recall is lost. Let cov(S) be how much relevant text the
// chunks S hold, and best(S) how much the best K of them do, of the choices that a
// TokenBudget has room for; A are all chunks, E the FetchK nearest by exact search
// over the same vectors, F the FetchK that were retrieved, and R those that are
// judged in the end. Divided by the amount of relevant text, the losses add up to 1 -
// recall.
//
// best is exact, unless there is a TokenBudget, or equivalent text counts and one
// chunk holds parts that are apart. Then it is an upper bound, as Result.LossBounds
// says: the losses still add up, but part of an amount may belong to another stage.
const (
	// LossUnlocatable is what no chunk holds: all - cov(A).
	LossUnlocatable = "unlocatable"
	// LossBudget is what no K chunks hold: cov(A) - best(A). A larger K, or
	// TokenBudget, or other chunks are the only remedy.
	LossBudget = "budget"
	// LossRetriever is what the embedder ranks too low: best(A) - best(E). Where
	// there are no vectors to search exactly, it is best(A) - best(F), and there is
	// no loss of the index.
	LossRetriever = "retriever"
	// LossIndex is what the store does not find though exact search does: best(E)
	// - best(F). It is negative where the store is lucky.
	LossIndex = "index"
	// LossReranker is what was retrieved but is not among the K best: best(F) -
	// cov(R).
	LossReranker = "reranker"
)

// The kinds of retrieved text that is not relevant. Divided by the amount of
// retrieved text, the losses add up to 1 - precision.
const (
	// LossGranularity is in chunks that also hold relevant text.
	LossGranularity = "chunk granularity"
	// LossWrongChunks is in chunks that hold none.
	LossWrongChunks = "wrong chunks"
)

// evidence is what a level knows about relevant text, which it counts in
// characters at token level and in chunks at chunk level.
type evidence[C chunkers.Indexed] interface {
	// ceilings returns the best scores that any choice of the indexed chunks has: of
	// recall, for K of them; of other metrics, for as many as were retrieved.
	ceilings(query, retrieved int) []ceiling
	// relevantText returns the amount of relevant text of a query.
	relevantText(query int) int
	// inIndex returns how much of it all indexed chunks hold, and how much the best
	// K of them do.
	inIndex(query int) (all, best int)
	// in returns how much of it the given chunks hold, and how much the best K of
	// them do.
	in(query int, hits []ScoredChunk[C]) (all, best int)
	// irrelevantText returns how much of the text of the given chunks is not
	// relevant, in chunks that also hold relevant text and in chunks that do not,
	// and the amount of their text in all.
	irrelevantText(query int, hits []ScoredChunk[C]) (beside, apart, all int)
	// relevantRows returns the indexed chunks that hold relevant text of a query, as
	// ascending insertion orders.
	relevantRows(query int) []int
	// holders returns those that hold part of p.
	holders(query int, p Passage) []int
	// holder returns a function that reports whether a chunk holds part of p.
	holder(query int, p Passage) func(c C) bool
}

// diagnose fills in where the scores were lost.
func (e *engine[C]) diagnose(ctx context.Context, r *Result) error {
	exact, err := e.searchExactly(ctx)
	if err != nil {
		return err
	}
	if exact.compared {
		recall := indexRecall(exact.hits, e.found)
		r.Diagnostics.IndexRecall = &recall
	}
	n := len(e.queries)
	recall, precision := make([][]float64, n), make([][]float64, n)
	for i := range r.Queries {
		q := &r.Queries[i]
		exactly := e.found[i]
		if exact.compared {
			exactly = exact.hits[i]
		}
		e.loseRecall(i, exactly, exact.ranks != nil, q)
		if e.known != nil {
			q.Ceilings, q.CeilingBounds = split(e.level.ceilings(i, len(e.hits[i])))
		}
		e.losePrecision(i, q)
		recall[i], precision[i] = amounts(q.RecallLosses), amounts(q.PrecisionLosses)
		for j := range q.Missed {
			p := &q.Missed[j]
			rows := e.level.holders(i, *p)
			e.locateLoss(i, p, len(rows) > 0, exactly, q.RecallLosses)
			if p.Rank == 0 && exact.ranks != nil {
				p.Rank = lowestRank(rows, e.wanted[i], exact.ranks[i])
			}
		}
	}
	r.RecallLosses = means(r.Queries[0].RecallLosses, recall)
	r.PrecisionLosses = means(r.Queries[0].PrecisionLosses, precision)
	if e.known != nil {
		r.Ceilings, r.CeilingBounds = meanCeilings(r.Queries)
	}
	e.level.describe(e.hits, r)
	return nil
}

// exactSearch is what exact search over the vectors finds for each query.
type exactSearch[C chunkers.Indexed] struct {
	compared bool               // whether the store is another one
	hits     [][]ScoredChunk[C] // FetchK of them; nil unless compared
	ranks    [][]int            // of the chunks that hold relevant text; nil if there are no vectors
}

// searchExactly returns what exact search finds. Where the store is exact itself
// that is known already, except after a benchmark, whose rounds leave it out.
func (e *engine[C]) searchExactly(ctx context.Context) (exactSearch[C], error) {
	d, ok := e.retriever.(*dense[C])
	if !ok || e.known == nil {
		return exactSearch[C]{}, nil
	}
	if d.exact == nil && e.ranks != nil {
		return exactSearch[C]{ranks: e.ranks}, nil
	}
	store := d.exact
	if store == nil {
		store = d.store.(*MemoryStore[C])
	}
	hits, ranks, err := store.searchAndRank(ctx, e.vectors, e.fetchK, e.wanted)
	if err != nil {
		return exactSearch[C]{}, fmt.Errorf("searching exactly for comparison: %w", err)
	}
	return exactSearch[C]{d.exact != nil, hits, ranks}, nil
}

// lowestRank returns the lowest rank of any of the rows, 0 if there is none. ranked,
// whose ranks are given, is ascending.
func lowestRank(rows, ranked, ranks []int) int {
	lowest := 0
	for _, row := range rows {
		if i, ok := slices.BinarySearch(ranked, row); ok && (lowest == 0 || ranks[i] < lowest) {
			lowest = ranks[i]
		}
	}
	return lowest
}

// indexRecall returns the mean share of the exact hits that were found, by their
// text: equal texts have equal vectors.
func indexRecall[C chunkers.Indexed](exact, found [][]ScoredChunk[C]) float64 {
	shares := make([]float64, len(exact))
	nearest := map[string]bool{}
	for i, list := range exact {
		clear(nearest)
		for _, h := range list {
			nearest[h.Chunk.IndexText()] = true
		}
		n := 0
		for _, h := range found[i] {
			if nearest[h.Chunk.IndexText()] {
				n++
			}
		}
		shares[i] = float64(min(n, len(list))) / float64(len(list))
	}
	return stats.Mean(shares)
}

// loseRecall sets the losses of recall of a query.
func (e *engine[C]) loseRecall(query int, exactly []ScoredChunk[C], exact bool, q *QueryResult) {
	all := e.level.relevantText(query)
	share := func(amount int) float64 {
		if all == 0 {
			return 0
		}
		return float64(amount) / float64(all)
	}
	lose := func(stage string, amount int) { q.RecallLosses = append(q.RecallLosses, Loss{stage, share(amount)}) }
	_, fetched := e.level.in(query, e.found[query])
	left, _ := e.level.in(query, e.hits[query])
	reachable := all
	if e.known != nil {
		held, best := e.level.inIndex(query)
		lose(LossUnlocatable, all-held)
		lose(LossBudget, held-best)
		reachable = best
	}
	if exact {
		_, best := e.level.in(query, exactly)
		lose(LossRetriever, reachable-best)
		lose(LossIndex, best-fetched)
	} else {
		lose(LossRetriever, reachable-fetched)
	}
	lose(LossReranker, fetched-left)
}

func (e *engine[C]) losePrecision(query int, q *QueryResult) {
	beside, apart, all := e.level.irrelevantText(query, e.hits[query])
	q.PrecisionLosses = []Loss{
		{LossGranularity, float64(beside) / float64(max(all, 1))},
		{LossWrongChunks, float64(apart) / float64(max(all, 1))},
	}
}

// locateLoss sets the first stage that lost a passage, and its rank where the
// final ranking has one of its chunks. A passage that no stage had to lose, since
// what it kept instead was worth as much, was lost to the budget.
func (e *engine[C]) locateLoss(query int, p *Passage, held bool, exactly []ScoredChunk[C], losses []Loss) {
	holds := e.level.holder(query, *p)
	lost := func(stage string) bool { return amount(losses, stage) > 0 }
	in := func(hits []ScoredChunk[C]) int {
		return slices.IndexFunc(hits, func(h ScoredChunk[C]) bool { return holds(h.Chunk) })
	}
	p.Rank = in(e.ranked[query]) + 1
	switch {
	case e.known != nil && !held:
		p.Lost = LossUnlocatable
	case in(exactly) < 0 && lost(LossRetriever):
		p.Lost = LossRetriever
	case in(e.found[query]) < 0 && lost(LossIndex):
		p.Lost = LossIndex
	case in(e.found[query]) >= 0 && lost(LossReranker):
		p.Lost = LossReranker
	default:
		p.Lost = LossBudget
	}
}

func amounts(losses []Loss) []float64 {
	list := make([]float64, len(losses))
	for i, l := range losses {
		list[i] = l.Amount
	}
	return list
}

// amount returns the amount of a stage: 0 if it is not among the losses.
func amount(losses []Loss, stage string) float64 {
	for _, l := range losses {
		if l.Stage == stage {
			return l.Amount
		}
	}
	return 0
}

// means returns the mean amount of each stage.
func means(stages []Loss, rows [][]float64) []Loss {
	losses := make([]Loss, len(stages))
	for i, l := range stages {
		losses[i] = Loss{l.Stage, stats.Mean(column(rows, i))}
	}
	return losses
}
