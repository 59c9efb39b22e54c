package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// measure runs the benchmarks of the rows and returns their samples, by package and
// name.
func measure(ctx context.Context, rows []row, rounds int, benchtime string) (map[string]map[string]samples, error) {
	names := map[string][]string{}
	var dirs []string
	for _, r := range rows {
		if names[r.dir] == nil {
			dirs = append(dirs, r.dir)
		}
		names[r.dir] = append(names[r.dir], r.ours)
		if r.theirs != "" {
			names[r.dir] = append(names[r.dir], r.theirs)
		}
	}
	temp, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	if data := os.Getenv("RAGTEST_DATA"); data != "" {
		if data, err = filepath.Abs(data); err != nil {
			return nil, err
		}
		os.Setenv("RAGTEST_DATA", data) // the binaries run elsewhere
	}
	found := map[string]map[string]samples{}
	for i, dir := range dirs {
		binary := filepath.Join(temp, fmt.Sprint(i, ".test"))
		if _, err := command(ctx, dir, "go", "test", "-c", "-o", binary, "."); err != nil {
			return nil, err
		}
		found[dir] = map[string]samples{}
		for round := range rounds {
			fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", dir, round+1, rounds)
			for _, family := range families(names[dir]) {
				out, err := command(ctx, dir, binary, "-test.run=^$", "-test.v", "-test.bench="+pattern(family), "-test.benchtime="+benchtime)
				if err != nil {
					return nil, err
				}
				if err := read(found[dir], bytes.NewReader(out)); err != nil {
					return nil, fmt.Errorf("%s: %w", dir, err)
				}
			}
		}
		// A skipped benchmark is named without those that it would have run.
		for _, name := range names[dir] {
			for skipped, s := range found[dir] {
				if s == nil && strings.HasPrefix(name, skipped+"/") {
					found[dir][name] = nil
				}
			}
		}
	}
	return found, nil
}

// command runs a command and returns what it prints. Its error holds the end of that.
func command(ctx context.Context, dir string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(problems.String() + out.String())
		return nil, fmt.Errorf("running %s %s in %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), dir, err, said[max(0, len(said)-2000):])
	}
	return out.Bytes(), nil
}

// families groups names by what go test can choose by one pattern: a pattern for each
// level of sub-benchmarks, so that it chooses all combinations. One run of the binary
// for each top-level benchmark keeps those few.
func families(names []string) [][]string {
	var order []string
	of := map[string][]string{}
	for _, name := range names {
		top, _, _ := strings.Cut(name, "/")
		top = fmt.Sprint(top, strings.Count(name, "/"))
		if of[top] == nil {
			order = append(order, top)
		}
		of[top] = append(of[top], name)
	}
	var list [][]string
	for _, top := range order {
		list = append(list, of[top])
	}
	return list
}

// pattern returns what chooses the benchmarks, and as few others as there can be.
func pattern(names []string) string {
	var levels [][]string
	for _, name := range names {
		for i, part := range strings.Split(name, "/") {
			if i == 0 {
				part = "Benchmark" + part
			}
			if i == len(levels) {
				levels = append(levels, nil)
			}
			if part = regexp.QuoteMeta(part); !slices.Contains(levels[i], part) {
				levels[i] = append(levels[i], part)
			}
		}
	}
	var parts []string
	for _, level := range levels {
		parts = append(parts, "^("+strings.Join(level, "|")+")$")
	}
	return strings.Join(parts, "/")
}

// read adds what a test binary printed with -test.v to the samples of each benchmark.
func read(found map[string]samples, out io.Reader) error {
	text, err := io.ReadAll(out)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "--- SKIP: Benchmark"); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(name), " ")
			if found[withoutProcessors(name)] == nil {
				found[withoutProcessors(name)] = nil
			}
		}
	}
	r := benchfmt.NewReader(bytes.NewReader(text), "benchmarks")
	for r.Scan() {
		switch result := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return result
		case *benchfmt.Result:
			name := withoutProcessors(string(result.Name))
			s := found[name]
			if s == nil {
				s = samples{}
				found[name] = s
			}
			for _, v := range result.Values {
				value, unit := v.Value, v.Unit
				if v.OrigUnit != "" {
					value, unit = v.OrigValue, v.OrigUnit
				}
				s[unit] = append(s[unit], value)
			}
		}
	}
	return errors.Join(r.Err())
}

// withoutProcessors cuts the number of processors off the name of a benchmark.
func withoutProcessors(name string) string { return strings.TrimSuffix(name, processors()) }

// processors returns what go test adds to the name of a benchmark: nothing if there is
// but one processor.
func processors() string {
	if n := runtime.GOMAXPROCS(0); n > 1 {
		return fmt.Sprint("-", n)
	}
	return ""
}
