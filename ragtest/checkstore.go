package ragtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// CheckStore verifies a vector store, as [testing/fstest.TestFS] verifies a
// file system. Use it in the test of your own store:
//
//	if err := ragtest.CheckStore(t.Context(), newStore); err != nil {
//		t.Error(err)
//	}
//
// newStore returns a new, empty store; CheckStore calls it some thirty times and
// puts at most a few hundred chunks into each. It closes none: a newStore that
// opens connections or files registers their closing with t.Cleanup. If it returns
// an error or a nil store, or is nil itself, that is reported once and nothing more
// is checked.
//
// The result is nil if the store keeps every rule, and otherwise all violations
// joined, each with the rule's name before it:
//
//   - empty store: a search finds nothing and is no error.
//   - order: the best come first; the score is the cosine similarity, to 1e-5,
//     of vectors of any length.
//   - k: none are found for k = 0, and all where k exceeds their number.
//   - ties: equal vectors are ranked in the order in which they were added, over
//     several calls of Add, and within every k.
//   - duplicates: chunks of equal text, and of equal vectors too, are kept and
//     found each at its own place.
//   - chunks: a chunk comes back as it went in, with its ID, place, text and
//     metadata. (No metadata and empty metadata are the same.)
//   - dimension: vectors of differing dimension, an empty vector, and too few or
//     too many vectors for the chunks are an error of Add; a query of another
//     dimension is an error of Search.
//   - finite: NaN or an infinite component is an error of Add and of Search.
//   - zero vector: it scores 0, stored or searched for, and has its place between
//     positive and negative scores; no score is NaN.
//   - arguments: they are not modified, and what the caller writes to them
//     afterwards does not show. (Metadata may be kept.)
//   - prefix: the k best are the first k of the k+1 best.
//   - exact: on pseudo-random vectors of several dimensions, scores equal those
//     of a search in float64 to 1e-5, and the ranking to where scores are that
//     close.
//   - concurrency: searches at the same time find what they find alone. Run the
//     test with -race.
//   - cancellation: Add and Search return an error if their context is done.
//   - batch: if the store is a [BatchSearcher], SearchBatch returns what Search
//     returns for each query, and the same errors.
//
// If ctx is done, CheckStore returns its cause together with what it has found.
func CheckStore[C chunkers.Indexed](ctx context.Context, newStore func() (VectorStore[C], error)) error {
	if newStore == nil {
		return errors.New("checking the store: newStore is nil: want a function that makes a store")
	}
	c := &storeCheck[C]{conformance: conformance{ctx: ctx, component: "store"}, newStore: newStore}
	return c.run([]rule{
		{"empty store", c.emptyStore},
		{"order", c.order},
		{"k", c.numberFound},
		{"ties", c.ties},
		{"duplicates", c.duplicates},
		{"chunks", c.chunksIntact},
		{"dimension", c.dimension},
		{"finite", c.finite},
		{"zero vector", c.zeroVector},
		{"arguments", c.arguments},
		{"prefix", c.prefix},
		{"exact", c.exact},
		{"concurrency", c.concurrency},
		{"cancellation", c.cancellation},
		{"batch", c.batch},
	})
}

// scoreTolerance is how far a score may be from the cosine similarity.
const scoreTolerance = 1e-5

type storeCheck[C chunkers.Indexed] struct {
	conformance
	newStore func() (VectorStore[C], error)
}

// store returns a new store that holds the chunks; false after a violation.
func (c *storeCheck[C]) store(chunks []C, vectors [][]float32) (VectorStore[C], bool) {
	s, err := c.newStore()
	switch {
	case err != nil:
		c.errorf("making a store: %w", err)
		c.stop = true
		return nil, false
	case s == nil:
		c.errorf("making a store: got nil")
		c.stop = true
		return nil, false
	}
	return s, len(chunks) == 0 || c.add(s, chunks, vectors)
}

func (c *storeCheck[C]) add(s VectorStore[C], chunks []C, vectors [][]float32) bool {
	if err := s.Add(c.ctx, chunks, vectors); err != nil {
		c.errorf("adding %d chunks: %w", len(chunks), err)
		return false
	}
	return true
}

func (c *storeCheck[C]) search(s VectorStore[C], query []float32, k int) ([]ScoredChunk[C], bool) {
	found, err := s.Search(c.ctx, query, k)
	if err != nil {
		c.errorf("searching with k = %d: %w", k, err)
		return nil, false
	}
	return found, true
}

// expect searches and compares the result with what is wanted.
func (c *storeCheck[C]) expect(s VectorStore[C], query []float32, k int, want []ScoredChunk[C]) {
	if got, ok := c.search(s, query, k); ok && !equalRankings(got, want, scoreTolerance) {
		c.errorf("searching for %v with k = %d: got %v, want %v", query, k, describe(got), describe(want))
	}
}

func equalRankings[C chunkers.Indexed](a, b []ScoredChunk[C], tolerance float64) bool {
	return slices.EqualFunc(a, b, func(x, y ScoredChunk[C]) bool {
		return math.Abs(x.Score-y.Score) <= tolerance && equalChunks(x.Chunk, y.Chunk)
	})
}

func equalChunks[C chunkers.Indexed](a, b C) bool {
	switch a := any(a).(type) {
	case chunkers.Chunk:
		b := any(b).(chunkers.Chunk)
		return a.ID == b.ID && a.Doc == b.Doc && a.Text == b.Text && maps.Equal(a.Metadata, b.Metadata)
	case chunkers.PositionAwareChunk:
		b := any(b).(chunkers.PositionAwareChunk)
		return a.ID == b.ID && a.Span == b.Span && a.Text == b.Text && maps.Equal(a.Metadata, b.Metadata)
	}
	return false
}

// describe lists the ranking; beyond the first few chunks it only counts.
func describe[C chunkers.Indexed](ranking []ScoredChunk[C]) string {
	const most = 8
	var b strings.Builder
	for i, r := range ranking[:min(most, len(ranking))] {
		if i > 0 {
			b.WriteString(", ")
		}
		switch chunk := any(r.Chunk).(type) {
		case chunkers.Chunk:
			fmt.Fprintf(&b, "%s %q", chunk.Doc, chunk.Text)
		case chunkers.PositionAwareChunk:
			fmt.Fprintf(&b, "%v %q", chunk.Span, chunk.Text)
		}
		fmt.Fprintf(&b, " %.6g", r.Score)
	}
	if more := len(ranking) - most; more > 0 {
		fmt.Fprintf(&b, ", and %d more", more)
	}
	return "[" + b.String() + "]"
}

// newChunk returns a chunk of the given text, which begins at the given
// character of the document.
func newChunk[C chunkers.Indexed](doc spans.DocumentID, start int, text string, metadata map[string]string) C {
	var chunk C
	switch p := any(&chunk).(type) {
	case *chunkers.Chunk:
		*p = chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: doc, Text: text, Metadata: metadata}
	case *chunkers.PositionAwareChunk:
		*p = chunkers.PositionAwareChunk{
			ID:       chunkers.NewPositionAwareChunkID(text),
			Span:     spans.Span{Doc: doc, Start: start, End: start + len([]rune(text))},
			Text:     text,
			Metadata: metadata,
		}
	}
	return chunk
}

// numbered returns n chunks with texts that differ.
func numbered[C chunkers.Indexed](n int) []C {
	chunks := make([]C, n)
	for i := range chunks {
		chunks[i] = newChunk[C]("checkstore.md", 16*i, fmt.Sprintf("passage %d", i), nil)
	}
	return chunks
}
