package pgvector

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

// BenchmarkHNSW measures what the index misses, and what it saves, on 100,000
// vectors (5,000 with -short) of 384 components. recall@10 is the share of the
// ten most similar chunks that a search finds, a mean over the queries; ns/query
// is that of one query after the other; build-s is the time to build the index.
// The package comment shows its results, of
//
//	RAGTEST_DATA=$(realpath ../shared) ragtest/pgvector/testdata/postgres17.sh DIR \
//		go test -run='^$' -bench=HNSW -benchtime=300x -timeout=1h ./ragtest/pgvector
func BenchmarkHNSW(b *testing.B) {
	if os.Getenv("RAGTEST_PG_DSN") == "" {
		b.Skip("RAGTEST_PG_DSN is not set: it names a PostgreSQL database that has pgvector")
	}
	n := 100_000
	if testing.Short() {
		n = 5_000
	}
	b.Run("data=scifact", func(b *testing.B) {
		vectors, queries := scifact(b, n)
		benchmarkHNSW(b, vectors, queries)
	})
	b.Run("data=clustered", func(b *testing.B) {
		vectors, queries := clustered(n)
		benchmarkHNSW(b, vectors, queries)
	})
}

func benchmarkHNSW(b *testing.B, vectors, queries [][]float32) {
	const k = 10
	chunks := make([]chunkers.Chunk, len(vectors))
	for i := range chunks {
		chunks[i].Doc = "benchmark"
		chunks[i].Text = fmt.Sprintf("%d", i)
	}
	memory := ragtest.NewMemoryStore[chunkers.Chunk]()
	if err := memory.Add(b.Context(), chunks, vectors); err != nil {
		b.Fatal(err)
	}
	want, err := memory.SearchBatch(b.Context(), queries, k)
	if err != nil {
		b.Fatal(err)
	}
	for _, h := range []*HNSW{nil, {M: 8}, {M: 16}, {M: 16, EfConstruction: 200}, {M: 32, EfConstruction: 200}, {M: 16, HalfPrecision: true}} {
		name := "exact"
		if h != nil {
			name = h.String()
		}
		b.Run(name, func(b *testing.B) {
			s, err := Open[chunkers.Chunk](b.Context(), os.Getenv("RAGTEST_PG_DSN"), Options{HNSW: h})
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := s.Close(context.Background()); err != nil {
					b.Error(err)
				}
			}()
			began := time.Now()
			for i := 0; i < len(chunks); i += 4096 {
				last := min(i+4096, len(chunks))
				if err := s.Add(b.Context(), chunks[i:last], vectors[i:last]); err != nil {
					b.Fatal(err)
				}
			}
			loading := time.Since(began)
			if h == nil {
				b.Run("search", func(b *testing.B) {
					searchEach(b, s, queries, want, k)
					b.ReportMetric(loading.Seconds(), "load-s")
				})
				return
			}
			began = time.Now()
			if err := s.buildIndex(b.Context()); err != nil {
				b.Fatal(err)
			}
			building := time.Since(began)
			for _, ef := range []int{10, 20, 40, 100, 200, 400} {
				b.Run(fmt.Sprintf("ef_search=%d", ef), func(b *testing.B) {
					s.hnsw.EfSearch = ef
					searchEach(b, s, queries, want, k)
					b.ReportMetric(building.Seconds(), "build-s")
				})
			}
		})
	}
}

// searchEach searches for the queries in turn, b.N times in all, and reports the
// recall of those.
func searchEach(b *testing.B, s *Store[chunkers.Chunk], queries [][]float32, want [][]ragtest.ScoredChunk[chunkers.Chunk], k int) {
	b.ReportAllocs()
	hits, searches := 0, 0
	for b.Loop() {
		q := searches % len(queries)
		searches++
		found, err := s.Search(b.Context(), queries[q], k)
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range found {
			for _, w := range want[q] {
				if f.Chunk.Text == w.Chunk.Text {
					hits++
				}
			}
		}
	}
	b.ReportMetric(float64(hits)/float64(k*searches), "recall@10")
}

// scifact returns vectors of pieces of 200 characters, which overlap by 135, of
// the abstracts of SciFact, and of its first 300 claims.
func scifact(b *testing.B, n int) (vectors, queries [][]float32) {
	dir := realdata.Dir(b, "data", "beir", "scifact")
	embedder := lexical.Embedder{Dim: 384}
	var texts []string
	seen := map[string]bool{}
	for _, abstract := range textsOf(b, filepath.Join(dir, "corpus.jsonl")) {
		pieces, err := (chunkers.FixedSize{Size: 200, Overlap: 135}).Chunk(b.Context(), abstract)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range pieces {
			if !seen[p] && len(texts) < n {
				seen[p] = true
				texts = append(texts, p)
			}
		}
	}
	if len(texts) < n {
		b.Fatalf("got %d pieces, want %d", len(texts), n)
	}
	vectors, err := embedder.Embed(b.Context(), texts)
	if err != nil {
		b.Fatal(err)
	}
	queries, err = embedder.Embed(b.Context(), textsOf(b, filepath.Join(dir, "queries.jsonl"))[:300])
	if err != nil {
		b.Fatal(err)
	}
	return vectors, queries
}

// textsOf returns the field text of each line of a JSONL file.
func textsOf(b *testing.B, path string) []string {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			b.Fatal(err)
		}
		texts = append(texts, record.Text)
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return texts
}

// clustered returns vectors around 1,000 centres that are drawn from a normal
// distribution, as are the deviations, half as large. Queries are such vectors
// too.
func clustered(n int) (vectors, queries [][]float32) {
	const dim, centres, queryCount = 384, 1000, 300
	r := rand.New(rand.NewPCG(1, 2))
	centre := make([][]float32, centres)
	for i := range centre {
		centre[i] = make([]float32, dim)
		for j := range centre[i] {
			centre[i][j] = float32(r.NormFloat64())
		}
	}
	all := make([][]float32, n+queryCount)
	for i := range all {
		all[i] = make([]float32, dim)
		for j, x := range centre[r.IntN(centres)] {
			all[i][j] = x + float32(r.NormFloat64())/2
		}
	}
	return all[:n], all[n:]
}
