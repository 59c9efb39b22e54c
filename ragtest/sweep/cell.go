package sweep

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

// Configuration is a combination of components but for K, by their names: "" for one
// that is not used.
type Configuration struct {
	Chunker   string `json:"chunker,omitempty"`
	Embedder  string `json:"embedder,omitempty"`
	Retriever string `json:"retriever,omitempty"`
	Reranker  string `json:"reranker,omitempty"`
	FetchK    int    `json:"fetchK,omitempty"` // 0 without a reranker
}

// Cell is one combination of a grid, and what was found for it.
type Cell struct {
	Index int    `json:"index"` // in the whole grid, from 0
	Name  string `json:"name"`  // as a sub-benchmark: "chunker=fixed/size=200/embedder=lexical/k=5"
	Configuration
	K int `json:"k"`

	Metrics   []ragtest.Score         `json:"metrics"`             // means over the queries
	Intervals []ragtest.ScoreInterval `json:"intervals,omitempty"` // of the means; none for a metric that scores all queries alike
	Scores    [][]float64             `json:"scores"`              // by metric, then by query

	Slices []ragtest.Slice `json:"slices,omitempty"` // those of Grid.SliceBy

	Chunks         int      `json:"chunks"`               // indexed
	IndexBytes     int64    `json:"indexBytes,omitempty"` // of the vectors, if the store tells
	EmbeddedTexts  int      `json:"embeddedTexts"`        // distinct ones that its index needs; 0 without an embedder
	EmbeddedChars  int      `json:"embeddedChars"`        // theirs, in characters
	RerankedChars  int      `json:"rerankedChars"`        // characters that its reranker reads, for all queries
	RetrievedChars float64  `json:"retrievedChars"`       // characters of the K chunks of a query, the mean
	Cost           float64  `json:"cost"`                 // see Grid.Cost
	Warnings       []string `json:"warnings,omitempty"`   // of its evaluation
}

// Score returns the mean of a metric, and whether there is one.
func (c Cell) Score(metric string) (float64, bool) {
	for _, s := range c.Metrics {
		if s.Metric == metric {
			return s.Value, true
		}
	}
	return 0, false
}

// Interval returns the interval of a metric's mean, and whether there is one.
func (c Cell) Interval(metric string) (low, high float64, ok bool) {
	for _, s := range c.Intervals {
		if s.Metric == metric {
			return s.Low, s.High, true
		}
	}
	return 0, 0, false
}

// Setting is the value of a cell on one axis of the grid.
type Setting struct {
	Axis  string `json:"axis"`
	Value string `json:"value"`
}

var field = regexp.MustCompile(`^[a-z]+=`)

// Settings returns where the cell is in the grid: the parts of the chunker's name, such
// as chunker, size and overlap, then embedder, retriever, reranker, fetchK and k.
func (c Cell) Settings() []Setting {
	var list []Setting
	add := func(axis, value string) {
		if value != "" {
			list = append(list, Setting{axis, value})
		}
	}
	var chunker []Setting
	for i, part := range strings.Split(c.Chunker, "/") {
		switch {
		case i == 0:
			chunker = append(chunker, Setting{"chunker", part})
		case field.MatchString(part):
			axis, value, _ := strings.Cut(part, "=")
			chunker = append(chunker, Setting{axis, value})
		default: // a slash within a value
			chunker[len(chunker)-1].Value += "/" + part
		}
	}
	for _, s := range chunker {
		add(s.Axis, s.Value)
	}
	add("embedder", c.Embedder)
	add("retriever", c.Retriever)
	add("reranker", c.Reranker)
	if c.FetchK > 0 {
		add("fetchK", strconv.Itoa(c.FetchK))
	}
	add("k", strconv.Itoa(c.K))
	return list
}

// record fills in what an evaluation found.
func (c *Cell) record(r *ragtest.Result) {
	c.Metrics, c.Intervals, c.Slices, c.Chunks, c.Warnings = r.Metrics, r.Intervals, r.Slices, r.Chunks, r.Diagnostics.Warnings
	c.EmbeddedTexts = r.Diagnostics.EmbeddedTexts
	if r.Diagnostics.IndexBytes != nil {
		c.IndexBytes = *r.Diagnostics.IndexBytes
	}
	c.Scores = make([][]float64, len(r.Metrics))
	for _, q := range r.Queries {
		for i, s := range q.Scores {
			c.Scores[i] = append(c.Scores[i], s.Value)
		}
	}
	c.RetrievedChars = 0
	for _, b := range r.Budgets {
		if b.Metric == ragtest.RetrievedCharacters.Name() {
			c.RetrievedChars = b.Value
		}
	}
}
