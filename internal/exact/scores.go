package exact

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/rageval/rageval/internal/parallel"
)

// Scores are those of rows with queries, by [Queries.Compare]. Reading is safe for
// concurrent use.
//
// The scores of a row with the queries of a group lie together, and those of the next
// row behind them.
type Scores struct {
	queries int
	groups  [][]float32
}

// scoreGroup is how many queries are of a group: as many as one line of a processor's
// cache holds scores.
const scoreGroup = 16

// NewScores returns room for the scores of rows.
func NewScores(rows, queries int) *Scores {
	s := &Scores{queries, make([][]float32, ceilDiv(queries, scoreGroup))}
	for i := range s.groups {
		s.groups[i] = make([]float32, rows*scoreGroup)
	}
	return s
}

// ScoresBytes returns how much memory the scores of rows take.
func ScoresBytes(rows, queries int) int64 {
	return 4 * int64(rows) * int64(ceilDiv(queries, scoreGroup)) * scoreGroup
}

// set sets the scores of a query.
func (s *Scores) set(query int, rows []int, scores []float32) {
	group, at := s.groups[query/scoreGroup], query%scoreGroup
	for i, row := range rows {
		group[row*scoreGroup+at] = scores[i]
	}
}

func (s *Scores) at(query, row int) float32 {
	return s.groups[query/scoreGroup][row*scoreGroup+query%scoreGroup]
}

// Search returns what [Matrix.SearchAndRank] does for a matrix whose row i has the
// scores of rows[i]. It uses all processors and stops soon after ctx is done.
func (s *Scores) Search(ctx context.Context, rows []int, k int, wanted [][]int) (found [][]Hit, ranked [][]int, err error) {
	if k < 0 {
		return nil, nil, fmt.Errorf("k is %d, want 0 or more", k)
	}
	found, ranked = make([][]Hit, s.queries), make([][]int, len(wanted))
	if k == 0 && wanted == nil || len(rows) == 0 {
		return found, ranked, context.Cause(ctx)
	}
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(s.groups), func(_ context.Context, group int) error {
		first := group * scoreGroup
		g := selection{scores: s.groups[group], n: min(scoreGroup, s.queries-first)}
		for i := range g.n {
			g.tops[i] = newTop(k)
			if wanted != nil {
				hits := make([]Hit, len(wanted[first+i]))
				for j, w := range wanted[first+i] {
					hits[j] = Hit{w, s.at(first+i, rows[w])}
				}
				g.ladders[i] = newLadder(hits)
			}
		}
		g.scan(rows)
		for i := range g.n {
			slices.SortFunc(g.tops[i].heap, Compare)
			found[first+i] = slices.Clip(g.tops[i].heap)
			if wanted != nil {
				ranked[first+i] = ranks(wanted[first+i], g.ladders[i:i+1])
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return found, ranked, nil
}

// selection selects for a group of n queries.
type selection struct {
	scores  []float32
	n       int
	tops    [scoreGroup]top
	ladders [scoreGroup]ladder
}

// selectRows is how many rows are looked at for one query before the next: their
// scores with all queries of a group stay in the first-level cache.
const selectRows = 256

func (g *selection) scan(rows []int) {
	var column [selectRows]float32
	index := 0
	for block := range slices.Chunk(rows, selectRows) {
		for i := range g.n {
			for j, row := range block {
				column[j] = g.scores[row*scoreGroup+i]
			}
			g.tops[i].offer(index, column[:len(block)])
			g.ladders[i].offer(index, column[:len(block)])
		}
		index += len(block)
	}
}
