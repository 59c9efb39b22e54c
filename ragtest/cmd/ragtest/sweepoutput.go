package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rageval/rageval/internal/wholefile"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/report"
	"github.com/rageval/rageval/ragtest/sweep"
)

// output is the folder of what a sweep writes.
type output struct {
	dir    string   // "": nothing is written
	others []string // where results may be, too: those of shards
}

// make makes the folder, if there is one.
func (o output) make() error {
	if o.dir == "" {
		return nil
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return fmt.Errorf("making the output directory: %w", err)
	}
	return nil
}

func (o output) cells() string { return filepath.Join(o.dir, "cells") }

// shardFile is the report of a shard.
func (o output) shardFile(s sweep.Shard) string {
	return filepath.Join(o.dir, fmt.Sprintf("sweep-%d-of-%d.json", s.Index, s.Count))
}

// shards returns the reports of shards in the folder.
func (o output) shards() ([]string, error) {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return nil, fmt.Errorf("looking for the reports of shards: %w", err)
	}
	var files []string
	for _, entry := range entries {
		var s sweep.Shard
		if n, _ := fmt.Sscanf(entry.Name(), "sweep-%d-of-%d.json", &s.Index, &s.Count); n == 2 && o.shardFile(s) == filepath.Join(o.dir, entry.Name()) {
			files = append(files, o.shardFile(s))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no report of a shard in %s, such as sweep-0-of-4.json", o.dir)
	}
	return files, nil
}

// keepResult keeps the whole result of a cell before the cell counts as finished. In it
// the chunker has its own name, and the run that of the cell.
func (o output) keepResult(c sweep.Cell, r *ragtest.Result) error {
	result := *r
	result.Components.Chunker, _, _ = strings.Cut(r.Components.Chunker, configMark)
	data, err := json.Marshal(result)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := z.Write(append(data, '\n')); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	ids := make([]ragtest.QueryID, len(r.Queries))
	for i, q := range r.Queries {
		ids[i] = q.ID
	}
	folder := filepath.Join(o.dir, "results")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(folder, resultName(c, r.CorpusFingerprint, ids)), b.Bytes())
}

// resultName returns the name of the file of a cell's result: what of the cell's name
// can be read in a name of a file, and a hash that tells it from others.
func resultName(c sweep.Cell, corpus string, queries []ragtest.QueryID) string {
	h := sha256.New()
	for _, s := range append([]string{c.Name, corpus}, texts(queries)...) {
		fmt.Fprintf(h, "%d %s\n", len(s), s)
	}
	readable := strings.Trim(unfitForFile.ReplaceAllString(c.Name, ","), ",")
	return fmt.Sprintf("%s-%.6x.json.gz", readable[:min(len(readable), 150)], h.Sum(nil))
}

func texts[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// write writes the report: of a shard, one file; else also a table and, of the results
// that are there, a page. It returns what is worth knowing, in lines.
func (o output) write(ctx context.Context, r *sweep.Report, data *collection, shard sweep.Shard) ([]string, error) {
	if err := o.make(); err != nil {
		return nil, err
	}
	if shard.Count > 0 {
		path := o.shardFile(shard)
		return []string{fmt.Sprintf("wrote %s: %d of %s", path, len(r.Cells), counted(r.GridCells, "cell", "cells"))}, r.Write(path)
	}
	if err := r.Write(filepath.Join(o.dir, "sweep.json")); err != nil {
		return nil, err
	}
	var table bytes.Buffer
	if err := r.WriteCSV(&table); err != nil {
		return nil, err
	}
	if err := wholefile.Write(filepath.Join(o.dir, "sweep.csv"), table.Bytes()); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results, err := loadResults(r, append([]string{o.dir}, o.others...))
	if err != nil {
		return nil, err
	}
	var lines []string
	if n := len(r.Cells) - len(results); n > 0 {
		lines = append(lines, fmt.Sprintf("the results of %s are missing in %s: the page is without them; to have them, remove %s and sweep again",
			counted(n, "cell", "cells"), filepath.Join(o.dir, "results"), o.cells()))
	}
	wrote := []string{"sweep.json", "sweep.csv"}
	if len(results) > 0 {
		page := report.Page{Title: strings.TrimSpace("sweep " + r.Name), Results: results}
		if data != nil {
			page.Corpus = data.corpus
		}
		if len(results) == len(r.Cells) {
			page.RankBy = r.Metrics[0]
		}
		if err := page.WriteFile(filepath.Join(o.dir, "sweep.html")); err != nil {
			return nil, err
		}
		wrote = append(wrote, "sweep.html")
	}
	return append(lines, fmt.Sprintf("wrote %s to %s", strings.Join(wrote, ", "), o.dir)), ctx.Err()
}

// loadResults returns the results of the cells of a report that are in the folders
// results of dirs.
func loadResults(r *sweep.Report, dirs []string) ([]*ragtest.Result, error) {
	var list []*ragtest.Result
	for _, c := range r.Cells {
		name := resultName(c, r.CorpusFingerprint, r.Queries)
		for _, dir := range dirs {
			result, err := readResult(filepath.Join(dir, "results", name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if isOf(result, c) {
				list = append(list, result)
				break
			}
		}
	}
	return list, nil
}

// isOf reports whether a result is that of a cell: whether it has the cell's scores.
func isOf(r *ragtest.Result, c sweep.Cell) bool {
	if len(r.Metrics) != len(c.Metrics) || !slices.Equal(r.Metrics, c.Metrics) {
		return false
	}
	for m, scores := range c.Scores {
		if len(scores) != len(r.Queries) {
			return false
		}
		for q, score := range scores {
			if found := r.Queries[q].Scores; len(found) <= m || found[m].Value != score {
				return false
			}
		}
	}
	return true
}
