package ragtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
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

// onPurpose is set for the benchmarks that a test runs.
const onPurpose = "RAGTEST_BENCHMARK_ON_PURPOSE"

// BenchmarkOnPurpose does what benchmarks should not, and what they may do.
func BenchmarkOnPurpose(b *testing.B) {
	if os.Getenv(onPurpose) == "" {
		b.Skip("for TestBenchmarks only")
	}
	run := func(b *testing.B) { ragtest.RunTokenLevel(b, fruit(b)) }
	b.Run("inside", func(b *testing.B) {
		for b.Loop() {
			run(b)
		}
	})
	b.Run("after", func(b *testing.B) {
		for b.Loop() {
		}
		run(b)
	})
	b.Run("twice", func(b *testing.B) {
		run(b)
		ragtest.RunChunkLevel(b, fruitChunks(b))
	})
	b.Run("counted", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			run(b)
		}
	})
	b.Run("range", func(b *testing.B) {
		for range b.N { // which is 1 before the first Loop
			run(b)
		}
	})
	b.Run("stopped", func(b *testing.B) {
		b.StopTimer()
		run(b)
	})
	b.Run("wrapped", func(b *testing.B) { ragtest.RunTokenLevel(struct{ *testing.B }{b}, fruit(b)) })
	b.Run("fails", func(b *testing.B) {
		calls := 0
		e := fruit(b)
		e.Store = &countingStore{ragtest.NewMemoryStore[chunkers.PositionAwareChunk](), func() error {
			if calls++; calls == 2 {
				return errors.New("boom")
			}
			return nil
		}}
		ragtest.RunTokenLevel(b, e)
	})
	b.Run("threshold", func(b *testing.B) { ragtest.RunTokenLevel(b, fruit(b), ragtest.SpanRecall.AtLeast(0.9)) })
	b.Run("other-metric", func(b *testing.B) {
		e := fruit(b)
		e.Metrics = []ragtest.TokenMetric{ragtest.SpanMRR.At(1)}
		ragtest.RunTokenLevel(b, e)
	})
}

// runBenchmarks runs this test binary's benchmarks as go test -bench does.
func runBenchmarks(t *testing.T, pattern string, flags ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^$", "-test.bench=" + pattern}, flags...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), onPurpose+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestBenchmarks(t *testing.T) {
	const within, before = "ragtest: the evaluation is within this benchmark's own b.Loop", "ragtest: this benchmark ran a loop or an evaluation before"
	for name, want := range map[string]struct{ failure, says string }{
		"inside":       {within, ""},
		"after":        {before, ""},
		"twice":        {before, "b.Run"},
		"counted":      {before, ""},
		"range":        {},
		"stopped":      {},
		"wrapped":      {},
		"fails":        {"ragtest: could not measure: retrieving: boom", ""},
		"threshold":    {"ragtest: span_recall: got 0.8333, want >= 0.9", "span_recall     0.8333  0.1250 to 1.0000  0.8333   0.5000  2             >= 0.9 FAILED"},
		"other-metric": {},
	} {
		out, err := runBenchmarks(t, "^BenchmarkOnPurpose$/^"+name+"$", "-test.benchtime=3x")
		if want.failure == "" {
			if result := regexp.MustCompile(`(?m)^BenchmarkOnPurpose/` + name + `\S*\s+3\s.* ns/query.* span_`); err != nil || !result.MatchString(out) {
				t.Errorf("%s: got error %v and output\n%s\nwant a result of 3 iterations", name, err, out)
			}
		} else if err == nil || !strings.Contains(out, want.failure) || !strings.Contains(out, want.says) {
			t.Errorf("%s: got error %v and output\n%s\nwant a failure that says %q and %q", name, err, out, want.failure, want.says)
		}
	}
	out, _ := runBenchmarks(t, "^BenchmarkOnPurpose$/^threshold$", "-test.benchtime=1x")
	if want := "reproduce: go test -v -run '^$' -bench '^BenchmarkOnPurpose$/^threshold$'\n"; !strings.Contains(out, want) {
		t.Errorf("got output\n%s\nwant %q", out, want)
	}
}

