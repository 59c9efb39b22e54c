package ragtest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Every stage ends promptly when the context is cancelled within it, with the
// cause as its error, and leaves no goroutine behind.
func TestCancellation(t *testing.T) {
	type place = chunkers.PositionAwareChunk
	cause := errors.New("had enough")
	for at, stage := range map[string]string{
		"Chunk": "chunk", "Embed": "embed", "Add": "index", "EmbedQueries": "embed queries", "Search": "retrieve",
		"SearchBatch": "retrieve", "Index": "index", "Retrieve": "retrieve", "RetrieverFunc": "retrieve", "Rerank": "rerank",
	} {
		t.Run(at, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			wait := func(ctx context.Context, where string) error {
				if where != at {
					return nil
				}
				cancel(cause)
				<-ctx.Done()
				return errors.New("interrupted") // as by a client that does not wrap
			}
			e := fruit(t)
			e.Chunker = chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				if err := wait(ctx, "Chunk"); err != nil {
					return nil, err
				}
				return placedLines{}.ChunkWithPositions(ctx, doc)
			})
			embed := func(where string) embedFunc {
				return func(ctx context.Context, texts []string) ([][]float32, error) {
					if err := wait(ctx, where); err != nil {
						return nil, err
					}
					return letters{}.Embed(ctx, texts)
				}
			}
			e.Embedder = asymmetric{embed("Embed"), embed("EmbedQueries")}
			e.Reranker = rerankFunc[place](func(ctx context.Context, _ string, chunks []scored) ([]scored, error) {
				return chunks, wait(ctx, "Rerank")
			})
			searcher := waitingSearch{wait: wait}
			switch at {
			case "Add", "Search":
				e.Store = searcher
			case "SearchBatch":
				e.Store = waitingBatch{searcher}
			case "Index", "Retrieve":
				e.Embedder, e.Retriever = nil, searcher
			case "RetrieverFunc":
				e.Embedder, e.Retriever = nil, ragtest.RetrieverFunc[place](func(ctx context.Context, _ string, _ int) ([]scored, error) {
					return nil, wait(ctx, at)
				})
			}
			_, err := e.Evaluate(ctx)
			if want := fmt.Sprintf("stopped at stage %q: context canceled: had enough", stage); !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || err.Error() != want {
				t.Errorf("got error %v, want %s", err, want)
			}
			expectGoroutines(t, before)
		})
	}
}

// So does every stage of a stream, and reading it.
func TestCancelledStream(t *testing.T) {
	cause := errors.New("had enough")
	for at, want := range map[string]string{
		"Read 0": "had enough", "Read 1": "stopped before the first stage: context canceled: had enough", "Read 2": `stopped at stage "embed queries": context canceled: had enough`,
		"Chunk": `stopped at stage "chunk": context canceled: had enough`, "Embed": `stopped at stage "embed": context canceled: had enough`,
		"EmbedQueries": `stopped at stage "embed queries": context canceled: had enough`, "Rerank": `stopped at stage "rerank": context canceled: had enough`,
	} {
		t.Run(at, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			embedded := false
			wait := func(ctx context.Context, where string) error {
				if where != at {
					return nil
				}
				cancel(cause)
				<-ctx.Done()
				return errors.New("interrupted")
			}
			e := fruit(t)
			docs := streamOf(e.Corpus)
			e.Corpus = nil
			e.Chunker = chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				if embedded { // not when planning
					if err := wait(ctx, "Chunk"); err != nil {
						return nil, err
					}
				}
				return placedLines{}.ChunkWithPositions(ctx, doc)
			})
			embed := func(where string) embedFunc {
				return func(ctx context.Context, texts []string) ([][]float32, error) {
					embedded = true
					if err := wait(ctx, where); err != nil {
						return nil, err
					}
					return letters{}.Embed(ctx, texts)
				}
			}
			e.Embedder = asymmetric{embed("Embed"), embed("EmbedQueries")}
			e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(ctx context.Context, _ string, chunks []scored) ([]scored, error) {
				return chunks, wait(ctx, "Rerank")
			})
			time := 0
			_, err := e.EvaluateStream(ctx, func(yield func(*spans.Document, error) bool) {
				reading := fmt.Sprint("Read ", time)
				time++
				for doc := range docs {
					_ = wait(ctx, reading)
					if !yield(doc, nil) {
						return
					}
				}
			})
			if !errors.Is(err, cause) || err.Error() != want {
				t.Errorf("got error %v, want %s", err, want)
			}
			expectGoroutines(t, before)
		})
	}
}

func expectGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("got %d goroutines, %d before", runtime.NumGoroutine(), before)
}

// waitingSearch is a store and a retriever that finds nothing.
type waitingSearch struct {
	wait func(ctx context.Context, where string) error
}

func (s waitingSearch) Add(ctx context.Context, _ []chunkers.PositionAwareChunk, _ [][]float32) error {
	return s.wait(ctx, "Add")
}

func (s waitingSearch) Search(ctx context.Context, _ []float32, _ int) ([]scored, error) {
	return nil, s.wait(ctx, "Search")
}

func (s waitingSearch) Index(ctx context.Context, _ []chunkers.PositionAwareChunk) error {
	return s.wait(ctx, "Index")
}

func (s waitingSearch) Retrieve(ctx context.Context, queries []string, _ int) ([][]scored, error) {
	return make([][]scored, len(queries)), s.wait(ctx, "Retrieve")
}

type waitingBatch struct{ waitingSearch }

func (s waitingBatch) SearchBatch(ctx context.Context, queries [][]float32, _ int) ([][]scored, error) {
	return make([][]scored, len(queries)), s.wait(ctx, "SearchBatch")
}

// Many queries, or metrics of one's own, may take long to score.
func TestCancelledWhileScoring(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	scored := 0
	e := fruit(t)
	e.Metrics = []ragtest.TokenMetric{ragtest.NewTokenMetric("slow", func(ragtest.TokenOutcome) float64 {
		scored++
		cancel()
		return 1
	})}
	_, err := e.Evaluate(ctx)
	if want := `stopped at stage "score": context canceled`; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if scored != 1 {
		t.Errorf("scored %d queries, want the one under way", scored)
	}
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := fruit(t).Evaluate(ctx)
	if want := "stopped before the first stage: context canceled"; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// A time limit of a component's own is that component's error, not the run's.
func TestDeadlineOfAComponent(t *testing.T) {
	e := fruit(t)
	e.Embedder = embedFunc(func(context.Context, []string) ([][]float32, error) { return nil, context.DeadlineExceeded })
	_, err := e.Evaluate(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want one that wraps context.DeadlineExceeded", err)
	}
	expectError(t, err, "embedding chunk 0 of a.md and 3 more")
}
