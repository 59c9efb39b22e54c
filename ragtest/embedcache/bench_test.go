package embedcache

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/internal/parallel"
)

const (
	benchTexts = 100_000
	benchDim   = 384
)

// recorded is a file of benchTexts vectors, and its texts of about 1000 bytes.
func recorded(b *testing.B, half bool) (path string, texts []string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "bench.embeddings")
	words := strings.Repeat("a text about as long as a chunk ", 31)
	texts = make([]string, benchTexts)
	keyer := newKeyer("m", document)
	h := header{model: "m", float16: half, dim: benchDim}
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	w.Write(h.line())
	v := make([]float32, benchDim)
	for i := range texts {
		texts[i] = fmt.Sprintf("%06d %s", i, words)
		for j := range v {
			v[j] = float32((i*31+j*17)%1000)/1000 - 0.5
		}
		vector, err := encodeVector(v, half)
		if err != nil {
			b.Fatal(err)
		}
		w.Write(appendRecord(nil, keyer.key(texts[i]), vector))
	}
	if err := cmp.Or(w.Flush(), file.Close()); err != nil {
		b.Fatal(err)
	}
	return path, texts
}

// BenchmarkCached opens a file of 100,000 vectors and asks for all of them, as an
// evaluation does: 256 in a call, four calls at once. It reports how often longer
// that takes than reading the file and hashing the texts.
func BenchmarkCached(b *testing.B) {
	for _, half := range []bool{false, true} {
		b.Run(header{float16: half}.encoding(), func(b *testing.B) {
			b.Setenv(replayEnv, "")
			b.Setenv("RAGTEST_UPDATE", "")
			path, texts := recorded(b, half)
			batches := slices.Collect(slices.Chunk(texts, embedBatch))
			var cached, plain time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				c, err := Open(path, nil, Options{Model: "m", Float16: half, Replay: true})
				if err != nil {
					b.Fatal(err)
				}
				err = parallel.Do(b.Context(), callsAtOnce, len(batches), func(ctx context.Context, i int) error {
					_, err := c.Embed(ctx, batches[i])
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
				cached += time.Since(start)

				b.StopTimer()
				start = time.Now()
				if _, err := os.ReadFile(path); err != nil {
					b.Fatal(err)
				}
				for _, text := range texts {
					sha256.Sum256([]byte(text))
				}
				plain += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(cached.Seconds()/plain.Seconds(), "x-reading+hashing")
		})
	}
}

// BenchmarkRecord adds 256 texts at a time to a file.
func BenchmarkRecord(b *testing.B) {
	b.Setenv(replayEnv, "")
	b.Setenv("RAGTEST_UPDATE", "")
	c, err := Open(filepath.Join(b.TempDir(), "m.embeddings"), constant(make([]float32, benchDim)), Options{Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	texts := make([]string, embedBatch)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		for i := range texts {
			texts[i] = fmt.Sprint(n)
			n++
		}
		if _, err := c.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}

// constant embeds every text alike.
type constant []float32

func (c constant) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{c}, len(texts)), nil
}
