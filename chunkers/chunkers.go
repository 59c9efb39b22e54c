// Package chunkers cuts documents into chunks, and knows where each chunk came
// from.
//
// A [Chunker] returns texts: enough for chunk-level ground truth. A
// [PositionAwareChunker] returns pieces with their place in the document:
// token-level ground truth, which compares chunkers fairly, needs those.
// [WithPositions] finds the places for a chunker that does not tell them.
// [Check] verifies a chunker against the contract stated here.
//
// The built-in chunkers are structs whose zero-valued options are documented
// with each. They implement both interfaces, fmt.Stringer (a name such as
// recursive/size=200/overlap=50, which prints every field that differs from its
// zero value) and Validate.
package chunkers

import (
	"context"

	"github.com/rageval/rageval/spans"
)

// Chunker cuts a text into the texts of its chunks, in order. It must be a pure
// function of the text, return promptly when the context is cancelled, and be
// safe for concurrent use: an evaluation chunks several documents at once.
type Chunker interface {
	Chunk(ctx context.Context, text string) ([]string, error)
}

// PositionAwareChunker cuts a document into pieces that know their place. The
// contract of [Chunker] applies; [Check] lists what else is asked of pieces.
type PositionAwareChunker interface {
	ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]Piece, error)
}

// Piece is one chunk of a text and its place there.
//
// Start and End are in bytes, Go's own habit, unlike those of [spans.Span]:
// the piece stands for text[Start:End] of the text that was cut. Start is -1,
// and End without meaning, if the chunk could not be located.
//
// Text is what is indexed. It equals text[Start:End] unless the chunker
// rewrites texts (see [Rewriter]).
type Piece struct {
	Text       string
	Start, End int
	Metadata   map[string]string // may be nil
}

// Rewriter is implemented by position-aware chunkers whose pieces may hold a
// text that differs from the part of the document they stand for, for instance
// because a heading is put before it. RewritesText then returns true.
type Rewriter interface {
	RewritesText() bool
}

// Validator is implemented by chunkers that can tell before any work whether
// their options make sense. The error names the field, what was found and what
// was expected. Every evaluation calls it first.
type Validator interface {
	Validate() error
}

// Func is a function that is a [Chunker].
type Func func(ctx context.Context, text string) ([]string, error)

// Chunk calls f.
func (f Func) Chunk(ctx context.Context, text string) ([]string, error) { return f(ctx, text) }

// Embedder turns texts into vectors, one for each text in the same order, all
// of one dimension. It must be safe for concurrent use, must not modify or keep
// texts, and returns promptly when the context is cancelled.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}
