package ragtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"golang.org/x/perf/benchfmt"
)

// BenchmarkChunkers is named as benchstat -col /chunker wants it.
func BenchmarkChunkers(b *testing.B) {
	for _, chunker := range []interface {
		chunkers.PositionAwareChunker
		String() string
	}{chunkers.FixedSize{Size: 8}, chunkers.RecursiveCharacter{Size: 8}} {
		b.Run(fmt.Sprintf("chunker=%s/k=%d", chunker, 2), func(b *testing.B) {
			e := fruit(b)
			e.Chunker, e.K = chunker, 2
			ragtest.RunTokenLevel(b, e)
		})
	}
}

// misuse is set for the benchmarks that TestBenchmarkMisuse runs.
const misuse = "RAGTEST_BENCHMARK_MISUSE"

func BenchmarkMisuseInsideLoop(b *testing.B) {
	skipUnlessMisuse(b)
	for b.Loop() {
		ragtest.RunTokenLevel(b, fruit(b))
	}
}

func BenchmarkMisuseTwice(b *testing.B) {
	skipUnlessMisuse(b)
	ragtest.RunTokenLevel(b, fruit(b))
	ragtest.RunChunkLevel(b, fruitChunks(b))
}

func skipUnlessMisuse(b *testing.B) {
	if os.Getenv(misuse) == "" {
		b.Skip("a mistake that TestBenchmarkMisuse makes on purpose")
	}
}

// runBenchmarks runs this test binary's benchmarks as go test -bench does.
func runBenchmarks(t *testing.T, pattern string, env ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench="+pattern, "-test.benchtime=3x", "-test.count=2")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestBenchmarkMisuse(t *testing.T) {
	for pattern, want := range map[string]string{
		"^BenchmarkMisuseInsideLoop$": "within this benchmark's own b.Loop",
		"^BenchmarkMisuseTwice$":      "this benchmark ran a loop or an evaluation before",
	} {
		out, err := runBenchmarks(t, pattern, misuse+"=1")
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: got error %v and output\n%s\nwant a failure that says %q", pattern, err, out, want)
		}
	}
}

// What a benchmark prints is what benchstat reads: units with their metadata,
// once, and a result line for each run with every metric.
func TestBenchstatReadsTheOutput(t *testing.T) {
	out, err := runBenchmarks(t, "^BenchmarkChunkers$")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, unit := range []string{
		"Unit span_recall better=higher assume=exact", "Unit span_precision better=higher assume=exact",
		"Unit span_iou better=higher assume=exact", "Unit chunks assume=exact",
	} {
		if n := strings.Count("\n"+out, "\n"+unit+"\n"); n != 1 {
			t.Errorf("got %q %d times at the begin of a line, want once, in\n%s", unit, n, out)
		}
	}
	results := 0
	files := benchfmt.NewReader(strings.NewReader(out), "output")
	for files.Scan() {
		switch record := files.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("benchfmt: %v", record)
		case *benchfmt.Result:
			results++
			if _, keys := record.Name.Parts(); len(keys) < 3 || string(keys[1]) != "/size=8" || !strings.HasPrefix(string(keys[2]), "/k=2") {
				t.Errorf("got benchmark %s, want the keys chunker, size and k", record.Name)
			}
			for _, unit := range []string{"span_recall", "span_precision", "span_iou", "chunks", "sec/query"} {
				if _, ok := record.Value(unit); !ok {
					t.Errorf("%s: no value with unit %s in %v", record.Name, unit, record.Values)
				}
			}
		}
	}
	if err := files.Err(); err != nil {
		t.Fatal(err)
	}
	if results != 4 {
		t.Errorf("got %d results, want 2 benchmarks twice, in\n%s", results, out)
	}
	for unit, properties := range map[string]string{"span_recall": "exact", "chunks": "exact"} {
		if got := files.Units()[benchfmt.UnitMetadataKey{Unit: unit, Key: "assume"}]; got == nil || got.Value != properties {
			t.Errorf("unit %s: got assume=%v, want %s", unit, got, properties)
		}
	}
}
