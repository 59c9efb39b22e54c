package report

import (
	"unicode/utf8"

	"github.com/rageval/rageval/internal/stats"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// depth is what the first chunks of the rankings of a run hold, on average.
type depth struct {
	recall     float64
	characters float64 // of distinct retrieved text
}

// depths returns what the first chunk holds, the first two and so on. A ranking
// that has fewer counts with all it has. It is empty for a result without hits.
func depths(r *ragtest.Result) []depth {
	k := 0
	for _, q := range r.Queries {
		k = max(k, len(q.Hits))
	}
	recall, characters := make([][]float64, k), make([][]float64, k)
	for i := range r.Queries {
		q := &r.Queries[i]
		of := chunkDepth
		if r.Level == "token" {
			of = tokenDepth
		}
		for n := range k {
			d := of(q, min(n+1, len(q.Hits)))
			recall[n], characters[n] = append(recall[n], d.recall), append(characters[n], d.characters)
		}
	}
	all := make([]depth, k)
	for n := range all {
		all[n] = depth{stats.Mean(recall[n]), stats.Mean(characters[n])}
	}
	return all
}

func tokenDepth(q *ragtest.QueryResult, k int) depth {
	retrieved, relevant := make([]spans.Span, k), make([]spans.Span, len(q.Relevant))
	for i := range retrieved {
		retrieved[i] = q.Hits[i].Span
	}
	for i, p := range q.Relevant {
		relevant[i] = p.Span
	}
	set := spans.Union(retrieved...)
	return depth{spans.Recall(set, spans.Union(relevant...)), float64(set.Len())}
}

func chunkDepth(q *ragtest.QueryResult, k int) depth {
	relevant := map[string]bool{}
	for _, p := range q.Relevant {
		relevant[p.ChunkID] = true
	}
	found := map[string]bool{}
	characters := 0
	for _, h := range q.Hits[:k] {
		characters += utf8.RuneCountInString(h.Text)
		if relevant[h.ChunkID] {
			found[h.ChunkID] = true
		}
	}
	if len(relevant) == 0 {
		return depth{1, float64(characters)}
	}
	return depth{float64(len(found)) / float64(len(relevant)), float64(characters)}
}
