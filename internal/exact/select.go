package exact

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/rageval/rageval/internal/parallel"
)

const (
	// selectQueries is how many queries are looked at together: one line of a
	// processor's cache holds the scores of a row for as many.
	selectQueries = 16
	// selectRows is how many rows are looked at before the next query is.
	selectRows = 1024
)

// Select returns what [Matrix.SearchAndRank] does for n queries where all scores are
// known: scores[row][query], by [Queries.Compare]. It uses all processors and stops
// soon after ctx is done.
func Select(ctx context.Context, scores [][]float32, n, k int, wanted [][]int) (found [][]Hit, ranked [][]int, err error) {
	if k < 0 {
		return nil, nil, fmt.Errorf("k is %d, want 0 or more", k)
	}
	found, ranked = make([][]Hit, n), make([][]int, len(wanted))
	if k == 0 && wanted == nil || len(scores) == 0 || n == 0 {
		return found, ranked, context.Cause(ctx)
	}
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), ceilDiv(n, selectQueries), func(ctx context.Context, group int) error {
		first, last := group*selectQueries, min((group+1)*selectQueries, n)
		var tops [selectQueries]top
		var ladders [selectQueries]ladder
		for i := range last - first {
			tops[i] = newTop(k)
			if wanted != nil {
				ladders[i] = newLadder(hitsAmong(scores, first+i, wanted[first+i]))
			}
		}
		columns := make([]float32, selectQueries*selectRows)
		for start := 0; start < len(scores); start += selectRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows := scores[start:min(start+selectRows, len(scores))]
			for r, row := range rows {
				for i, s := range row[first:last] {
					columns[i*selectRows+r] = s
				}
			}
			for i := range last - first {
				column := columns[i*selectRows:][:len(rows)]
				tops[i].offer(start, column)
				ladders[i].offer(start, column)
			}
		}
		for i := range last - first {
			slices.SortFunc(tops[i].heap, Compare)
			found[first+i] = slices.Clip(tops[i].heap)
			if wanted != nil {
				ranked[first+i] = ranks(wanted[first+i], ladders[i:i+1])
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return found, ranked, nil
}

// hitsAmong returns the hits of a query and rows.
func hitsAmong(scores [][]float32, query int, rows []int) []Hit {
	hits := make([]Hit, len(rows))
	for i, row := range rows {
		hits[i] = Hit{row, scores[row][query]}
	}
	return hits
}
