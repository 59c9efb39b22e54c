package ragtest

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// QueryID names a query within its collection: from the data set where that
// names its queries, else made by [NewQueryID].
type QueryID string

// NewQueryID returns the ID of a query that has no name of its own: "query_"
// and the first 12 hexadecimal digits of the SHA-256 of its text.
func NewQueryID(text string) QueryID {
	sum := sha256.Sum256([]byte(text))
	return QueryID("query_" + hex.EncodeToString(sum[:6]))
}

// Query is a question to the retrieval system.
type Query struct {
	ID       QueryID           // "": NewQueryID(Text)
	Text     string            // must not be empty
	Metadata map[string]string // may be nil
}

// TokenQuery is a query with token-level ground truth: the spans of documents,
// in characters, that answer it, all of them required. They may overlap, and may be
// none.
//
// Where other text would do as well, Alternatives has other such answers, each
// complete: any one suffices. Each metric then scores the answer by which it scores
// highest. What a result says is relevant, missed and lost is by the answer of the
// highest recall; of equal ones, of the highest IoU; of those, the first, that of
// Relevant before the alternatives. With alternatives no answer may be empty.
type TokenQuery struct {
	Query
	Relevant     []spans.Span
	Alternatives [][]spans.Span // nil: none
}

// ChunkQuery is a query with chunk-level ground truth: the IDs of the chunks
// that answer it, all of them required. There may be none. Alternatives are as those
// of [TokenQuery], with F1 in place of IoU.
type ChunkQuery struct {
	Query
	Relevant     []chunkers.ChunkID
	Alternatives [][]chunkers.ChunkID // nil: none
}
