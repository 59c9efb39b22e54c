package ragtest

import (
	"context"
	"errors"
	"iter"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// TokenPlan is what the parts of a corpus must have in common so that they make up one
// evaluation, made by [TokenLevel.Plan] or [TokenLevel.PlanStream]:
//
//	TokenLevel.Plan -> TokenPlan.Part, for each part -> MergeTokenParts -> TokenPlan.Prepare
//
// What follows is that of [TokenLevel.Prepare].
type TokenPlan struct {
	search TokenSearch
}

// Plan plans an evaluation of e.Corpus in parts, in which depth candidates are retrieved
// for each query. It embeds the queries, and those chunks that hold relevant text, as
// every machine that makes a plan does.
func (e TokenLevel) Plan(ctx context.Context, depth int) (*TokenPlan, error) {
	return nil, errors.New("planning: to do")
}

// PlanStream is Plan for documents that need not fit into memory: e.Corpus is nil.
func (e TokenLevel) PlanStream(ctx context.Context, depth int, docs iter.Seq2[*spans.Document, error]) (*TokenPlan, error) {
	return nil, errors.New("planning: to do")
}

// Search returns what other processes need of the plan to chunk and rank.
func (p *TokenPlan) Search() TokenSearch { return p.search }

// Part chunks, embeds and ranks consecutive documents of the corpus, of which the first
// has the given number.
func (p *TokenPlan) Part(ctx context.Context, first int, docs iter.Seq2[*spans.Document, error]) (*TokenPart, error) {
	return nil, errors.New("to do")
}

// Prepare returns what [TokenLevel.Prepare] would return for the whole corpus, of which
// part is the whole: what [MergeTokenParts] made of all parts.
func (p *TokenPlan) Prepare(part *TokenPart) (*PreparedTokenLevel, error) {
	return nil, errors.New("to do")
}

// TokenSearch is the part of a [TokenPlan] that chunking and ranking need. Its JSON form
// reads back to an equal value.
type TokenSearch struct {
	Plan     string          `json:"plan"` // identifies the plan
	Depth    int             `json:"depth"`
	Queries  [][]float32     `json:"queries"`  // their vectors
	Relevant [][]PlacedScore `json:"relevant"` // of each query, the chunks that hold relevant text, best first
}

// Chunk chunks the document that has the given number in the corpus. The part has
// everything but what comes from ranking.
func (s TokenSearch) Chunk(ctx context.Context, chunker chunkers.PositionAwareChunker, number int, doc *spans.Document) ([]PlacedChunk, *TokenPart, error) {
	return nil, nil, errors.New("to do")
}

// Rank ranks chunks, any of the corpus in any order, by their vectors. The part has only
// what comes from ranking.
func (s TokenSearch) Rank(ctx context.Context, chunks []PlacedChunk, vectors [][]float32) (*TokenPart, error) {
	return nil, errors.New("to do")
}

// MergeTokenParts joins parts of one corpus.
func MergeTokenParts(parts ...*TokenPart) (*TokenPart, error) {
	return nil, errors.New("to do")
}
