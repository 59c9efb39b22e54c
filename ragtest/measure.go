package ragtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rageval/rageval/chunkers"
)

type metric[M any] interface {
	Name() string
	Equal(M) bool
	validate(k int) error
}

type threshold[M any] interface {
	metric() M
	validate() error
	want() bound
	slice() conditions // of the queries that count
	name() string
}

// settle settles the setup of a level, and returns the metrics to compute: the
// standard ones if none are asked for.
func settle[C chunkers.Indexed, M metric[M], T threshold[M]](s *setup[C], metrics, standard []M, thresholds []T, sliceBy []string) ([]M, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	if metrics == nil {
		metrics = standard
	}
	metrics, err := measure(metrics, thresholds, s.k)
	if err != nil {
		return nil, err
	}
	if len(metrics) == 0 {
		return nil, errors.New("field Metrics: empty, and no threshold names a metric: want at least one, or nil for the standard ones")
	}
	s.slices, err = slice(s.queries, sliceBy, thresholds)
	return metrics, err
}

func namesOf[M metric[M]](metrics []M) []string {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name()
	}
	return names
}

// keepBest scores one answer of a query, answer 0 first, and keeps the best score of
// all by each metric.
func keepBest[M any](scores []float64, answer int, metrics []M, score func(M) (float64, error)) error {
	for i, m := range metrics {
		got, err := score(m)
		if err != nil {
			return err
		}
		if answer == 0 || got > scores[i] {
			scores[i] = got
		}
	}
	return nil
}

// measure returns the metrics to compute: those asked for and, after them,
// those that only thresholds name.
func measure[M metric[M], T threshold[M]](metrics []M, thresholds []T, k int) ([]M, error) {
	metrics = slices.Clone(metrics)
	byName := map[string]M{}
	for i, m := range metrics {
		if err := m.validate(k); err != nil {
			return nil, fmt.Errorf("field Metrics: metric %d: %w", i, err)
		}
		if _, ok := byName[m.Name()]; ok {
			return nil, fmt.Errorf("field Metrics: two metrics have the name %s", m.Name())
		}
		byName[m.Name()] = m
	}
	for i, t := range thresholds {
		m := t.metric()
		if err := m.validate(k); err != nil {
			return nil, fmt.Errorf("threshold %d: %w", i, err)
		}
		if err := t.validate(); err != nil {
			return nil, fmt.Errorf("threshold %d: %w", i, err)
		}
		same, ok := byName[m.Name()]
		if ok && !same.Equal(m) {
			return nil, fmt.Errorf("threshold %d: two metrics have the name %s", i, m.Name())
		}
		if !ok {
			byName[m.Name()] = m
			metrics = append(metrics, m)
		}
	}
	return metrics, nil
}

// dependsOnRank reports whether, with the given K, reordering what was
// retrieved can change m. Of a custom metric it is assumed.
func (m TokenMetric) dependsOnRank(k int) bool {
	ranked := []*tokenMeasure{SpanMRR.measure, SpanNDCG.measure, SpanMAP.measure}
	return m.measure.custom != nil || m.cut.of(k) < k || slices.Contains(ranked, m.measure)
}

// dependsOnRank is that of TokenMetric.
func (m ChunkMetric) dependsOnRank(k int) bool {
	ranked := []*chunkMeasure{ChunkMRR.measure, ChunkNDCG.measure, ChunkMAP.measure}
	return m.measure.custom != nil || m.cut.of(k) < k || slices.Contains(ranked, m.measure)
}
