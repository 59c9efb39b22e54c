package beam

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// noise embeds a text as numbers that follow from its hash: vectors like those of a
// model, for next to nothing.
type noise struct{}

const noiseDim = 384

func (noise) String() string { return "noise" }

func (noise) Embed(_ context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, text := range texts {
		list[i] = make([]float32, noiseDim)
		x := hashOf(text) | 1
		for j := range list[i] {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			list[i][j] = float32(int64(x)) / (1 << 63)
		}
	}
	return list, nil
}

func init() {
	RegisterEmbedder("noise", func(string) (ragtest.Embedder, error) { return noise{}, nil })
}

const (
	chunkChars   = 400 // of each chunk
	chunksPerDoc = 20
)

// writeGrowth writes a corpus of n chunks, a document a line and 20 chunks in each, and
// returns the pattern of its files.
func writeGrowth(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	var file *os.File
	for i := range n / chunksPerDoc {
		if i%10000 == 0 {
			if file != nil {
				file.Close()
			}
			var err error
			if file, err = os.Create(filepath.Join(dir, fmt.Sprintf("part-%05d.jsonl", i/10000))); err != nil {
				tb.Fatal(err)
			}
		}
		var text strings.Builder
		for c := range chunksPerDoc {
			words := fmt.Sprintf("The %dth passage of document %d tells of something. ", c, i)
			text.WriteString(strings.Repeat(words, chunkChars/len(words)+1)[:chunkChars])
		}
		if _, err := fmt.Fprintf(file, "{\"_id\":\"doc%09d\",\"text\":%q}\n", i, text.String()); err != nil {
			tb.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(dir, "*.jsonl")
}

// growthSweep is a sweep of one chunker and embedder with 100 queries.
func growthSweep() Sweep {
	s := Sweep{Chunkers: []string{fmt.Sprintf("fixed/size=%d", chunkChars)}, Embedders: []string{"noise"}, K: []int{10}}
	for i := range 100 {
		s.Queries = append(s.Queries, ragtest.TokenQuery{Query: ragtest.Query{Text: fmt.Sprintf("query %d", i)},
			Relevant: []spans.Span{{Doc: spans.DocumentID(fmt.Sprintf("doc%09d", i)), Start: 0, End: 400}}})
	}
	return s
}

// BenchmarkGrowth runs a sweep over 10,000 chunks in the in-process Prism runner, or
// over each of the numbers that RAGTEST_BEAM_CHUNKS has, with commas between them. The
// memory is that of the process at its peak, in which Prism keeps all that it shuffles:
// it means something for the first of the numbers only.
func BenchmarkGrowth(b *testing.B) {
	counts := os.Getenv("RAGTEST_BEAM_CHUNKS")
	if counts == "" {
		counts = "10000"
	}
	for _, count := range strings.Split(counts, ",") {
		n, err := strconv.Atoi(count)
		if err != nil || n < 2000 {
			b.Fatalf("RAGTEST_BEAM_CHUNKS: got %q, want numbers from 2000 on", counts)
		}
		b.Run("chunks="+count, func(b *testing.B) {
			b.ReportAllocs()
			files := writeGrowth(b, n)
			s := growthSweep()
			for b.Loop() {
				if _, err := run(b, s, reading(files)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(n), "ns/chunk")
			b.ReportMetric(float64(shuffled(b, s, files))/float64(n), "shuffled-B/chunk")
			b.ReportMetric(peak(b)/float64(n), "peak-B/chunk")
		})
	}
}

// shuffled returns how many bytes of texts and places go to their shards.
func shuffled(tb testing.TB, s Sweep, files string) int {
	tb.Helper()
	listed, err := list(tb.Context(), []string{files})
	if err != nil {
		tb.Fatal(err)
	}
	fn := &chunkFn{Chunkers: s.Chunkers, Shards: 1}
	if err := fn.Setup(); err != nil {
		tb.Fatal(err)
	}
	total := 0
	for _, f := range listed {
		err := f.read(tb.Context(), 0, bufferLen, all, func(d Document) error {
			return fn.ProcessElement(tb.Context(), d, func(_ int, o occurrence) { total += len(encodeOccurrence(o)) }, func(int, tally) {})
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return total
}

// peak returns the most memory that the process had, in bytes; 0 where the system does
// not tell.
func peak(tb testing.TB) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			return kib * 1024
		}
	}
	return 0
}

// BenchmarkShard embeds and searches one shard of 16 MiB of texts, as a worker does.
func BenchmarkShard(b *testing.B) {
	b.ReportAllocs()
	s := growthSweep()
	texts := make([]string, len(s.Queries))
	for i, q := range s.Queries {
		texts[i] = q.Text
	}
	embedded, err := noise{}.Embed(b.Context(), texts)
	if err != nil {
		b.Fatal(err)
	}
	const n = shardLen / chunkChars
	fn := &searchFn{Chunkers: 1, Embedders: s.Embedders, Depth: s.depth()}
	if err := fn.Setup(); err != nil {
		b.Fatal(err)
	}
	emitted := 0
	for b.Loop() {
		emitted = 0
		next, given := 0, false
		occurrences := func(o *occurrence) bool {
			text := strings.Repeat(string(binary.BigEndian.AppendUint64(nil, uint64(next))), chunkChars/8)
			*o = occurrence{at: chunkPlace{index: next}, text: text}
			next++
			return next <= n
		}
		queries := func(v *vectors) bool {
			*v = vectors{of: embedded}
			given = !given
			return given
		}
		err := fn.ProcessElement(b.Context(), 0, occurrences, queries, func(_ int, r ranking) { emitted += len(encodeRanking(r)) }, func(int, tally) {})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/n, "ns/chunk")
	b.ReportMetric(float64(emitted)/n, "ranked-B/chunk")
	b.ReportMetric(peak(b)/(1<<20), "peak-MiB")
}

// BenchmarkFingerprint reads a corpus as the one worker does that computes its
// fingerprint: in order of the documents' IDs, and, where that is not the order of the
// corpus, one here and one there.
func BenchmarkFingerprint(b *testing.B) {
	const docs = 5000
	for _, stride := range []int{1, 7} {
		b.Run(fmt.Sprintf("stride=%d", stride), func(b *testing.B) {
			b.ReportAllocs()
			path := filepath.Join(b.TempDir(), "corpus.jsonl")
			var lines strings.Builder
			for i := range docs {
				fmt.Fprintf(&lines, "{\"_id\":\"doc%09d\",\"text\":%q}\n", i*stride%docs, strings.Repeat("Some words. ", 700))
			}
			if err := os.WriteFile(path, []byte(lines.String()), 0o666); err != nil {
				b.Fatal(err)
			}
			files, err := list(b.Context(), []string{path})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(lines.Len()))
			fn := &fingerprintFn{files}
			for b.Loop() {
				if _, err := fn.ProcessElement(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
