package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/sweep"
)

// readResult reads a result as the library writes it, which may be compressed.
func readResult(path string) (*ragtest.Result, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parseResult(path, data)
}

func parseResult(path string, data []byte) (*ragtest.Result, error) {
	var r ragtest.Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, q := range r.Queries {
		for _, s := range q.Scores {
			if !(s.Value >= 0 && s.Value <= 1) {
				return nil, fmt.Errorf("%s: query %s: %s is %v, want a score between 0 and 1", path, q.ID, s.Metric, s.Value)
			}
		}
	}
	return &r, nil
}

// readFile returns the content of a file, unpacked if it is compressed with gzip.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := unpack(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}

// unpack reads everything, unpacked if it is compressed.
func unpack(r io.Reader) ([]byte, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return io.ReadAll(b)
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// reading is what arguments name.
type reading struct {
	results []*ragtest.Result
	swept   *sweep.Report // if it is the only argument
	missing error         // results of cells that are not there
}

// readResults reads what arguments name: files of results, of which - is standard input,
// and reports of sweeps, whose results are in the folder beside them.
func readResults(in *inputs, e *env, args []string) (reading, error) {
	var all reading
	if i := slices.Index(args, "-"); i >= 0 && slices.Contains(args[i+1:], "-") {
		return all, misuse("standard input is there twice, as -: want it once")
	}
	for _, arg := range args {
		name, err := in.name(e, arg)
		if err != nil {
			return all, err
		}
		f, err := in.Open(name)
		if err != nil {
			return all, err
		}
		data, err := unpack(f)
		f.Close()
		if err != nil {
			return all, fmt.Errorf("reading %s: %w", name, err)
		}
		var kind struct {
			Level *string          `json:"level"`
			Cells *json.RawMessage `json:"cells"`
		}
		if err := json.Unmarshal(data, &kind); err != nil {
			return all, fmt.Errorf("%s: reading a result: %w", name, err)
		}
		if kind.Level != nil || kind.Cells == nil {
			r, err := parseResult(name, data)
			if err != nil {
				return all, err
			}
			if kind.Level == nil {
				return all, fmt.Errorf("%s: reading a result: it has no level, want the JSON form of a ragtest.Result", name)
			}
			all.results = append(all.results, r)
			continue
		}
		var swept sweep.Report
		if err := json.Unmarshal(data, &swept); err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		results, err := loadResults(&swept, []string{filepath.Dir(name)})
		if err != nil {
			return all, err
		}
		if len(args) == 1 {
			all.swept = &swept
		}
		if missing := len(swept.Cells) - len(results); missing > 0 {
			all.missing = errors.Join(all.missing, fmt.Errorf("%s: the results of %d of its %s are missing in %s", name, missing,
				counted(len(swept.Cells), "cell", "cells"), filepath.Join(filepath.Dir(name), "results")))
		}
		all.results = append(all.results, results...)
	}
	return all, nil
}
