package chunkers

import (
	"context"
	"fmt"
	"slices"
)

// Cluster chooses, of all ways to join neighbouring units, the one whose chunks
// hold together best: the sum over all chunks, of the similarities of all pairs
// of units in a chunk, each less the mean similarity of all pairs of units in
// the text, is the largest (the cluster semantic chunker of the Chroma report).
// It is found by dynamic programming. Unlike the other rules it looks at the
// whole of a chunk, so that a short aside does not end it.
//
// A chunk has at most MaxSize/UnitSize units, rounded down, as in the report;
// and it measures at most MaxSize, unless it is a single unit. With n units and
// at most w of them in a chunk, time is O(n·w), that of comparing n·w pairs of
// vectors above all, and memory is 4 bytes for each of those.
//
// Of two choices with the same sum, the one whose last chunk is longer is taken,
// then the one whose last but one is. So a text whose units are all equally
// similar has chunks as long as they may be.
//
// Note: where no choice for the beginning of a text has a sum above 0, the
// report's code makes one chunk of that beginning, even beyond the maximum. It
// prefers shorter chunks at a tie. It multiplies vectors as they are, which for
// those of unit length is the cosine.
type Cluster struct {
	MaxSize int // most that a chunk may measure, by Semantic.Length; at least 1

	// UnitSize is what a unit may measure, by Semantic.Length, unless
	// Semantic.Units says otherwise. 0: an eighth of MaxSize, as in the report,
	// which has 50 tokens for 400, but at least 1.
	UnitSize int
}

// Validate returns an error unless MaxSize is at least 1 and UnitSize from 0 to
// MaxSize.
func (c Cluster) Validate() error {
	if c.MaxSize < 1 {
		return fmt.Errorf("cluster rule: MaxSize is %d: want at least 1", c.MaxSize)
	}
	return validateUnitSize("cluster rule", c.UnitSize, "MaxSize", c.MaxSize)
}

// String returns a name such as cluster=400/unitsize=50.
func (c Cluster) String() string {
	name := fmt.Sprintf("cluster=%d", c.MaxSize)
	if c.UnitSize != 0 {
		name += fmt.Sprintf("/unitsize=%d", c.UnitSize)
	}
	return name
}

func (c Cluster) needs() needs {
	unitSize := unitSizeOr(c.UnitSize, c.MaxSize)
	return needs{reach: c.MaxSize/unitSize - 1, unitSize: unitSize, lengths: true}
}

func (c Cluster) cuts(ctx context.Context, s *similarities, lengths []int) ([]int, error) {
	// best[i] is the largest sum that the first i units allow, and first[i] the
	// unit that begins their last chunk.
	best := make([]int64, s.n+1)
	first := make([]int, s.n+1)
	// toLast[j%len(toLast)] is the sum of the similarities, less the mean, of
	// unit j to those after it, up to the last of the chunk.
	toLast := make([]int64, s.reach+1)
	for last := range s.n {
		if last%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		toLast[last%len(toLast)] = 0
		best[last+1], first[last+1] = best[last], last
		within, length := int64(0), lengths[last]
		for d := 1; d <= min(last, s.reach); d++ {
			j := last - d
			if length += lengths[j]; length > c.MaxSize {
				break // toLast of j and of those before it is not looked at again
			}
			sum := &toLast[j%len(toLast)]
			*sum += int64(s.at(last, d)) - int64(s.mean)
			within += *sum
			if best[j]+within >= best[last+1] {
				best[last+1], first[last+1] = best[j]+within, j
			}
		}
	}
	var cuts []int
	for i := first[s.n]; i > 0; i = first[i] {
		cuts = append(cuts, i)
	}
	slices.Reverse(cuts)
	return cuts, nil
}
