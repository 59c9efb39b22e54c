package trec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// measure is one number about the ranking of a query.
type measure struct {
	name  string
	of    func(q *ranking) float64
	total total
}

// total is how the values of all queries become one.
type total int

const (
	mean          total = iota
	sum                 // of counts
	geometricMean       // of values of at least 0.00001
)

func (m measure) overall(values []float64) float64 {
	all := 0.0
	for _, v := range values {
		if m.total == geometricMean {
			v = math.Log(max(v, 0.00001))
		}
		all += v
	}
	switch m.total {
	case mean:
		return all / float64(len(values))
	case geometricMean:
		return math.Exp(all / float64(len(values)))
	}
	return all
}

// single are the measures without a cut-off.
var single = map[string]measure{
	"num_ret":     {of: func(q *ranking) float64 { return float64(q.retrieved) }, total: sum},
	"num_rel":     {of: func(q *ranking) float64 { return float64(q.relevant) }, total: sum},
	"num_rel_ret": {of: func(q *ranking) float64 { return float64(len(q.hits)) }, total: sum},
	"map":         {of: func(q *ranking) float64 { return q.averagePrecision(q.retrieved) }},
	"gm_map":      {of: func(q *ranking) float64 { return q.averagePrecision(q.retrieved) }, total: geometricMean},
	"Rprec":       {of: func(q *ranking) float64 { return q.recall(q.relevant) }},
	"bpref":       {of: (*ranking).bpref},
	"recip_rank":  {of: (*ranking).reciprocalRank},
	"ndcg":        {of: func(q *ranking) float64 { return q.ndcg(math.MaxInt) }},
}

// ranks are the measures at a cut-off of ranks, with trec_eval's cut-offs.
var ranks = map[string]struct {
	of   func(q *ranking, k int) float64
	cuts []int
}{
	"P":        {(*ranking).precision, []int{5, 10, 15, 20, 30, 100, 200, 500, 1000}},
	"recall":   {(*ranking).recall, []int{5, 10, 15, 20, 30, 100, 200, 500, 1000}},
	"ndcg_cut": {(*ranking).ndcg, []int{5, 10, 15, 20, 30, 100, 200, 500, 1000}},
	"map_cut":  {(*ranking).averagePrecision, []int{5, 10, 15, 20, 30, 100, 200, 500, 1000}},
	"success":  {(*ranking).success, []int{1, 5, 10}},
}

const iprec = "iprec_at_recall"

// DefaultMeasures returns the measures of a [Scorer] that names none: those that
// trec_eval prints if it is not told any, and nDCG.
func DefaultMeasures() []string {
	return []string{
		"num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
		iprec, "P", "recall", "ndcg", "ndcg_cut", "success",
	}
}

// measuresOf returns the measures of the given names, families spelt out. The
// measure num_q has no function.
func measuresOf(names []string) ([]measure, error) {
	var all []measure
	seen := make(map[string]bool)
	for i, name := range names {
		family, err := measuresNamed(name)
		if err != nil {
			return nil, fmt.Errorf("field Measures: measure %d: %w", i, err)
		}
		for _, m := range family {
			if seen[m.name] {
				return nil, fmt.Errorf("field Measures: measure %d: %s is there twice", i, m.name)
			}
			seen[m.name] = true
			all = append(all, m)
		}
	}
	return all, nil
}

func measuresNamed(name string) ([]measure, error) {
	if name == "num_q" {
		return []measure{{name: name, total: sum}}, nil
	}
	if m, ok := single[name]; ok {
		m.name = name
		return []measure{m}, nil
	}
	if r, ok := ranks[name]; ok {
		var family []measure
		for _, k := range r.cuts {
			family = append(family, atRank(name, k, r.of))
		}
		return family, nil
	}
	if name == iprec {
		var family []measure
		for tenth := range 11 {
			family = append(family, atRecall(float64(tenth)/10))
		}
		return family, nil
	}
	if at := strings.LastIndexByte(name, '_'); at >= 0 {
		family, cut := name[:at], name[at+1:]
		if r, ok := ranks[family]; ok {
			k, err := strconv.Atoi(cut)
			if err != nil || k < 1 || cut != strconv.Itoa(k) {
				return nil, fmt.Errorf("%q: want a cut-off of at least 1 after %s_", name, family)
			}
			return []measure{atRank(family, k, r.of)}, nil
		}
		if family == iprec {
			level, err := strconv.ParseFloat(cut, 64)
			if err != nil || !(level >= 0 && level <= 1) {
				return nil, fmt.Errorf("%q: want a recall between 0 and 1 after %s_", name, family)
			}
			return []measure{atRecall(level)}, nil
		}
	}
	return nil, fmt.Errorf("%q: want one of %s", name, strings.Join(known(), ", "))
}

func atRank(family string, k int, of func(*ranking, int) float64) measure {
	return measure{name: family + "_" + strconv.Itoa(k), of: func(q *ranking) float64 { return of(q, k) }}
}

func atRecall(level float64) measure {
	return measure{name: fmt.Sprintf("%s_%.2f", iprec, level), of: func(q *ranking) float64 { return q.interpolated(level) }}
}

// known returns the names of all measures and families, for an error.
func known() []string {
	names := []string{"num_q", iprec, iprec + "_0.10"}
	for name := range single {
		names = append(names, name)
	}
	for name, r := range ranks {
		names = append(names, name, name+"_"+strconv.Itoa(r.cuts[1]))
	}
	slices.Sort(names)
	return names
}
