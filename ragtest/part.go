package ragtest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

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

func (s PlacedScore) compare(t PlacedScore) int {
	return cmp.Or(cmp.Compare(t.Score, s.Score), s.Place.compare(t.Place))
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
	Plan  string `json:"plan"`  // that of TokenSearch
	Depth int    `json:"depth"` // that of TokenSearch

	Documents []NumberRange `json:"documents,omitempty"` // whose chunks were counted; ascending, neither overlapping nor adjacent
	IDs       HashSet       `json:"ids,omitzero"`        // of those documents
	Chunks    int           `json:"chunks"`              // of those documents
	Empty     int           `json:"empty,omitempty"`     // chunks without text, which are not among Chunks
	Skipped   int           `json:"skipped,omitempty"`   // chunks without a place, which are not among Chunks
	// FirstSkipped describes the first of the Skipped chunks, which is in document
	// number FirstSkippedIn.
	FirstSkipped   string          `json:"firstSkipped,omitempty"`
	FirstSkippedIn int             `json:"firstSkippedIn,omitempty"`
	Texts          HashSet         `json:"texts,omitzero"`     // of Chunks
	Smallest       []DocumentSpans `json:"smallest,omitempty"` // of documents without relevant text, those that ceilings can depend on; ascending by ID

	Dim    int           `json:"dim,omitempty"` // of the vectors; 0 if none was ranked
	Ranked int           `json:"ranked"`        // how many chunks were ranked
	Hits   [][]PlacedHit `json:"hits"`          // of each query, the best of them, no more than the depth of the plan
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

// DocumentSpans are the spans of the chunks of a document.
type DocumentSpans struct {
	Document spans.DocumentID `json:"document"`
	Bounds   [][2]int         `json:"bounds"` // the start and the end of each, in characters
	// Unions[m-1] is how many characters the m chunks of the smallest union have.
	Unions      []int `json:"unions"`
	Overlapping bool  `json:"overlapping,omitempty"` // whether chunks overlap
	Nested      bool  `json:"nested,omitempty"`      // whether chunks lie within others
}

// MergeTokenParts joins parts of one corpus: counts add up, and of each query the best
// hits of all remain. It refuses parts of different plans, and parts that count a
// document twice; [TokenPlan.Prepare] refuses what is missing. What it returns does not
// depend on the order of the parts, nor on which were joined before. The parts are not
// modified.
func MergeTokenParts(parts ...*TokenPart) (*TokenPart, error) {
	var m partMerger
	for i, p := range parts {
		if p == nil {
			return nil, fmt.Errorf("merging parts: part %d is nil", i)
		}
		if err := m.add(p); err != nil {
			return nil, fmt.Errorf("merging parts: part %d: %w", i, err)
		}
	}
	if m.part == nil {
		return nil, errors.New("merging parts: want at least one")
	}
	return m.merged()
}

// partMerger joins one part after the other.
type partMerger struct {
	part       *TokenPart // but for the sets
	ids, texts hashRuns
	smallest   map[spans.DocumentID]DocumentSpans
	most       int // how many of those there may be until some are left out
}

func (m *partMerger) add(p *TokenPart) error {
	if m.part == nil {
		m.part = &TokenPart{Plan: p.Plan, Depth: p.Depth, Hits: make([][]PlacedHit, len(p.Hits)), Behind: make([][]int, len(p.Behind))}
		for q := range m.part.Behind {
			m.part.Hits[q], m.part.Behind[q] = []PlacedHit{}, make([]int, len(p.Behind[q]))
		}
		m.smallest = map[spans.DocumentID]DocumentSpans{}
	}
	to := m.part
	if err := to.joins(p); err != nil {
		return err
	}
	if err := m.ids.add(p.IDs); err != nil {
		return fmt.Errorf("field ids: %w", err)
	}
	if err := m.texts.add(p.Texts); err != nil {
		return fmt.Errorf("field texts: %w", err)
	}
	to.Documents = append(to.Documents, p.Documents...)
	slices.SortFunc(to.Documents, func(a, b NumberRange) int { return cmp.Compare(a.First, b.First) })
	kept := to.Documents[:0]
	for _, r := range to.Documents {
		if n := len(kept); n > 0 && kept[n-1].End >= r.First {
			if kept[n-1].End > r.First {
				return fmt.Errorf("document number %d is in two parts", r.First)
			}
			kept[n-1].End = r.End
			continue
		}
		kept = append(kept, r)
	}
	to.Documents = kept
	to.Chunks += p.Chunks
	to.Empty += p.Empty
	if p.Skipped > 0 && (to.Skipped == 0 || p.FirstSkippedIn < to.FirstSkippedIn) {
		to.FirstSkipped, to.FirstSkippedIn = p.FirstSkipped, p.FirstSkippedIn
	}
	to.Skipped += p.Skipped
	for _, d := range p.Smallest {
		m.smallest[d.Document] = d
	}
	if len(m.smallest) > m.most {
		m.smallest = smallestOf(m.smallest, to.Depth)
		m.most = 2*len(m.smallest) + 1024
	}
	to.Dim = max(to.Dim, p.Dim)
	to.Ranked += p.Ranked
	for q, hits := range p.Hits {
		to.Hits[q] = bestHits(to.Hits[q], hits, to.Depth)
	}
	for q := range p.Behind {
		for i, n := range p.Behind[q] {
			to.Behind[q][i] += n
		}
	}
	to.Usage = SumUsage(to.Usage, p.Usage)
	return nil
}

// merged returns all parts as one.
func (m *partMerger) merged() (*TokenPart, error) {
	p := *m.part
	p.IDs, p.Texts = m.ids.set(), m.texts.set()
	m.ids.runs, m.texts.runs = nil, nil
	m.smallest = smallestOf(m.smallest, p.Depth)
	p.Smallest = nil
	for _, d := range m.smallest {
		p.Smallest = append(p.Smallest, d)
	}
	slices.SortFunc(p.Smallest, func(a, b DocumentSpans) int { return strings.Compare(string(a.Document), string(b.Document)) })
	documents := 0
	for _, r := range p.Documents {
		documents += r.End - r.First
	}
	if p.IDs.Texts != documents {
		return nil, fmt.Errorf("merging parts: %d documents have %d different IDs: each must be there once", documents, p.IDs.Texts)
	}
	return &p, nil
}

// joins returns an error unless q is a part of what p is a part of.
func (p *TokenPart) joins(q *TokenPart) error {
	switch {
	case q.Plan != p.Plan:
		return fmt.Errorf("it is of another plan: want the same corpus, queries, ground truth, chunker, vectors and depth; its plan is %.12s, that of the others %.12s", q.Plan, p.Plan)
	case q.Depth != p.Depth || len(q.Hits) != len(p.Hits) || len(q.Behind) != len(p.Behind):
		return fmt.Errorf("it has hits of %d queries to depth %d, want %d to depth %d", len(q.Hits), q.Depth, len(p.Hits), p.Depth)
	case q.Dim != 0 && p.Dim != 0 && q.Dim != p.Dim:
		return fmt.Errorf("its vectors have dimension %d, want %d", q.Dim, p.Dim)
	}
	for i := range q.Behind {
		if len(q.Behind[i]) != len(p.Behind[i]) {
			return fmt.Errorf("it counts before %d chunks of query %d, want %d", len(q.Behind[i]), i, len(p.Behind[i]))
		}
	}
	return nil
}

// bestHits returns the first n hits of two lists that are sorted.
func bestHits(a, b []PlacedHit, n int) []PlacedHit {
	if len(b) == 0 || len(a) >= n && a[n-1].compare(b[0]) <= 0 {
		return a
	}
	best := make([]PlacedHit, 0, min(n, len(a)+len(b)))
	for len(best) < n && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].compare(b[0]) <= 0 {
			best, a = append(best, a[0]), a[1:]
		} else {
			best, b = append(best, b[0]), b[1:]
		}
	}
	return best
}

