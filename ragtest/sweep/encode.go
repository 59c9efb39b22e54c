package sweep

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/rageval/rageval/internal/wholefile"
	"github.com/rageval/rageval/ragtest"
)

const schemaVersion = 1

// fields has the fields of Report without its methods.
type fields Report

type versioned struct {
	SchemaVersion int `json:"schemaVersion"`
	fields
}

// MarshalJSON returns the JSON form of r.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(versioned{schemaVersion, fields(r)})
}

// UnmarshalJSON reads what MarshalJSON returned. A schema version that is missing or
// unknown is an error, and so are cells or curves that do not have a score for each
// query.
func (r *Report) UnmarshalJSON(data []byte) error {
	var read versioned
	if err := json.Unmarshal(data, &read); err != nil {
		return fmt.Errorf("reading a sweep: %w", err)
	}
	if read.SchemaVersion != schemaVersion {
		return fmt.Errorf("reading a sweep: schemaVersion: got %d, want %d", read.SchemaVersion, schemaVersion)
	}
	got := Report(read.fields)
	if err := got.check(); err != nil {
		return fmt.Errorf("reading a sweep: %w", err)
	}
	*r = got
	return nil
}

// check returns an error for a report that no sweep makes.
func (r *Report) check() error {
	if len(r.Metrics) == 0 {
		return fmt.Errorf("field metrics: empty, want at least one")
	}
	if len(r.Queries) == 0 {
		return fmt.Errorf("field queries: empty, want at least one")
	}
	for i, c := range r.Cells {
		if len(c.Scores) != len(r.Metrics) || len(c.Metrics) != len(r.Metrics) {
			return fmt.Errorf("cell %d (%s): it has %d means and scores by %d metrics, want %d of each", i, c.Name, len(c.Metrics), len(c.Scores), len(r.Metrics))
		}
		if !sameSlices(c.Slices, r.Cells[0].Slices, len(r.Metrics)) {
			return fmt.Errorf("cell %d (%s): it has other slices than cell 0, or not %d means of each", i, c.Name, len(r.Metrics))
		}
		for m, scores := range c.Scores {
			if len(scores) != len(r.Queries) || c.Metrics[m].Metric != r.Metrics[m] {
				return fmt.Errorf("cell %d (%s): it has %d scores by %s, want %d by %s", i, c.Name, len(scores), c.Metrics[m].Metric, len(r.Queries), r.Metrics[m])
			}
		}
	}
	for i, c := range r.Curves {
		if len(c.Recalls) != len(r.Queries) || len(c.Points) != curvePoints {
			return fmt.Errorf("curve %d (%s): it has %d recalls and %d points, want %d and %d", i, c.Configuration.name(), len(c.Recalls), len(c.Points), len(r.Queries), curvePoints)
		}
	}
	return nil
}

// sameSlices reports whether both lists have the same slices, with so many means.
func sameSlices(a, b []ragtest.Slice, means int) bool {
	return slices.EqualFunc(a, b, func(x, y ragtest.Slice) bool {
		return x.Name == y.Name && len(x.Metrics) == means && len(y.Metrics) == means
	})
}

// Write writes the JSON form to a file, which is complete at any moment, old or new.
func (r *Report) Write(path string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("writing a sweep to %s: %w", path, err)
	}
	return wholefile.Write(path, append(data, '\n'))
}

// Read reads a file that [Report.Write] wrote.
func Read(path string) (*Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a sweep: %w", err)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}

// WriteCSV writes a table with a row for each cell, in the order of the grid: its
// number and name, a column for each axis, its means with their intervals, those of the
// slices, its rank and ties by the first metric, its costs, and whether it is on either
// Pareto front. Numbers have all their digits. Fields that begin as a formula of a spreadsheet does (=, +, -,
// @) get a ' before them.
func (r *Report) WriteCSV(w io.Writer) error { return r.writeCSV(w, r.Standings()) }

func (r *Report) writeCSV(w io.Writer, standings []Standing) error {
	var axes []string
	for _, c := range r.Cells {
		for _, s := range c.Settings() {
			if !slices.Contains(axes, s.Axis) {
				axes = append(axes, s.Axis)
			}
		}
	}
	head := append([]string{"cell", "name"}, axes...)
	for _, m := range r.Metrics {
		head = append(head, m, m+" low", m+" high")
	}
	if len(r.Cells) > 0 {
		for _, slice := range r.Cells[0].Slices {
			for _, m := range r.Metrics {
				head = append(head, m+"["+slice.Name+"]")
			}
		}
	}
	head = append(head, "rank", "p", "tied", "chunks", "retrieved chars", "embedded chars", "reranked chars", "cost", "pareto chars", "pareto cost")
	rows := [][]string{head}
	place := make([]Standing, len(r.Cells))
	for _, s := range standings {
		place[s.Cell] = s
	}
	byChars := r.Pareto(func(c Cell) float64 { return c.RetrievedChars })
	byCost := r.Pareto(func(c Cell) float64 { return c.Cost })
	for i, c := range r.Cells {
		row := []string{strconv.Itoa(c.Index), c.Name}
		settings := c.Settings()
		for _, axis := range axes {
			at := slices.IndexFunc(settings, func(s Setting) bool { return s.Axis == axis })
			if at < 0 {
				row = append(row, "")
				continue
			}
			row = append(row, settings[at].Value)
		}
		for _, m := range c.Metrics {
			row = append(row, number(m.Value))
			if low, high, ok := c.Interval(m.Metric); ok {
				row = append(row, number(low), number(high))
			} else {
				row = append(row, "", "")
			}
		}
		for _, slice := range c.Slices {
			for _, m := range slice.Metrics {
				row = append(row, number(m.Value))
			}
		}
		s := place[i]
		row = append(row, strconv.Itoa(s.Rank), number(s.P), strconv.FormatBool(s.Tied), strconv.Itoa(c.Chunks),
			number(c.RetrievedChars), strconv.Itoa(c.EmbeddedChars), strconv.Itoa(c.RerankedChars), number(c.Cost),
			strconv.FormatBool(slices.Contains(byChars, i)), strconv.FormatBool(slices.Contains(byCost, i)))
		rows = append(rows, row)
	}
	for _, row := range rows[1:] {
		for i := range row[:2+len(axes)] {
			if row[i] != "" && (row[i][0] == '=' || row[i][0] == '+' || row[i][0] == '-' || row[i][0] == '@') {
				row[i] = "'" + row[i]
			}
		}
	}
	out := csv.NewWriter(w)
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("writing a sweep as CSV: %w", err)
	}
	return nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
