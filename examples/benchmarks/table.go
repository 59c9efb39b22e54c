package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// row is a ratio of two benchmarks: how many times as fast one is, or how many times
// as long it takes.
type row struct {
	what string
	dir  string // of the package, from the root of the repository

	// ours and theirs are names of benchmarks, without "Benchmark" and the number of
	// processors. An empty theirs makes the row a time.
	ours, theirs string
	unit         string // of both, nanoseconds if theirs is empty; "": ns/op

	slower bool    // the ratio is ours by theirs, and wanted to be at most want
	want   float64 // 0: nothing in particular
}

// samples are the values of a benchmark, by unit, one a round. Nil: it was skipped.
type samples map[string][]float64

// figure is what a row shows.
type figure struct {
	least, median, most float64
	rounds              int
	skipped             bool
}

// figure computes the row from the samples of all benchmarks of its package. It is an
// error if one of its benchmarks did not run, or lacks the unit.
func (r row) figure(found map[string]samples) (figure, error) {
	ours, skipped, err := r.values(found, r.ours, r.unit)
	if err != nil || skipped {
		return figure{skipped: skipped}, err
	}
	ratios := slices.Clone(ours)
	if r.theirs != "" {
		theirs, skipped, err := r.values(found, r.theirs, r.unit)
		if err != nil || skipped {
			return figure{skipped: skipped}, err
		}
		if len(ours) != len(theirs) {
			return figure{}, fmt.Errorf("%s: %s ran %d times, %s %d times", r.dir, r.ours, len(ours), r.theirs, len(theirs))
		}
		for i := range ratios {
			if r.slower {
				ratios[i] = ours[i] / theirs[i]
			} else {
				ratios[i] = theirs[i] / ours[i]
			}
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	return figure{least: ratios[0], median: (ratios[(n-1)/2] + ratios[n/2]) / 2, most: ratios[n-1], rounds: n}, nil
}

func (r row) values(found map[string]samples, name, unit string) (values []float64, skipped bool, err error) {
	s, ok := found[name]
	if !ok {
		return nil, false, fmt.Errorf("%s: there is no Benchmark%s", r.dir, name)
	}
	if s == nil {
		return nil, true, nil
	}
	if unit == "" {
		unit = "ns/op"
	}
	for _, v := range s[unit] {
		if !(v > 0) {
			return nil, false, fmt.Errorf("%s: Benchmark%s has %v %s, want more than 0", r.dir, name, v, unit)
		}
	}
	if len(s[unit]) == 0 {
		return nil, false, fmt.Errorf("%s: Benchmark%s has no unit %s", r.dir, name, unit)
	}
	return s[unit], false, nil
}

// write prints the table. A figure that is not what the row wants is marked: it is
// told, not an error, since a busy machine shows anything.
func write(w io.Writer, rows []row, found map[string]map[string]samples) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tmedian\tleast – most\trounds\twanted\t")
	for _, r := range rows {
		f, err := r.figure(found[r.dir])
		if err != nil {
			return err
		}
		if f.skipped {
			fmt.Fprintf(t, "%s\tskipped: RAGTEST_DATA names no data\t\t\t%s\t\n", r.what, r.wanted())
			continue
		}
		mark := ""
		if r.want > 0 && (r.atMost() && f.median > r.want || !r.atMost() && f.median < r.want) {
			mark = "missed"
		}
		fmt.Fprintf(t, "%s\t%s\t%s – %s\t%d\t%s\t%s\n", r.what, r.show(f.median), r.show(f.least), r.show(f.most), f.rounds, r.wanted(), mark)
	}
	return t.Flush()
}

func (r row) atMost() bool { return r.slower || r.theirs == "" }

func (r row) wanted() string {
	switch {
	case r.want == 0:
		return ""
	case r.atMost():
		return "at most " + r.show(r.want)
	}
	return "at least " + r.show(r.want)
}

// show prints a ratio, or a time.
func (r row) show(v float64) string {
	if r.theirs == "" {
		return fmt.Sprintf("%.3g s", v/1e9)
	}
	return fmt.Sprintf("%.3g×", v)
}
