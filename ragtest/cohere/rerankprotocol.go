package cohere

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rageval/rageval/ragtest"
)

type cohereRequest struct {
	Model           string   `json:"model"`
	Query           string   `json:"query"`
	Documents       []string `json:"documents"`
	MaxTokensPerDoc int      `json:"max_tokens_per_doc,omitempty"`
}

type jinaRequest struct {
	Model           string   `json:"model"`
	Query           string   `json:"query"`
	Documents       []string `json:"documents"`
	ReturnDocuments bool     `json:"return_documents"` // true if left out
}

type voyageRequest struct {
	Model      string   `json:"model"`
	Query      string   `json:"query"`
	Documents  []string `json:"documents"`
	Truncation bool     `json:"truncation"` // true if left out
}

type teiRequest struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"` // false if left out
}

func (r Reranker[C]) body(query string, texts []string) any {
	switch r.API {
	case Jina:
		return jinaRequest{r.model(), query, texts, false}
	case Voyage:
		return voyageRequest{r.model(), query, texts, r.Truncate}
	case TEI:
		return teiRequest{query, texts, r.Truncate}
	}
	return cohereRequest{r.model(), query, texts, r.MaxTokensPerDoc}
}

// rerankReply is an answer of any of the protocols.
type rerankReply struct {
	Results []rerankResult `json:"results"` // Cohere, Jina; TEI's whole answer
	Data    []rerankResult `json:"data"`    // Voyage
	Meta    struct {
		BilledUnits struct {
			SearchUnits float64 `json:"search_units"`
		} `json:"billed_units"`
	} `json:"meta"` // Cohere
	Usage struct {
		TotalTokens int `json:"total_tokens"`
	} `json:"usage"` // Jina, Voyage
}

// rerankResult is the score of one document. The pointers tell what is missing
// or null from 0.
type rerankResult struct {
	Index          *int     `json:"index"`
	RelevanceScore *float64 `json:"relevance_score"` // Cohere, Jina, Voyage
	Score          *float64 `json:"score"`           // TEI
}

// reply returns the part of r that an answer is read into.
func (a API) reply(r *rerankReply) any {
	if a == TEI {
		return &r.Results
	}
	return r
}

// scores returns the score of each of n documents. It is nil for those that the
// answer leaves out, which is an error unless allowMissing.
func (r rerankReply) scores(n int, allowMissing bool) ([]*float64, error) {
	results := r.Results
	if results == nil {
		results = r.Data
	}
	if results == nil {
		return nil, errors.New("reading the answer: it has no results; is the field API right for this server?")
	}
	scores := make([]*float64, n)
	by := make([]int, n) // the result that scored the document
	missing := n
	for i, result := range results {
		if result.Index == nil {
			return nil, fmt.Errorf("reading the answer: result %d has no index", i)
		}
		at := *result.Index
		score := cmp.Or(result.RelevanceScore, result.Score)
		switch {
		case at < 0 || at >= n:
			return nil, fmt.Errorf("reading the answer: result %d has the index %d, want 0 to %d", i, at, n-1)
		case scores[at] != nil:
			return nil, fmt.Errorf("reading the answer: results %d and %d have the same index %d", by[at], i, at)
		case score == nil:
			return nil, fmt.Errorf("reading the answer: result %d, of index %d, has no score", i, at)
		}
		scores[at], by[at] = score, i
		missing--
	}
	if missing > 0 && !allowMissing {
		first := 0
		for scores[first] != nil {
			first++
		}
		return nil, fmt.Errorf("reading the answer: got scores for %d of %d documents, the first without one has the index %d; set AllowMissing if the server is meant to leave some out", n-missing, n, first)
	}
	return scores, nil
}

// usage returns what one request used. Where a server tells no search units, the
// request counts as one.
func (r Reranker[C]) usage(reply rerankReply) ragtest.Usage {
	u := ragtest.Usage{Component: r.API.String(), Model: r.model(), Calls: 1, Tokens: reply.Usage.TotalTokens}
	u.Cost = float64(u.Tokens) * r.PricePerMillion / 1e6
	u.Cost += cmp.Or(reply.Meta.BilledUnits.SearchUnits, 1) * r.PricePerThousand / 1e3
	return u
}
