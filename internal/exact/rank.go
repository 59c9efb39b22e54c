package exact

import (
	"context"
	"runtime"

	"github.com/rageval/rageval/internal/parallel"
)

// BestRanks returns, for each query and each of its sets of rows, the lowest
// rank, from 1, that any row of the set has among all rows by [Compare]: where
// [Matrix.Search] with a large enough k would find the first of them. The queries
// are as for Search; sets[q] holds the sets for query q, each of one row index or
// more.
//
// It takes the time of a search for the queries, but no memory for rankings.
func (m *Matrix) BestRanks(ctx context.Context, queries [][]float32, sets [][][]int) ([][]int, error) {
	if len(queries) == 0 {
		return nil, context.Cause(ctx)
	}
	packed := m.pack(queries)
	best := make([][]Hit, len(queries)) // of each set
	ranks := make([][]int, len(queries))
	for q := range queries {
		query := packed.rows[q*m.stride : (q+1)*m.stride]
		best[q], ranks[q] = make([]Hit, len(sets[q])), make([]int, len(sets[q]))
		for i, rows := range sets[q] {
			ranks[q][i] = 1
			best[q][i] = m.score(query, rows[0])
			for _, row := range rows[1:] {
				if h := m.score(query, row); Compare(h, best[q][i]) < 0 {
					best[q][i] = h
				}
			}
		}
	}
	workers := runtime.GOMAXPROCS(0)
	shares, _ := m.shares(len(queries), workers)
	better := make([][][]int, len(shares)) // by share, query of its group, and set
	err := parallel.Do(ctx, workers, len(shares), func(ctx context.Context, i int) error {
		s := shares[i]
		counts := make([][]int, s.last-s.first)
		for q := range counts {
			counts[q] = make([]int, len(best[s.first+q]))
		}
		better[i] = counts
		return m.scan(ctx, packed, s, func(q, index int, scores []float32) {
			for set, b := range best[s.first+q] {
				n := 0
				for j, score := range scores {
					if score > b.Score || score == b.Score && index+j < b.Index {
						n++
					}
				}
				counts[q][set] += n
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for i, s := range shares {
		for q, counts := range better[i] {
			for set, n := range counts {
				ranks[s.first+q][set] += n
			}
		}
	}
	return ranks, nil
}

// score returns the hit of a packed query and a row.
func (m *Matrix) score(query []float32, row int) Hit {
	rows, at := m.segments[row/m.segmentRows()].rows, row%m.segmentRows()*m.stride
	return Hit{row, dot(query, rows[at:at+m.stride])}
}
