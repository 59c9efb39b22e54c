package ragtest

import (
	"context"

	"github.com/rageval/rageval/chunkers"
)

// Embedder turns texts into vectors: see [chunkers.Embedder]. [CheckEmbedder]
// verifies one against this contract.
type Embedder = chunkers.Embedder

// QueryEmbedder is implemented by embedders of asymmetric models, which embed
// queries differently from chunks. The contract is that of [Embedder].
type QueryEmbedder interface {
	EmbedQueries(ctx context.Context, queries []string) ([][]float32, error)
}

// ScoredChunk is a retrieved chunk. A higher score is better; the order in
// which chunks are returned, not the score, is what rank metrics judge.
type ScoredChunk[C any] struct {
	Chunk C
	Score float64
}

// VectorStore holds chunks by their vectors. C is [chunkers.Chunk] or
// [chunkers.PositionAwareChunk]. [CheckStore] verifies a store against this
// contract.
//
// Add appends. It is called from one goroutine, in the order of the corpus,
// possibly several times; insertion order is the order of these calls. The
// arguments are neither modified nor kept, but the chunks' metadata may be.
//
// Search returns the k chunks whose vectors are most similar to the query,
// best first, ties by insertion order; all chunks if there are fewer than k;
// none for k = 0. It neither modifies nor keeps the query, and is called from
// several goroutines at once, never during Add.
//
// An evaluation never empties or closes a store: whoever made it does. It keeps
// the vectors in a [MemoryStore] too, unless the store is one, to tell what the
// store does not find though exact search does: see [LossIndex].
type VectorStore[C any] interface {
	Add(ctx context.Context, chunks []C, vectors [][]float32) error
	Search(ctx context.Context, query []float32, k int) ([]ScoredChunk[C], error)
}

// BatchSearcher is implemented by vector stores that can search for many
// queries faster together. The result holds one list for each query, equal to
// what Search returns for it.
type BatchSearcher[C any] interface {
	SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]ScoredChunk[C], error)
}

// Retriever finds chunks for queries in whatever way it likes: lexical, hybrid,
// or a search that is already in production.
//
// Index replaces what the retriever held by the given chunks, in corpus order.
// Retrieve returns, for each query, up to k chunks, best first; k may exceed the
// number of chunks. The arguments are neither modified nor kept.
type Retriever[C any] interface {
	Index(ctx context.Context, chunks []C) error
	Retrieve(ctx context.Context, queries []string, k int) ([][]ScoredChunk[C], error)
}

// Reranker reorders the candidates of one query and may drop some: it returns
// only chunks that it was given, none twice, best first. It must be safe for
// concurrent use, and must neither modify nor keep its arguments. [CheckReranker]
// verifies a reranker against this contract.
type Reranker[C any] interface {
	Rerank(ctx context.Context, query string, chunks []ScoredChunk[C]) ([]ScoredChunk[C], error)
}