// smallestOf returns the documents that ceilings of choices of up to k chunks can
// depend on: see coverage.SmallestUnions.
func smallestOf(documents map[spans.DocumentID]DocumentSpans, k int) map[spans.DocumentID]DocumentSpans {
	all := make([]DocumentSpans, 0, len(documents))
	for _, d := range documents {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b DocumentSpans) int { return strings.Compare(string(a.Document), string(b.Document)) })
	kept := map[spans.DocumentID]DocumentSpans{}
	keep := func(d DocumentSpans) { kept[d.Document] = d }
	for _, is := range []func(DocumentSpans) bool{
		func(d DocumentSpans) bool { return d.Overlapping },
		func(d DocumentSpans) bool { return d.Nested },
	} {
		if i := slices.IndexFunc(all, is); i >= 0 {
			keep(all[i])
		}
	}
	longest := 0
	for _, d := range all {
		longest = max(longest, len(d.Unions))
	}
	for m := range min(k, longest) {
		union := func(d DocumentSpans) int {
			if m < len(d.Unions) {
				return d.Unions[m]
			}
			return math.MaxInt
		}
		slices.SortStableFunc(all, func(a, b DocumentSpans) int {
			return cmp.Or(cmp.Compare(union(a), union(b)), strings.Compare(string(a.Document), string(b.Document)))
		})
		for _, d := range all[:min(k, len(all))] {
			if m < len(d.Unions) {
				keep(d)
			}
		}
	}
	return kept
}

