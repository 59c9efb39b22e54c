package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const printed = `goos: linux
pkg: example
BenchmarkCut
BenchmarkCut/impl=ours/size=200
BenchmarkCut/impl=ours/size=200-PROCS  100  2000 ns/op  300.0 MB/s  50.00 cpu-ns/op  3 found
BenchmarkCut/impl=theirs/size=200
BenchmarkCut/impl=theirs/size=200-PROCS  100  10000 ns/op  60.0 MB/s  400.00 cpu-ns/op  3 found
BenchmarkCut/impl=ours/size=200-PROCS  100  4000 ns/op  100.00 cpu-ns/op  3 found
BenchmarkCut/impl=theirs/size=200-PROCS  100  12000 ns/op  500.00 cpu-ns/op  3 found
BenchmarkCut/impl=ours/size=200-PROCS  100  1000 ns/op  10.00 cpu-ns/op  3 found
BenchmarkCut/impl=theirs/size=200-PROCS  100  7000 ns/op  60.00 cpu-ns/op  3 found
BenchmarkOnce-PROCS  1  2500000000 ns/op
BenchmarkData
    bench_test.go:1: RAGTEST_DATA is not set
--- SKIP: BenchmarkData
PASS
`

// results are the samples that were printed.
func results(t *testing.T) map[string]samples {
	t.Helper()
	found := map[string]samples{}
	if err := read(found, strings.NewReader(strings.ReplaceAll(printed, "-PROCS", processors()))); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFigures(t *testing.T) {
	found := results(t)
	pair := row{dir: "d", ours: "Cut/impl=ours/size=200", theirs: "Cut/impl=theirs/size=200"}
	with := func(change func(r *row)) row {
		r := pair
		change(&r)
		return r
	}
	for name, test := range map[string]struct {
		row  row
		want figure
	}{
		"times as fast": {pair, figure{least: 3, median: 5, most: 7, rounds: 3}},
		"times as long": {with(func(r *row) { r.slower = true }), figure{least: 1.0 / 7, median: 0.2, most: 1.0 / 3, rounds: 3}},
		"in a unit":     {with(func(r *row) { r.unit = "cpu-ns/op" }), figure{least: 5, median: 6, most: 8, rounds: 3}},
		"absolute":      {row{dir: "d", ours: "Once"}, figure{least: 2.5e9, median: 2.5e9, most: 2.5e9, rounds: 1}},
		"skipped":       {row{dir: "d", ours: "Data", theirs: "Once"}, figure{skipped: true}},
	} {
		got, err := test.row.figure(found)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) })
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(figure{}), near); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got)\n%s", name, err, diff)
		}
	}
	for want, r := range map[string]row{
		"d: there is no BenchmarkCut/impl=other":                           with(func(r *row) { r.ours = "Cut/impl=other" }),
		"d: BenchmarkCut/impl=ours/size=200 has no unit B/op":              with(func(r *row) { r.unit = "B/op" }),
		"d: Cut/impl=ours/size=200 ran 3 times, Once 1 times":              with(func(r *row) { r.theirs = "Once" }),
		"d: BenchmarkZero has 0 ns/op, want more than 0":                   {dir: "d", ours: "Zero"},
		"d: BenchmarkNot has NaN ns/op, want more than 0":                  {dir: "d", ours: "Not"},
		"d: there is no BenchmarkCut/impl=theirs/size=200/overlap=nothing": with(func(r *row) { r.theirs += "/overlap=nothing" }),
	} {
		found["Zero"], found["Not"] = samples{"ns/op": {0}}, samples{"ns/op": {math.NaN()}}
		if _, err := r.figure(found); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

func TestMedianOfAnEvenNumber(t *testing.T) {
	found := map[string]samples{"A": {"ns/op": {1, 1, 1, 1}}, "B": {"ns/op": {8, 2, 4, 100}}}
	got, err := row{ours: "A", theirs: "B"}.figure(found)
	if want := (figure{least: 2, median: 6, most: 100, rounds: 4}); err != nil || got != want {
		t.Errorf("got %+v, error %v, want %+v", got, err, want)
	}
}

func TestTable(t *testing.T) {
	rows := []row{
		{what: "cutting", dir: "d", ours: "Cut/impl=ours/size=200", theirs: "Cut/impl=theirs/size=200", want: 4},
		{what: "cutting faster", dir: "d", ours: "Cut/impl=ours/size=200", theirs: "Cut/impl=theirs/size=200", want: 5.5},
		{what: "whole", dir: "d", ours: "Once", want: 2e9},
		{what: "data", dir: "d", ours: "Data", theirs: "Once", slower: true, want: 2},
	}
	var out strings.Builder
	if err := write(&out, rows, map[string]map[string]samples{"d": results(t)}); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"what            median                             least – most   rounds  wanted",
		"cutting         5×                                 3× – 7×        3       at least 4×",
		"cutting faster  5×                                 3× – 7×        3       at least 5.5×  missed",
		"whole           2.5 s                              2.5 s – 2.5 s  1       at most 2 s    missed",
		"data            skipped: RAGTEST_DATA names no data                        at most 2×",
	}, "\n")
	fold := func(s string) (lines []string) {
		for line := range strings.Lines(s) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return lines
	}
	if diff := cmp.Diff(fold(want), fold(out.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPattern(t *testing.T) {
	got := pattern([]string{"Cut/impl=a/size=2", "Cut/impl=b.c/size=2"})
	if want := `^(BenchmarkCut)$/^(impl=a|impl=b\.c)$/^(size=2)$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	list := families([]string{"Cut/a", "Go/b", "Cut/c", "Cut/c/d"})
	if diff := cmp.Diff([][]string{{"Cut/a", "Cut/c"}, {"Go/b"}, {"Cut/c/d"}}, list); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.what] {
			t.Errorf("%q is there twice", r.what)
		}
		seen[r.what] = true
		if r.dir == "" || r.ours == "" || r.want <= 0 || r.slower && r.theirs == "" {
			t.Errorf("%q: the row is not complete: %+v", r.what, r)
		}
	}
}

func TestArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"-rounds is 0, want at least 1":                               {"-rounds=0"},
		`no row matches -only "xyzzy"`:                                {"-only=xyzzy"},
		"reading -only: error parsing regexp: missing closing ): `(`": {"-only=("},
		`got arguments ["all"], want none`:                            {"all"},
	} {
		if err := run(t.Context(), args); err == nil || err.Error() != want {
			t.Errorf("%q: got error %v, want %q", args, err, want)
		}
	}
}
