package chunkers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Threshold cuts between neighbouring units whose similarity is below it. It
// must be from -1 to 1; which value is a good one depends on the embedder. The
// units are sentences, unless Semantic.Units says otherwise.
type Threshold float64

// Validate returns an error unless t is from -1 to 1.
func (t Threshold) Validate() error {
	if !(t >= -1 && t <= 1) {
		return fmt.Errorf("threshold rule: Threshold is %v: want a similarity from -1 to 1", float64(t))
	}
	return nil
}

// String returns a name such as threshold=0.5.
func (t Threshold) String() string { return "threshold=" + number(float64(t)) }

func (t Threshold) needs() needs { return needs{reach: 1} }

func (t Threshold) cuts(_ context.Context, s *similarities, _ []int) ([]int, error) {
	bound := rounded(float64(t))
	return cutsWhere(s.distances(), func(d int32) bool { return one-d < bound }), nil
}

// Percentile cuts where the distance of neighbouring units, which is 1 minus
// their similarity, exceeds the given percentile of all such distances in the
// text (Kamradt). So the number of chunks follows from the number of units. The
// units are sentences, unless Semantic.Units says otherwise.
//
// The percentile is interpolated linearly between the two distances next to it,
// as NumPy does by default.
type Percentile struct {
	// Percentile of the distances above which to cut; 0: 95. It must be from 0
	// to 100, at which nothing is cut.
	Percentile float64

	// Buffer is the number of units on each side that are embedded with a unit,
	// to smooth the distances. Kamradt has 1.
	Buffer int
}

const defaultPercentile = 95

// Validate returns an error unless Percentile is from 0 to 100 and Buffer is
// not negative.
func (p Percentile) Validate() error {
	if !(p.Percentile >= 0 && p.Percentile <= 100) {
		return fmt.Errorf("percentile rule: Percentile is %v: want 0, which means %d, or a percentile up to 100", p.Percentile, defaultPercentile)
	}
	return validateBuffer("percentile rule", p.Buffer)
}

func validateBuffer(rule string, buffer int) error {
	if buffer < 0 {
		return fmt.Errorf("%s: Buffer is %d: want at least 0", rule, buffer)
	}
	return nil
}

// String returns a name such as percentile=90/buffer=1.
func (p Percentile) String() string {
	name := "percentile=" + number(p.percentile())
	if p.Buffer != 0 {
		name += fmt.Sprintf("/buffer=%d", p.Buffer)
	}
	return name
}

func (p Percentile) percentile() float64 {
	if p.Percentile == 0 {
		return defaultPercentile
	}
	return p.Percentile
}

func (p Percentile) needs() needs { return needs{reach: 1, buffer: p.Buffer} }

func (p Percentile) cuts(_ context.Context, s *similarities, _ []int) ([]int, error) {
	distances := s.distances()
	bound := percentileOf(distances, p.percentile())
	return cutsWhere(distances, func(d int32) bool { return float64(d) > bound }), nil
}

// percentileOf returns the p-th percentile of at least one value, interpolated
// linearly.
func percentileOf(values []int32, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	whole, part := math.Modf(float64(p*float64(len(sorted)-1)) / 100)
	below := sorted[int(whole)]
	above := sorted[min(int(whole)+1, len(sorted)-1)]
	return float64(below) + float64(part*float64(above-below))
}

// TargetSize cuts at the widest distances, as [Percentile] does, but at as many
// as make chunks of about the given mean size: at most the length of all units
// divided by Size, rounded down (the "modified" Kamradt chunker of the Chroma
// report). At equal distances it cuts everywhere or nowhere, so there may be
// fewer cuts; and never between units of equal vectors.
//
// The report searches the distance above which to cut by bisection, from 0 to 1
// and to a width of 10⁻⁶. Here it is read off the sorted distances: the cuts are
// those that the bisection converges to, also where it stops one step too early
// and where distances exceed 1.
type TargetSize struct {
	Size int // mean length of the chunks, by Semantic.Length; at least 1

	// UnitSize is what a unit may measure, by Semantic.Length, unless
	// Semantic.Units says otherwise. 0: an eighth of Size, as in the report,
	// which has 50 tokens for 400, but at least 1.
	UnitSize int

	// Buffer is the number of units on each side that are embedded with a unit.
	// The report has 3.
	Buffer int
}

// Validate returns an error unless Size is at least 1, UnitSize from 0 to Size,
// and Buffer not negative.
func (t TargetSize) Validate() error {
	if t.Size < 1 {
		return fmt.Errorf("target-size rule: Size is %d: want at least 1", t.Size)
	}
	if err := validateUnitSize("target-size rule", t.UnitSize, "Size", t.Size); err != nil {
		return err
	}
	return validateBuffer("target-size rule", t.Buffer)
}

func validateUnitSize(rule string, unitSize int, field string, size int) error {
	if unitSize < 0 || unitSize > size {
		return fmt.Errorf("%s: UnitSize is %d: want 0, which means an eighth of %s, or at most %s, which is %d", rule, unitSize, field, field, size)
	}
	return nil
}

// unitSizeOr returns unitSize, or what 0 means for chunks of the given size.
func unitSizeOr(unitSize, size int) int {
	if unitSize == 0 {
		return max(1, size/8)
	}
	return unitSize
}

// String returns a name such as targetsize=400/unitsize=50/buffer=3.
func (t TargetSize) String() string {
	name := fmt.Sprintf("targetsize=%d", t.Size)
	if t.UnitSize != 0 {
		name += fmt.Sprintf("/unitsize=%d", t.UnitSize)
	}
	if t.Buffer != 0 {
		name += fmt.Sprintf("/buffer=%d", t.Buffer)
	}
	return name
}

func (t TargetSize) needs() needs {
	return needs{reach: 1, buffer: t.Buffer, unitSize: unitSizeOr(t.UnitSize, t.Size), lengths: true}
}

func (t TargetSize) cuts(_ context.Context, s *similarities, lengths []int) ([]int, error) {
	total := 0
	for _, n := range lengths {
		total += n
	}
	distances := s.distances()
	bound := int32(0)
	if most := total / t.Size; most < len(distances) {
		sorted := slices.Sorted(slices.Values(distances))
		bound = sorted[len(sorted)-1-most]
	}
	return cutsWhere(distances, func(d int32) bool { return d > bound }), nil
}

// cutsWhere returns the units before which the distance is wide, where
// distances[i] is that of unit i to the next.
func cutsWhere(distances []int32, wide func(d int32) bool) []int {
	var cuts []int
	for i, d := range distances {
		if wide(d) {
			cuts = append(cuts, i+1)
		}
	}
	return cuts
}

// number prints x with as few digits as tell it apart.
func number(x float64) string { return strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)) }
