package ragtest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/rageval/rageval/internal/parallel"
)

// round retrieves, reranks and scores all queries.
func (e *engine[C]) round(ctx context.Context) (err error) {
	defer func() { err = e.stopped(ctx, err) }()
	ctx = e.usage.context(ctx)
	e.trace.rewind()
	e.usage.rewind()
	retrieved, err := e.retrieve(ctx)
	if err != nil {
		return err
	}
	lists, err := e.candidates(retrieved)
	if err != nil {
		return err
	}
	e.found = slices.Clone(lists)
	if e.reranker != nil {
		if err := e.rerank(ctx, lists); err != nil {
			return err
		}
	}
	return e.score(ctx, lists)
}

func (e *engine[C]) retrieve(ctx context.Context) ([][]ScoredChunk[C], error) {
	var lists [][]ScoredChunk[C]
	var err error
	switch r := e.retriever.(type) {
	case *dense[C]:
		if r.pooled != nil {
			done := e.trace.start("retrieve", 0, len(e.queries))
			lists, e.ranks, err = r.searchPooled(ctx, e.indexed, e.fetchK, e.wanted)
			done()
			break
		}
		if s, ok := r.store.(*MemoryStore[C]); ok && !e.looping {
			done := e.trace.start("retrieve", 0, len(e.queries))
			lists, e.ranks, err = s.searchAndRank(ctx, e.vectors, e.fetchK, e.wanted)
			done()
			break
		}
		lists, err = r.search(ctx, e.texts(), e.vectors, e.fetchK, e.trace)
	case RetrieverFunc[C]:
		lists, err = r.retrieve(ctx, e.texts(), e.fetchK, e.trace)
	default:
		done := e.trace.start("retrieve", 0, len(e.queries))
		lists, err = r.Retrieve(ctx, e.texts(), e.fetchK)
		done()
	}
	if err != nil {
		return nil, fmt.Errorf("retrieving: %w", err)
	}
	if len(lists) != len(e.queries) {
		return nil, fmt.Errorf("retrieving: got %d lists of chunks for %d queries", len(lists), len(e.queries))
	}
	return lists, nil
}

// candidates returns the chunks that were retrieved for each query, checked and
// without repetitions.
func (e *engine[C]) candidates(retrieved [][]ScoredChunk[C]) ([][]ScoredChunk[C], error) {
	total := 0
	for _, list := range retrieved {
		total += min(len(list), e.fetchK)
	}
	all := make([]ScoredChunk[C], 0, total)
	lists := make([][]ScoredChunk[C], len(retrieved))
	times := map[identity]int{} // how often each chunk was retrieved for a query
	e.repeated = 0
	for i, list := range retrieved {
		clear(times)
		begin := len(all)
		for rank, h := range list[:min(len(list), e.fetchK)] {
			again, err := e.check(h, times)
			if err == nil {
				h.Chunk, err = e.level.complete(h.Chunk, e.known != nil)
			}
			if err != nil {
				return nil, fmt.Errorf("retrieving for %s: rank %d: %w", e.query(i), rank+1, err)
			}
			if again {
				e.repeated++
			} else {
				all = append(all, h)
			}
		}
		lists[i] = all[begin:len(all):len(all)]
	}
	return lists, nil
}

// check returns an error for a chunk that cannot have been retrieved, and whether
// it was before.
func (e *engine[C]) check(h ScoredChunk[C], times map[identity]int) (again bool, err error) {
	if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
		return false, fmt.Errorf("the score is %v, want a finite number", h.Score)
	}
	id := e.level.identity(h.Chunk)
	// A chunker may index one span twice, under two texts.
	most := 1
	if e.known != nil {
		most = e.known[id]
	}
	if most == 0 {
		return false, fmt.Errorf("this run did not add the chunk %v (%q); %s", id, abbreviate(h.Chunk.IndexText(), 60), e.remedy())
	}
	times[id]++
	if times[id] <= most {
		return false, nil
	}
	if !e.level.keepsFirst() {
		return false, fmt.Errorf("the chunk %v was returned twice; %s", id, e.remedy())
	}
	return true, nil
}

// remedy says what to do about chunks that should not have been retrieved.
func (e *engine[C]) remedy() string {
	switch {
	case e.known == nil:
		return "want each once"
	case e.components().Retriever == "":
		return "the store already held chunks: give each evaluation a fresh one"
	}
	return "the store already held chunks: give each evaluation a fresh one, or leave Chunker nil if Retriever is indexed already"
}

func (e *engine[C]) rerank(ctx context.Context, lists [][]ScoredChunk[C]) error {
	return parallel.Do(ctx, callsAtOnce, len(lists), func(ctx context.Context, i int) error {
		if len(lists[i]) == 0 {
			return nil
		}
		done := e.trace.start("rerank", i, 1)
		reranked, err := e.reranker.Rerank(ctx, e.queries[i].Text, slices.Clone(lists[i]))
		if err == nil {
			lists[i], err = e.checkReranked(lists[i], reranked)
		}
		if err != nil {
			return fmt.Errorf("reranking for %s: %w", e.query(i), err)
		}
		done()
		return nil
	})
}

// checkReranked returns the chunks of reranked, and an error unless it holds only
// what was given.
func (e *engine[C]) checkReranked(given, reranked []ScoredChunk[C]) ([]ScoredChunk[C], error) {
	left := make(map[identity]int, len(given))
	for _, h := range given {
		left[e.level.identity(h.Chunk)]++
	}
	checked := make([]ScoredChunk[C], 0, len(reranked))
	for rank, h := range reranked {
		id := e.level.identity(h.Chunk)
		n, ok := left[id]
		switch {
		case !ok:
			return nil, fmt.Errorf("rank %d: the reranker returned the chunk %v that it was not given", rank+1, id)
		case n == 0:
			return nil, fmt.Errorf("rank %d: the reranker returned the chunk %v twice", rank+1, id)
		case math.IsNaN(h.Score) || math.IsInf(h.Score, 0):
			return nil, fmt.Errorf("rank %d: the reranker returned the chunk %v with the score %v, want a finite number", rank+1, id, h.Score)
		}
		left[id]--
		var err error
		if h.Chunk, err = e.level.complete(h.Chunk, e.known != nil); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank+1, err)
		}
		checked = append(checked, h)
	}
	return checked, nil
}

func (e *engine[C]) score(ctx context.Context, lists [][]ScoredChunk[C]) error {
	defer e.trace.start("score", 0, len(lists))()
	e.ranked = slices.Clone(lists)
	n := len(e.metrics)
	all := make([]float64, len(lists)*n)
	scores := make([][]float64, len(lists))
	for i := range lists {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		lists[i] = e.fitting(lists[i][:min(len(lists[i]), e.k)])
		scores[i] = all[i*n : (i+1)*n]
		if err := e.level.score(i, lists[i], scores[i]); err != nil {
			return fmt.Errorf("%s: %w", e.query(i), err)
		}
	}
	e.hits, e.scores = lists, scores
	return nil
}