// Unit lines stand at the begin of a line, once each, whatever is printed around
// them.
func TestUnitLines(t *testing.T) {
	units := []string{"Unit span_recall better=higher assume=exact", "Unit span_mrr@1 better=higher assume=exact", "Unit chunks assume=exact"}
	for _, flags := range [][]string{nil, {"-test.v"}, {"-test.count=2"}, {"-test.v", "-test.count=2", "-test.cpu=1,2"}, {"-test.benchmem"}} {
		out, err := runBenchmarks(t, "^BenchmarkOnPurpose$/^(stopped|wrapped|other-metric)$", append(flags, "-test.benchtime=1x")...)
		if err != nil {
			t.Errorf("%q: %v\n%s", flags, err, out)
		}
		for _, unit := range units {
			if n := strings.Count("\n"+out, "\n"+unit+"\n"); n != 1 || strings.Count(out, unit) != 1 {
				t.Errorf("%q: got %q %d times at the begin of a line, want once, in\n%s", flags, unit, n, out)
			}
		}
	}
}

// What a benchmark prints is what benchstat reads: units with their metadata, and
// a result line for each run with every metric.
func TestBenchstatReadsTheOutput(t *testing.T) {
	out, err := runBenchmarks(t, "^BenchmarkChunkers$", "-test.benchtime=3x", "-test.count=2")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
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

func TestBenchmark(t *testing.T) {
	setFlag(t, "test.benchtime", "20x")
	chunked, embedded, retrieved := 0, 0, 0
	var last *ragtest.Result
	got := testing.Benchmark(func(b *testing.B) {
		e := fruit(b)
		e.Chunker = chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
			if doc.ID() == "a.md" {
				chunked++
			}
			return placedLines{}.ChunkWithPositions(ctx, doc)
		})
		e.Embedder = asymmetric{letters{}.Embed, func(ctx context.Context, texts []string) ([][]float32, error) {
			embedded++
			return letters{}.Embed(ctx, texts)
		}}
		e.Store = &countingStore{ragtest.NewMemoryStore[chunkers.PositionAwareChunk](), func() error {
			retrieved++
			return nil
		}}
		last = ragtest.RunTokenLevel(b, e)
	})
	if chunked > 2 || embedded != chunked {
		t.Errorf("chunked %d times and embedded the queries %d times, want once in each run of the benchmark", chunked, embedded)
	}
	if retrieved != got.N || got.N != 20 {
		t.Errorf("retrieved %d times in %d iterations, want 20", retrieved, got.N)
	}
	intervals := map[string]int{}
	for _, interval := range last.Trace.Intervals {
		intervals[interval.Stage]++
	}
	if diff := cmp.Diff(intervals, map[string]int{"chunk": 2, "embed": 1, "index": 1, "embed queries": 1, "retrieve": 1, "score": 1}); diff != "" {
		t.Errorf("the trace is of set-up and the last round: intervals (-got +want):\n%s", diff)
	}
	for _, s := range last.Metrics {
		if value, ok := got.Extra[s.Metric]; !ok || value != s.Value {
			t.Errorf("%s: got %v, %v, want %v", s.Metric, value, ok, s.Value)
		}
	}
	if got.Extra["chunks"] != 5 {
		t.Errorf("got chunks %v, want 5", got.Extra["chunks"])
	}
	perQuery := float64(got.T.Nanoseconds()) / float64(got.N) / 3
	if r := got.Extra["ns/query"] / perQuery; r < 0.5 || r > 1.5 {
		t.Errorf("got %v ns/query, want about %v", got.Extra["ns/query"], perQuery)
	}
}

type countingStore struct {
	*ragtest.MemoryStore[chunkers.PositionAwareChunk]
	search func() error // called before each search
}

func (s *countingStore) SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]scored, error) {
	if err := s.search(); err != nil {
		return nil, err
	}
	return s.MemoryStore.SearchBatch(ctx, queries, k)
}
