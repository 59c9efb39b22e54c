package ragtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rageval/rageval/internal/stats"
)

// Slice has the means over the queries that share metadata.
type Slice struct {
	Name      string          `json:"name"`    // such as "type=multi-hop", "lang=de,type=multi-hop"
	Queries   int             `json:"queries"` // how many they are
	Metrics   []Score         `json:"metrics"` // in the order of Result.Metrics
	Intervals []ScoreInterval `json:"intervals,omitempty"`
}

// TokenSlice is a metric over the queries that have some metadata, made by
// [TokenMetric.Where], of which thresholds are made.
type TokenSlice struct {
	judged TokenMetric
	where  conditions
}

// ChunkSlice is a metric over the queries that have some metadata, made by
// [ChunkMetric.Where], of which thresholds are made.
type ChunkSlice struct {
	judged ChunkMetric
	where  conditions
}

// Where returns m over the queries alone that have the value under the key in their
// metadata. That no query has it is an error in an evaluation with a threshold of it.
func (m TokenMetric) Where(key, value string) TokenSlice { return TokenSlice{m, nil}.Where(key, value) }

// DocumentSlice is a metric over the queries that have some metadata, made by
// [DocumentMetric.Where], of which thresholds are made.
type DocumentSlice struct {
	judged DocumentMetric
	where  conditions
}

// Where returns m over the queries alone that have the value under the key in their
// metadata. That no query has it is an error in an evaluation with a threshold of it.
func (m ChunkMetric) Where(key, value string) ChunkSlice { return ChunkSlice{m, nil}.Where(key, value) }

// Where returns m over the queries alone that have the value under the key in their
// metadata. That no query has it is an error in an evaluation with a threshold of it.
func (m DocumentMetric) Where(key, value string) DocumentSlice {
	return DocumentSlice{m, nil}.Where(key, value)
}

// Where narrows the slice down to the queries that also have the value under the
// key.
func (s TokenSlice) Where(key, value string) TokenSlice {
	s.where = s.where.and(condition{key, value})
	return s
}

// Where narrows the slice down to the queries that also have the value under the
// key.
func (s ChunkSlice) Where(key, value string) ChunkSlice {
	s.where = s.where.and(condition{key, value})
	return s
}

// Where narrows the slice down to the queries that also have the value under the
// key.
func (s DocumentSlice) Where(key, value string) DocumentSlice {
	s.where = s.where.and(condition{key, value})
	return s
}

// AtLeast returns the threshold that [TokenMetric.AtLeast] returns, over the slice.
func (s TokenSlice) AtLeast(min float64) TokenThreshold { return s.over(s.judged.AtLeast(min)) }

// AtMost returns the threshold that [TokenMetric.AtMost] returns, over the slice.
func (s TokenSlice) AtMost(max float64) TokenThreshold { return s.over(s.judged.AtMost(max)) }

// AtLeast returns the threshold that [ChunkMetric.AtLeast] returns, over the slice.
func (s ChunkSlice) AtLeast(min float64) ChunkThreshold { return s.over(s.judged.AtLeast(min)) }

// AtMost returns the threshold that [ChunkMetric.AtMost] returns, over the slice.
func (s ChunkSlice) AtMost(max float64) ChunkThreshold { return s.over(s.judged.AtMost(max)) }

// AtLeast returns the threshold that [DocumentMetric.AtLeast] returns, over the slice.
func (s DocumentSlice) AtLeast(min float64) DocumentThreshold { return s.over(s.judged.AtLeast(min)) }

// AtMost returns the threshold that [DocumentMetric.AtMost] returns, over the slice.
func (s DocumentSlice) AtMost(max float64) DocumentThreshold { return s.over(s.judged.AtMost(max)) }

func (s TokenSlice) over(t TokenThreshold) TokenThreshold {
	t.where = s.where
	return t
}

func (s ChunkSlice) over(t ChunkThreshold) ChunkThreshold {
	t.where = s.where
	return t
}

func (s DocumentSlice) over(t DocumentThreshold) DocumentThreshold {
	t.where = s.where
	return t
}

// Name returns the name of the metric and the slice: "span_recall[type=multi-hop]".
func (s TokenSlice) Name() string { return s.where.suffix(s.judged.Name()) }

// Name returns the name of the metric and the slice: "chunk_recall[type=multi-hop]".
func (s ChunkSlice) Name() string { return s.where.suffix(s.judged.Name()) }

// Name returns the name of the metric and the slice: "document_ndcg[type=multi-hop]".
func (s DocumentSlice) Name() string { return s.where.suffix(s.judged.Name()) }

// Equal reports whether both are equal metrics over the same slice.
func (s TokenSlice) Equal(t TokenSlice) bool {
	return s.judged.Equal(t.judged) && slices.Equal(s.where, t.where)
}

// Equal reports whether both are equal metrics over the same slice.
func (s ChunkSlice) Equal(t ChunkSlice) bool {
	return s.judged.Equal(t.judged) && slices.Equal(s.where, t.where)
}

