package ragtest

import (
	"cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// Place is where a chunk is in the order of a corpus, which is the order of equal
// scores.
type Place struct {
	Document int `json:"document"` // the number of its document in the corpus, from 0
	Number   int `json:"number"`   // its number among the chunks of the document, from 0
}

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Document, q.Document), cmp.Compare(p.Number, q.Number))
}

// PlacedChunk is a chunk with its place in the corpus.
type PlacedChunk struct {
	Place
	Line   int                         `json:"line"`   // where its span begins in the document, from 1
	Column int                         `json:"column"` // in characters, from 1
	Chunk  chunkers.PositionAwareChunk `json:"chunk"`
}

// PlacedHit is a chunk that was found for a query.
type PlacedHit struct {
	PlacedChunk
	Score float32 `json:"score"` // the cosine similarity, as [MemoryStore] computes it
}

func (h PlacedHit) compare(g PlacedHit) int {
	return cmp.Or(cmp.Compare(g.Score, h.Score), h.Place.compare(g.Place))
}

// PlacedScore is the score of a chunk for a query.
type PlacedScore struct {
	Place
	Score float32 `json:"score"`
}

// TokenPart is what some of a corpus's chunks contribute to an evaluation: of each
// query the exact first chunks among them with their scores, and what a result needs
// to know beside. Parts of one corpus are joined by [MergeTokenParts], in any order and
// grouped in any way; all of them together are what [TokenPlan.Prepare] takes. Its JSON
// form reads back to an equal value.
//
// A part that [TokenPlan.Part] makes has all fields. [TokenSearch.Chunk] leaves out what
// comes from ranking, [TokenSearch.Rank] has nothing else.
type TokenPart struct {
	Plan string `json:"plan"` // identifies the plan: of TokenSearch

	Documents []NumberRange `json:"documents,omitempty"` // whose chunks were counted; ascending, neither overlapping nor adjacent
	IDs       HashSet       `json:"ids,omitzero"`        // of those documents
	Chunks    int           `json:"chunks"`              // of those documents
	Empty     int           `json:"empty,omitempty"`     // chunks without text, which are not among Chunks
	Skipped   int           `json:"skipped,omitempty"`   // chunks without a place, which are not among Chunks
	// FirstSkipped describes the first of the Skipped chunks, which is in document
	// number FirstSkippedIn.
	FirstSkipped   string          `json:"firstSkipped,omitempty"`
	FirstSkippedIn int             `json:"firstSkippedIn,omitempty"`
	Texts          HashSet         `json:"texts,omitzero"`     // the distinct texts of Chunks, with their lengths in characters
	Smallest       []DocumentSpans `json:"smallest,omitempty"` // what bounds ceilings; ascending by document

	Ranked int           `json:"ranked"` // how many chunks were ranked
	Hits   [][]PlacedHit `json:"hits"`   // of each query, the best of them, no more than the depth of the plan
	// Behind[q][i] is how many of the chunks that were ranked are before chunk i of
	// TokenSearch.Relevant[q] in the ranking for query q, and not before chunk i-1.
	Behind [][]int `json:"behind"`
	Usage  []Usage `json:"usage,omitempty"` // of services
}

// NumberRange is the numbers from First up to, but without, End.
type NumberRange struct {
	First int `json:"first"`
	End   int `json:"end"`
}

// DocumentSpans are the spans of the chunks of a document, which has the given number
// in the corpus.
type DocumentSpans struct {
	Document int          `json:"document"`
	Spans    []spans.Span `json:"spans"`
}
