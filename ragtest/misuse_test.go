package ragtest_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Mixing token level and chunk level must not compile, nor must an ID of one
// kind pass for the other's.
func TestMixingLevelsDoesNotCompile(t *testing.T) {
	const prelude = `package p
import (
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
	"testing"
)
var (
	_ *testing.T
	_ spans.Span
	_ ragtest.Query
	id chunkers.ChunkID
	paID chunkers.PositionAwareChunkID
	plain chunkers.Chunker
	chunkStore ragtest.VectorStore[chunkers.Chunk]
	tokenStore ragtest.VectorStore[chunkers.PositionAwareChunk]
	chunkRetriever ragtest.Retriever[chunkers.Chunk]
	chunkReranker ragtest.Reranker[chunkers.Chunk]
	tokenQueries []ragtest.TokenQuery
	chunkQueries []ragtest.ChunkQuery
	documentQueries []ragtest.DocumentQuery
)
`
	fset := token.NewFileSet()
	imports := exported(t, fset, "github.com/rageval/rageval/ragtest", "testing")
	check := func(body string) error {
		file, err := parser.ParseFile(fset, "p.go", prelude+body, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parsing: %w", err)
		}
		config := types.Config{Importer: imports}
		_, err = config.Check("p", fset, []*ast.File{file}, nil)
		return err
	}
	for _, body := range []string{
		`var _ = ragtest.TokenLevel{Queries: tokenQueries, Store: tokenStore, Metrics: []ragtest.TokenMetric{ragtest.SpanRecall.At(3)}}`,
		`var _ = ragtest.ChunkLevel{Queries: chunkQueries, Store: chunkStore, Chunker: plain, Metrics: []ragtest.ChunkMetric{ragtest.ChunkMRR}}`,
		`func _(t *testing.T) { ragtest.RunTokenLevel(t, ragtest.TokenLevel{Chunker: chunkers.WithPositions(plain)}, ragtest.SpanRecall.AtLeast(0.8)) }`,
		`func _(t *testing.T) { ragtest.RunChunkLevel(t, ragtest.ChunkLevel{}, ragtest.ChunkRecall.AtLeast(0.8)) }`,
		`var _ = ragtest.ChunkQuery{Relevant: []chunkers.ChunkID{paID.ChunkID()}}`,
		`var _ = ragtest.DocumentLevel{Queries: documentQueries, Store: tokenStore, Chunker: chunkers.WithPositions(plain), Metrics: []ragtest.DocumentMetric{ragtest.DocumentNDCG.At(3)}}`,
		`func _(t *testing.T) { ragtest.RunDocumentLevel(t, ragtest.DocumentLevel{}, ragtest.DocumentRecall.AtLeast(0.8)) }`,
	} {
		if err := check(body); err != nil {
			t.Errorf("correct use does not compile: %v\n%s", err, body)
		}
	}
	for _, tc := range []struct{ name, body, want string }{
		{"chunk metric at token level", `var _ = ragtest.TokenLevel{Metrics: []ragtest.TokenMetric{ragtest.ChunkRecall}}`, "cannot use"},
		{"token metric at chunk level", `var _ = ragtest.ChunkLevel{Metrics: []ragtest.ChunkMetric{ragtest.SpanRecall}}`, "cannot use"},
		{"chunk threshold at token level", `func _(t *testing.T) { ragtest.RunTokenLevel(t, ragtest.TokenLevel{}, ragtest.ChunkRecall.AtLeast(0.8)) }`, "cannot use"},
		{"chunk slice at token level", `func _(t *testing.T) { ragtest.RunTokenLevel(t, ragtest.TokenLevel{}, ragtest.ChunkRecall.Where("type", "x").AtLeast(0.8)) }`, "cannot use"},
		{"token threshold at chunk level", `func _(t *testing.T) { ragtest.RunChunkLevel(t, ragtest.ChunkLevel{}, ragtest.SpanRecall.AtLeast(0.8)) }`, "cannot use"},
		{"chunk ground truth at token level", `var _ = ragtest.TokenLevel{Queries: chunkQueries}`, "cannot use"},
		{"token ground truth at chunk level", `var _ = ragtest.ChunkLevel{Queries: tokenQueries}`, "cannot use"},
		{"chunk store at token level", `var _ = ragtest.TokenLevel{Store: chunkStore}`, "cannot use"},
		{"token store at chunk level", `var _ = ragtest.ChunkLevel{Store: tokenStore}`, "cannot use"},
		{"chunk retriever at token level", `var _ = ragtest.TokenLevel{Retriever: chunkRetriever}`, "cannot use"},
		{"chunk reranker at token level", `var _ = ragtest.TokenLevel{Reranker: chunkReranker}`, "cannot use"},
		{"plain chunker at token level", `var _ = ragtest.TokenLevel{Chunker: plain}`, "cannot use"},
		{"document metric at token level", `var _ = ragtest.TokenLevel{Metrics: []ragtest.TokenMetric{ragtest.DocumentRecall}}`, "cannot use"},
		{"document metric at chunk level", `var _ = ragtest.ChunkLevel{Metrics: []ragtest.ChunkMetric{ragtest.DocumentRecall}}`, "cannot use"},
		{"token metric at document level", `var _ = ragtest.DocumentLevel{Metrics: []ragtest.DocumentMetric{ragtest.SpanRecall}}`, "cannot use"},
		{"chunk metric at document level", `var _ = ragtest.DocumentLevel{Metrics: []ragtest.DocumentMetric{ragtest.ChunkRecall}}`, "cannot use"},
		{"document threshold at token level", `func _(t *testing.T) { ragtest.RunTokenLevel(t, ragtest.TokenLevel{}, ragtest.DocumentRecall.AtLeast(0.8)) }`, "cannot use"},
		{"document threshold at chunk level", `func _(t *testing.T) { ragtest.RunChunkLevel(t, ragtest.ChunkLevel{}, ragtest.DocumentRecall.AtLeast(0.8)) }`, "cannot use"},
		{"token threshold at document level", `func _(t *testing.T) { ragtest.RunDocumentLevel(t, ragtest.DocumentLevel{}, ragtest.SpanRecall.AtLeast(0.8)) }`, "cannot use"},
		{"chunk threshold at document level", `func _(t *testing.T) { ragtest.RunDocumentLevel(t, ragtest.DocumentLevel{}, ragtest.ChunkRecall.AtLeast(0.8)) }`, "cannot use"},
		{"document ground truth at token level", `var _ = ragtest.TokenLevel{Queries: documentQueries}`, "cannot use"},
		{"document ground truth at chunk level", `var _ = ragtest.ChunkLevel{Queries: documentQueries}`, "cannot use"},
		{"token ground truth at document level", `var _ = ragtest.DocumentLevel{Queries: tokenQueries}`, "cannot use"},
		{"chunk ground truth at document level", `var _ = ragtest.DocumentLevel{Queries: chunkQueries}`, "cannot use"},
		{"chunk store at document level", `var _ = ragtest.DocumentLevel{Store: chunkStore}`, "cannot use"},
		{"chunk retriever at document level", `var _ = ragtest.DocumentLevel{Retriever: chunkRetriever}`, "cannot use"},
		{"chunk reranker at document level", `var _ = ragtest.DocumentLevel{Reranker: chunkReranker}`, "cannot use"},
		{"plain chunker at document level", `var _ = ragtest.DocumentLevel{Chunker: plain}`, "cannot use"},
		{"chunk IDs as document ground truth", `var _ = ragtest.DocumentQuery{Relevant: map[chunkers.ChunkID]int{}}`, "cannot use"},
		{"spans as document ground truth", `var _ = ragtest.DocumentQuery{Relevant: []spans.Span{}}`, "cannot use"},
		{"position-aware ID for a chunk ID", `var _ chunkers.ChunkID = paID`, "cannot use"},
		{"position-aware ID converted", `var _ = chunkers.ChunkID(paID)`, "cannot convert"},
		{"chunk ID converted", `var _ = chunkers.PositionAwareChunkID(id)`, "cannot convert"},
		{"string converted to a chunk ID", `var _ = chunkers.ChunkID("chunk_0123456789ab")`, "cannot convert"},
		{"string converted to a position-aware ID", `var _ = chunkers.PositionAwareChunkID("pa_chunk_0123456789ab")`, "cannot convert"},
		{"IDs compared across kinds", `var _ = id == paID`, "mismatched types"},
		{"spans as chunk ground truth", `var _ = ragtest.ChunkQuery{Relevant: []spans.Span{}}`, "cannot use"},
		{"chunk IDs as token ground truth", `var _ = ragtest.TokenQuery{Relevant: []chunkers.ChunkID{}}`, "cannot use"},
		{"strings as chunk ground truth", `var _ = ragtest.ChunkQuery{Relevant: []chunkers.ChunkID{"chunk_0123456789ab"}}`, "cannot use"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := check(tc.body)
			if err == nil {
				t.Fatalf("compiles, want an error:\n%s", tc.body)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %q, want one that contains %q", err, tc.want)
			}
		})
	}
}

// exported returns an importer of packages and what they import, from the export
// data that the compiler left in the build cache.
func exported(t *testing.T, fset *token.FileSet, packages ...string) types.Importer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, packages...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}
