package sweep

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/internal/stats"
)

// Budget is the size of a context that every configuration may fill: with the chunks
// of its ranking, best first, up to the first that does not fit whole. It is what the
// model that reads them is given, so a text that is retrieved twice counts twice.
// Make one with [AtCharacters], [AtTokens] or [AtLength]; the zero value is none.
type Budget struct {
	limit  int
	length chunkers.Length
	set    bool
}

// AtCharacters returns a budget of n characters (Unicode code points).
func AtCharacters(n int) Budget { return AtLength(n, chunkers.Length{}) }

// AtTokens returns a budget of n tokens of cl100k, OpenAI's encoding since GPT-3.5.
// Counting them takes about 0.2 s for each megabyte of chunks that are retrieved.
func AtTokens(n int) Budget { return AtLength(n, tokens.Length(tokens.CL100K)) }

// AtLength returns a budget of n units of a length, such as tokens of another
// tokenizer: see [tokens.Length]. The zero Length counts characters.
func AtLength(n int, length chunkers.Length) Budget { return Budget{n, length, true} }

// Equal reports whether both are of one size and unit.
func (b Budget) Equal(c Budget) bool { return b.String() == c.String() }

// String returns such as "2000 characters", "2000 cl100k".
func (b Budget) String() string {
	if !b.set {
		return ""
	}
	return fmt.Sprintf("%d %s", b.limit, b.unit())
}

func (b Budget) unit() string {
	if b.length.Of == nil {
		return "characters"
	}
	return b.length.Name
}

func (b Budget) validate() error {
	switch {
	case b.set && b.limit < 1:
		return fmt.Errorf("field Budget: got %v, want at least 1", b)
	case b.set && b.length.Of != nil && b.length.Name == "":
		return fmt.Errorf("field Budget: the length has no name")
	}
	return nil
}

func (b Budget) of(text string) int {
	if b.length.Of == nil {
		return utf8.RuneCountInString(text)
	}
	return b.length.Of(text)
}

const (
	// deeper is by how much a ranking for a budget is longer than the budget holds
	// chunks of mean length, since the chunks that are retrieved may be shorter.
	deeper      = 2
	deeperAtAll = 20
	// charsPerToken estimates the depth that a budget in tokens needs. A text of
	// fewer needs less.
	charsPerToken = 5
)

// depth returns how many candidates fill the budget, or nearly always do.
func (b Budget) depth(chunks []chunk) int {
	if !b.set || len(chunks) == 0 {
		return 0
	}
	total := 0
	for _, c := range chunks {
		total += utf8.RuneCountInString(c.Text)
	}
	chars := float64(b.limit)
	if b.length.Of != nil {
		chars *= charsPerToken
	}
	depth := deeper*chars*float64(len(chunks))/float64(total) + deeperAtAll
	return int(min(depth, float64(len(chunks))))
}

// curvePoints is how many budgets a curve tells of.
const curvePoints = 20

// Curve says how much recall a ranking has within budgets up to that of the grid. All
// points come from one retrieval, the one that the cells of the same configuration
// are judged on; with a reranker the ranking is no longer than FetchK.
type Curve struct {
	Index int `json:"index"` // in the whole grid, from 0
	Configuration
	Points []CurvePoint `json:"points"` // in 20 equal steps

	// At the whole budget: the recall of each query, its mean and interval, which is
	// empty where all queries have one recall.
	Recalls []float64 `json:"recalls"`
	Recall  float64   `json:"recall"`
	Low     float64   `json:"low"`
	High    float64   `json:"high"`

	// Short is the number of queries whose ranking ended within the budget though
	// there were more chunks.
	Short int `json:"short,omitempty"`
}

// CurvePoint is what a budget yields.
type CurvePoint struct {
	Budget float64 `json:"budget"` // in the unit of the grid's budget
	Recall float64 `json:"recall"` // mean span_recall of the chunks that fit
	Used   float64 `json:"used"`   // mean length of them
}

// measure fills in the curve of a ranking. recall returns, for a query, what says how
// much recall the first chunks of its ranking have, asked for ever more of them. total
// is how many chunks there are, 0 if that is not known.
func (c *Curve) measure(b Budget, recall func(query int) func(chunks []scored) float64, ranked [][]scored, total int) {
	recalls := make([][]float64, curvePoints) // by point, then by query
	used := make([]float64, curvePoints)
	for q, list := range ranked {
		of := recall(q)
		length, fits := 0, 0
		point := 0
		settle := func(next float64) { // the points below next hold what was taken so far
			if point == curvePoints || next <= c.budgetAt(b, point) {
				return
			}
			taken := of(list[:fits])
			for ; point < curvePoints && next > c.budgetAt(b, point); point++ {
				recalls[point] = append(recalls[point], taken)
				used[point] += float64(length)
			}
		}
		for _, h := range list {
			next := length + b.of(h.Chunk.Text)
			settle(float64(next))
			if next > b.limit {
				break
			}
			length = next
			fits++
		}
		if fits == len(list) && (total == 0 || fits < total) && length < b.limit {
			c.Short++
		}
		settle(math.Inf(1))
	}
	n := float64(len(ranked))
	for i := range curvePoints {
		c.Points = append(c.Points, CurvePoint{c.budgetAt(b, i), stats.Mean(recalls[i]), used[i] / n})
	}
	c.Recalls = recalls[curvePoints-1]
	c.Recall = stats.Mean(c.Recalls)
	interval := stats.Bootstrap([][]float64{c.Recalls}, 0.95)[0]
	c.Low, c.High = interval.Low, interval.High
}

func (c *Curve) budgetAt(b Budget, point int) float64 {
	return float64(b.limit) * float64(point+1) / curvePoints
}