// check returns an error for a part that nothing here makes.
func (p *TokenPart) check() error {
	if p.Plan == "" || p.Depth < 1 || p.Depth > mostDepth {
		return fmt.Errorf("fields plan and depth: got %q and %d, want a plan and a depth from 1 to %d", p.Plan, p.Depth, mostDepth)
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"chunks", p.Chunks}, {"empty", p.Empty}, {"skipped", p.Skipped}, {"firstSkippedIn", p.FirstSkippedIn}, {"dim", p.Dim}, {"ranked", p.Ranked}} {
		if f.n < 0 {
			return fmt.Errorf("field %s: got %d, want 0 or more", f.name, f.n)
		}
	}
	end := -1
	for i, r := range p.Documents {
		if r.First <= end || r.End <= r.First {
			return fmt.Errorf("field documents: range %d is [%d, %d), after one that ends at %d", i, r.First, r.End, end)
		}
		end = r.End
	}
	if err := p.IDs.check(); err != nil {
		return fmt.Errorf("field ids: %w", err)
	}
	if err := p.Texts.check(); err != nil {
		return fmt.Errorf("field texts: %w", err)
	}
	if len(p.Hits) != len(p.Behind) {
		return fmt.Errorf("fields hits and behind: got lists for %d and %d queries", len(p.Hits), len(p.Behind))
	}
	for q, hits := range p.Hits {
		if len(hits) > p.Depth || len(hits) > p.Ranked {
			return fmt.Errorf("field hits: query %d has %d hits among %d chunks, want no more than %d", q, len(hits), p.Ranked, p.Depth)
		}
		for i, h := range hits {
			if i > 0 && hits[i-1].compare(h) >= 0 {
				return fmt.Errorf("field hits: query %d: hit %d is not behind the one before", q, i)
			}
		}
		before := 0
		for i, n := range p.Behind[q] {
			if before += n; n < 0 || before > p.Ranked {
				return fmt.Errorf("field behind: query %d: element %d is %d, of %d chunks", q, i, n, p.Ranked)
			}
		}
	}
	for i, d := range p.Smallest {
		if i > 0 && p.Smallest[i-1].Document >= d.Document {
			return fmt.Errorf("field smallest: document %d, %s, is not behind the one before", i, d.Document)
		}
	}
	return nil
}
