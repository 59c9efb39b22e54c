package sweep

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/report"
	"github.com/rageval/rageval/spans"
)

// Results returns the cells as results, in the order of the grid: what a report knows
// of them, which for queries is their IDs and scores. They share memory with it.
func (r *Report) Results() []*ragtest.Result {
	list := make([]*ragtest.Result, len(r.Cells))
	for i, c := range r.Cells {
		result := &ragtest.Result{
			Name: c.Name, Level: "token", K: c.K, Chunks: c.Chunks, Metrics: c.Metrics, Intervals: c.Intervals, Slices: c.Slices,
			Queries:           make([]ragtest.QueryResult, len(r.Queries)),
			Components:        ragtest.Components{Chunker: c.Chunker, Embedder: c.Embedder, Retriever: c.Retriever, Reranker: c.Reranker},
			CorpusFingerprint: r.CorpusFingerprint,
			Budgets:           []ragtest.Score{{Metric: ragtest.RetrievedCharacters.Name(), Value: c.RetrievedChars}},
		}
		result.Diagnostics.Warnings, result.Diagnostics.EmbeddedTexts = c.Warnings, c.EmbeddedTexts
		scores := make([]ragtest.Score, len(r.Queries)*len(r.Metrics))
		for q, id := range r.Queries {
			of := scores[q*len(r.Metrics):][:len(r.Metrics):len(r.Metrics)]
			for m, metric := range r.Metrics {
				of[m] = ragtest.Score{Metric: metric, Value: c.Scores[m][q]}
			}
			result.Queries[q] = ragtest.QueryResult{ID: id, Scores: of}
		}
		list[i] = result
	}
	return list
}

// Page returns the page that shows the report: the cells ranked, heat maps of size and
// overlap, scores against size, K and retrieved text, and the curves of the budget. The
// page opens the queries of the results that are given, which are those of some cells,
// by name, with the texts of the corpus; it may be nil. It takes the time of
// [Report.Standings].
func (r *Report) Page(corpus *spans.Corpus, results ...*ragtest.Result) report.Page {
	return r.page(r.Standings(), corpus, results)
}

func (r *Report) page(standings []Standing, corpus *spans.Corpus, results []*ragtest.Result) report.Page {
	p := report.Page{Title: strings.TrimSpace("sweep " + r.Name), Corpus: corpus, Results: r.Results(), RankBy: r.Metrics[0]}
	of := map[string]*ragtest.Result{}
	for _, result := range results {
		of[result.Name] = result
	}
	for i, cell := range p.Results {
		p.Results[i] = cmp.Or(of[cell.Name], cell)
	}
	p.Ties = make([]bool, len(r.Cells))
	for _, s := range standings {
		p.Ties[s.Cell] = s.Tied
	}
	_, unit, _ := strings.Cut(r.Budget, " ")
	for _, c := range r.Curves {
		curve := report.Curve{Name: c.Configuration.name(), Unit: unit}
		for _, point := range c.Points {
			curve.Points = append(curve.Points, report.CurvePoint{Budget: point.Budget, Recall: point.Recall})
		}
		p.Curves = append(p.Curves, curve)
	}
	return p
}

// bestResults is how many results Run keeps for its page.
const bestResults = 5

// keepBest has the grid keep the results of the best cells that are evaluated in list.
func keepBest(g *Grid, list *[]*ragtest.Result) {
	visit := g.Visit
	g.Visit = func(c Cell, r *ragtest.Result) error {
		*list = append(*list, r)
		slices.SortStableFunc(*list, func(a, b *ragtest.Result) int { return cmp.Compare(b.Metrics[0].Value, a.Metrics[0].Value) })
		*list = (*list)[:min(len(*list), bestResults)]
		if visit == nil {
			return nil
		}
		return visit(c, r)
	}
}
