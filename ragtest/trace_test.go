package ragtest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// The intervals of each stage tell of all its items, in order, without gaps.
func TestTraceCoversTheRun(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(e *ragtest.TokenLevel)
		want   []string // stage, items, batches
	}{
		"batches": {func(*ragtest.TokenLevel) {}, []string{"chunk 2 2", "embed 4 1", "index 5 1", "embed queries 3 1", "retrieve 3 1", "score 3 1"}},
		"one query at a time": {func(e *ragtest.TokenLevel) { e.Store = searchFails{} },
			[]string{"chunk 2 2", "embed 4 1", "index 5 1", "embed queries 3 1", "retrieve 3 3", "score 3 1"}},
		"function": {func(e *ragtest.TokenLevel) { found()(e) }, []string{"retrieve 3 3", "score 3 1"}},
		"retriever and reranker": {func(e *ragtest.TokenLevel) {
			e.Embedder, e.Chunker, e.Retriever = nil, nil, fixedLists{[][]scored{{hit("a.md", 0, 5)}, {hit("a.md", 0, 5)}, {hit("a.md", 0, 5)}}}
			reranked(func(chunks []scored) ([]scored, error) { return chunks, nil })(e)
		}, []string{"retrieve 3 1", "rerank 3 3", "score 3 1"}},
	} {
		e := fruit(t)
		tc.change(&e)
		r, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		items, batches := 0, 0
		for i, interval := range r.Trace.Intervals {
			if interval.First != items || interval.Count < 1 || interval.End.Before(interval.Start) {
				t.Errorf("%s: got interval %+v after %d items", name, interval, items)
			}
			items, batches = items+interval.Count, batches+1
			if i+1 == len(r.Trace.Intervals) || r.Trace.Intervals[i+1].Stage != interval.Stage {
				got = append(got, fmt.Sprint(interval.Stage, " ", items, " ", batches))
				items, batches = 0, 0
			}
		}
		if diff := cmp.Diff(got, tc.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

// Under -v, and only then, long work says now and then how far it is.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for verbose, want := range map[string][]string{
			"true":  {"ragtest: retrieve: 13 of 40", "ragtest: retrieve: 29 of 40"},
			"false": nil,
		} {
			setFlag(t, "test.v", verbose)
			e := fruit(t)
			e.Queries = nil
			for i := range 40 {
				e.Queries = append(e.Queries, tokenQuery(fmt.Sprint("query ", i)))
			}
			e.Embedder, e.Chunker = nil, nil
			e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(context.Context, string, int) ([]scored, error) {
				time.Sleep(500 * time.Millisecond) // four at once
				return nil, nil
			})
			said := record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(tb, e) })
			if diff := cmp.Diff(sayings(said, "output"), want); diff != "" {
				t.Errorf("-v=%s (-got +want):\n%s", verbose, diff)
			}
		}
	})
}