// Equal reports whether both are equal metrics over the same slice.
func (s DocumentSlice) Equal(t DocumentSlice) bool {
	return s.judged.Equal(t.judged) && slices.Equal(s.where, t.where)
}

// condition is one that the metadata of a query has to meet.
type condition struct{ key, value string }

// conditions are met together. They are sorted by key and value.
type conditions []condition

func (c conditions) and(another condition) conditions {
	list := append(slices.Clone(c), another)
	slices.SortFunc(list, func(a, b condition) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(list)
}

func (c condition) String() string { return c.key + "=" + c.value }

func (c conditions) String() string {
	texts := make([]string, len(c))
	for i, one := range c {
		texts[i] = one.String()
	}
	return strings.Join(texts, ",")
}

// suffix returns the name of a metric over the slice.
func (c conditions) suffix(metric string) string {
	if len(c) == 0 {
		return metric
	}
	return metric + "[" + c.String() + "]"
}

func (c conditions) meets(metadata map[string]string) bool {
	for _, one := range c {
		if value, ok := metadata[one.key]; !ok || value != one.value {
			return false
		}
	}
	return true
}

// check returns an error unless some query is in the slice.
func (c conditions) check(queries []Query) error {
	if slices.ContainsFunc(queries, func(q Query) bool { return c.meets(q.Metadata) }) {
		return nil
	}
	for _, one := range c {
		values := valuesOf(queries, one.key)
		switch {
		case len(values) == 0:
			return fmt.Errorf("no query has the metadata key %q", one.key)
		case !slices.Contains(values, one.value):
			return fmt.Errorf("no query has the metadata %s; the values of %s are %s", one, one.key, enumerate(values))
		}
	}
	return fmt.Errorf("no query has all of the metadata %s", c)
}

// valuesOf returns the values that queries have under a key, sorted.
func valuesOf(queries []Query, key string) []string {
	values := map[string]bool{}
	for _, q := range queries {
		if value, ok := q.Metadata[key]; ok {
			values[value] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}

func enumerate(values []string) string {
	const most = 10
	texts := make([]string, 0, most+1)
	for _, v := range values[:min(most, len(values))] {
		texts = append(texts, fmt.Sprintf("%q", abbreviate(v, 40)))
	}
	if more := len(values) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// slice returns the slices that a result has: one for each value of the keys, then
// those of thresholds.
func slice[M any, T threshold[M]](queries []Query, keys []string, thresholds []T) ([]conditions, error) {
	var list []conditions
	add := func(c conditions) {
		if !slices.ContainsFunc(list, func(d conditions) bool { return slices.Equal(c, d) }) {
			list = append(list, c)
		}
	}
	for i, key := range keys {
		values := valuesOf(queries, key)
		if len(values) == 0 {
			return nil, fmt.Errorf("field SliceBy: no query has the metadata key %q", key)
		}
		if slices.Contains(keys[:i], key) {
			return nil, fmt.Errorf("field SliceBy: the metadata key %q is there twice", key)
		}
		for _, value := range values {
			add(conditions{{key, value}})
		}
	}
	for i, t := range thresholds {
		c := t.slice()
		if len(c) == 0 {
			continue
		}
		if err := c.check(queries); err != nil {
			return nil, fmt.Errorf("threshold %d: %w", i, err)
		}
		add(c)
	}
	return list, nil
}

// where returns the queries of a slice.
func (r *Result) where(c conditions) []QueryResult {
	if len(c) == 0 {
		return r.Queries
	}
	return slices.DeleteFunc(slices.Clone(r.Queries), func(q QueryResult) bool { return !c.meets(q.Metadata) })
}

// summary returns the means over the queries of a slice.
func (r *Result) summary(c conditions) Slice {
	queries := r.where(c)
	s := Slice{Name: c.String(), Queries: len(queries)}
	columns := make([][]float64, len(r.Metrics))
	for i, m := range r.Metrics {
		columns[i] = scoresBy(queries, m.Metric)
		s.Metrics = append(s.Metrics, Score{m.Metric, stats.Mean(columns[i])})
	}
	s.Intervals = intervals(r.Metrics, columns)
	return s
}

// sliceTable returns a row for each slice.
func (r *Result) sliceTable() string {
	if len(r.Slices) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "  slice\tqueries")
	for _, m := range r.Metrics {
		fmt.Fprintf(w, "\t%s", m.Metric)
	}
	fmt.Fprintln(w, "\tthreshold")
	for _, s := range r.Slices {
		fmt.Fprintf(w, "  %s\t%d", s.Name, s.Queries)
		var verdicts []string
		for _, m := range s.Metrics {
			fmt.Fprintf(w, "\t%.4f", m.Value)
			if verdict := r.verdict(m.Metric + "[" + s.Name + "]"); verdict != "" {
				verdicts = append(verdicts, m.Metric+" "+verdict)
			}
		}
		fmt.Fprintf(w, "\t%s\n", strings.Join(verdicts, ", "))
	}
	w.Flush()
	return "\n" + b.String()
}
