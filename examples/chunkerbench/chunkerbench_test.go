// Package chunkerbench compares chunkers as Go compares everything else: with
// benchmarks and benchstat. Chunking, embedding and indexing are set-up; what
// is timed is retrieving and scoring all queries, and beside the time stand the
// metrics.
//
// Compare chunkers of one run:
//
//	go test -run='^$' -bench=Chunkers ./examples/chunkerbench > chunkers.txt
//	go tool benchstat -col /chunker -row /size,/overlap -filter '.unit:(span_recall OR span_precision OR span_iou OR chunks)' chunkers.txt
//
// testdata/benchstat.golden is what that prints. Compare the working tree with
// the last commit:
//
//	git worktree add ../before HEAD
//	(cd ../before && go test -run='^$' -bench=Chunkers -count=6 ./examples/chunkerbench) > old.txt
//	go test -run='^$' -bench=Chunkers -count=6 ./examples/chunkerbench > new.txt
//	go tool benchstat old.txt new.txt
//
// The metrics are exact: their Unit lines tell benchstat so, and a difference
// shows with a count of one. Times need more.
package chunkerbench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/stretchr/testify/require"
)

func BenchmarkChunkers(b *testing.B) {
	corpus, err := fixtures.ReadDir("../quickstart/testdata/handbook")
	require.NoError(b, err)
	queries, err := fixtures.ReadTokenTruth(os.DirFS("../quickstart/testdata"), "handbook.golden.jsonl", corpus)
	require.NoError(b, err)
	for _, size := range []int{200, 400, 800} {
		for _, overlap := range []int{0, size / 2} {
			for _, chunker := range []struct {
				name string
				chunkers.PositionAwareChunker
			}{
				{"fixed", chunkers.FixedSize{Size: size, Overlap: overlap}},
				{"recursive", chunkers.RecursiveCharacter{Size: size, Overlap: overlap}},
			} {
				b.Run(fmt.Sprintf("chunker=%s/size=%d/overlap=%d/k=5", chunker.name, size, overlap), func(b *testing.B) {
					ragtest.RunTokenLevel(b, ragtest.TokenLevel{
						Corpus:   corpus,
						Queries:  queries,
						Chunker:  chunker.PositionAwareChunker,
						Embedder: lexical.Embedder{},
						K:        5,
					})
				})
			}
		}
	}
}

// TestBenchstat runs the commands above and compares with the golden output:
// RAGTEST_UPDATE=1 rewrites it.
func TestBenchstat(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	bench := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkChunkers$", "-test.benchtime=1x")
	out, err := bench.Output()
	require.NoError(t, err, "%s", out)
	results := filepath.Join(t.TempDir(), "chunkers.txt")
	require.NoError(t, os.WriteFile(results, out, 0o644))
	benchstat := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-col", "/chunker", "-row", "/size,/overlap",
		"-filter", ".unit:(span_recall OR span_precision OR span_iou OR chunks)", results)
	table, err := benchstat.Output()
	require.NoError(t, err)
	got := withoutMachine(string(table))
	const golden = "testdata/benchstat.golden"
	if os.Getenv("RAGTEST_UPDATE") == "1" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(got, string(want)), "benchstat (-got +want)")
}

// withoutMachine drops the lines that say where the benchmark ran.
func withoutMachine(table string) string {
	var kept []string
	for _, line := range strings.Split(table, "\n") {
		switch key, _, _ := strings.Cut(line, ": "); key {
		case "goos", "goarch", "pkg", "cpu":
		default:
			kept = append(kept, strings.TrimRight(line, " "))
		}
	}
	return strings.Join(kept, "\n")
}
