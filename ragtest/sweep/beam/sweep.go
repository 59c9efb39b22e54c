package beam

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/spans"
)

// Sweep is what a [sweep.Grid] is, in a form that travels to workers: components are
// given by name, and there is no corpus. Its JSON form has the names of the fields.
// Queries and at least one chunker and one embedder are required; every other field
// has a useful zero value.
type Sweep struct {
	Name    string // of the report
	Queries []ragtest.TokenQuery

	Chunkers  []string // of RegisterChunker or the catalog: "recursive/size=400/overlap=50"
	Embedders []string // of RegisterEmbedder
	Rerankers []string `json:",omitzero"` // of RegisterReranker; nil: none. "" is the choice of none
	K         []int    `json:",omitzero"` // nil: 5
	FetchK    []int    `json:",omitzero"` // candidates for the rerankers; nil: 4*K
	Metrics   []string `json:",omitzero"` // such as "span_ndcg@3"; nil: recall, precision and IoU

	MaxUnlocated int `json:",omitzero"` // of each chunker: see ragtest.TokenLevel

	// Shards is the number of parts of the corpus that are embedded and searched, each
	// by one worker at a time; 0: one for every 16 MiB of documents and each chunker.
	// The report does not depend on it.
	Shards int `json:",omitzero"`
}

// Grid returns the grid that the sweep stands for, but for its Corpus, of which
// [sweep.Grid.Evaluate] gives the report that the pipeline gives.
func (s Sweep) Grid() (sweep.Grid, error) {
	g := sweep.Grid{Name: s.Name, Queries: s.Queries, K: s.K, FetchK: s.FetchK, MaxUnlocated: s.MaxUnlocated}
	var err error
	if g.Chunkers, err = newAll("Chunkers", s.Chunkers, newChunker); err != nil {
		return g, err
	}
	if g.Embedders, err = newAll("Embedders", s.Embedders, embedderKinds.new); err != nil {
		return g, err
	}
	g.Rerankers, err = newAll("Rerankers", s.Rerankers, func(name string) (Reranker, error) {
		if name == "" {
			return nil, nil
		}
		return rerankerKinds.new(name)
	})
	if err != nil {
		return g, err
	}
	g.Metrics, err = newAll("Metrics", s.Metrics, newMetric)
	return g, err
}

// check returns what is wrong with a sweep, as far as can be told without the corpus.
func (s Sweep) check() error {
	switch {
	case len(s.Queries) == 0:
		return errors.New("field Queries: empty, want at least one")
	case len(s.Chunkers) == 0:
		return errors.New("field Chunkers: empty, want at least one")
	case len(s.Embedders) == 0:
		return errors.New("field Embedders: empty, want at least one")
	case s.Shards < 0:
		return fmt.Errorf("field Shards: got %d, want 0 or more", s.Shards)
	}
	g, err := s.Grid()
	if err != nil {
		return err
	}
	// A grid checks all of itself before it does anything. The relevant spans wait for
	// the documents.
	doc, err := spans.NewDocument("any", "text", nil)
	if err != nil {
		return err
	}
	if g.Corpus, err = spans.NewCorpus(doc); err != nil {
		return err
	}
	g.Queries = slices.Clone(s.Queries)
	for i := range g.Queries {
		g.Queries[i].Relevant, g.Queries[i].Alternatives = nil, nil
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := g.Evaluate(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// depth returns the most candidates that any cell asks for.
func (s Sweep) depth() int {
	depth := 5
	if len(s.K) > 0 {
		depth = slices.Max(s.K)
	}
	if slices.ContainsFunc(s.Rerankers, func(name string) bool { return name != "" }) {
		if len(s.FetchK) > 0 {
			return max(depth, slices.Max(s.FetchK))
		}
		return 4 * depth
	}
	return depth
}
