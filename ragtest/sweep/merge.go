package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/rageval/rageval/ragtest"
)

// Merge joins the reports of the shards of one grid, in any order. It refuses reports
// of another corpus, other queries, metrics, another budget or grid, and two that have
// different results for one cell. Cells may be missing: [Report.Warnings] says so. Work
// and usage add up.
func Merge(parts ...*Report) (*Report, error) {
	if len(parts) == 0 || slices.Contains(parts, nil) {
		return nil, errors.New("merging sweeps: want at least one report, and none that is nil")
	}
	first := parts[0]
	merged := *first
	merged.Cells, merged.Curves, merged.Work, merged.Usage, merged.Elapsed = nil, nil, Work{}, nil, 0
	for i, p := range parts {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("merging sweeps: report %d: %w", i, err)
		}
		for _, same := range []struct {
			what       string
			here, want string
		}{
			{"corpus", p.CorpusFingerprint, first.CorpusFingerprint}, {"queries", p.QueriesFingerprint, first.QueriesFingerprint},
			{"metrics", fmt.Sprint(p.Metrics), fmt.Sprint(first.Metrics)}, {"budget", p.Budget, first.Budget}, {"grid", p.Grid, first.Grid},
		} {
			if same.here != same.want {
				return nil, fmt.Errorf("merging sweeps: report %d has another %s than the first: got %s, want %s", i, same.what, cmp.Or(same.here, "none"), cmp.Or(same.want, "none"))
			}
		}
		merged.Cells = append(merged.Cells, p.Cells...)
		merged.Curves = append(merged.Curves, p.Curves...)
		merged.Work.join(p.Work)
		merged.Usage = ragtest.SumUsage(merged.Usage, p.Usage)
		merged.Elapsed = max(merged.Elapsed, p.Elapsed)
	}
	var err error
	if merged.Cells, err = once(merged.Cells, func(c Cell) (int, string) { return c.Index, c.Name }); err != nil {
		return nil, err
	}
	merged.Curves, err = once(merged.Curves, func(c Curve) (int, string) { return c.Index, c.Configuration.name() })
	return &merged, err
}

// once returns the list in order of index, without what it has twice.
func once[T any](list []T, of func(T) (index int, name string)) ([]T, error) {
	slices.SortStableFunc(list, func(a, b T) int {
		i, _ := of(a)
		j, _ := of(b)
		return cmp.Compare(i, j)
	})
	var kept []T
	for _, x := range list {
		if n := len(kept); n > 0 {
			i, name := of(x)
			if j, _ := of(kept[n-1]); i == j {
				if !reflect.DeepEqual(x, kept[n-1]) {
					return nil, fmt.Errorf("merging sweeps: two reports have different results for %s", name)
				}
				continue
			}
		}
		kept = append(kept, x)
	}
	return kept, nil
}

func (w *Work) join(v Work) {
	w.Cells += v.Cells
	w.Kept += v.Kept
	for _, s := range []struct {
		to   *Saving
		from Saving
	}{
		{&w.Chunked, v.Chunked}, {&w.Embedded, v.Embedded}, {&w.Queries, v.Queries}, {&w.Retrieved, v.Retrieved}, {&w.Reranked, v.Reranked},
	} {
		s.to.Done += s.from.Done
		s.to.Alone += s.from.Alone
	}
}
