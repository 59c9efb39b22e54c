package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

// BenchmarkChroma is the whole evaluation of Chroma's collection, from its files on.
func BenchmarkChroma(b *testing.B) {
	files := os.DirFS(realdata.Dir(b, "data", "chroma"))
	cpu := cputime.Used(b)
	for b.Loop() {
		c, err := fixtures.ReadChroma(files)
		if err != nil {
			b.Fatal(err)
		}
		_, err = ragtest.TokenLevel{
			Corpus:   c.Corpus,
			Queries:  c.Queries,
			Chunker:  chunkers.RecursiveCharacter{Size: 400},
			Embedder: lexical.Embedder{},
		}.Evaluate(b.Context())
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cputime.Used(b)-cpu)/float64(b.N), "cpu-ns/op")
}

// BenchmarkGoTest is what go test takes for a package that is built already, if no test
// of it is selected: the quickstart, and a package whose test imports testing only.
func BenchmarkGoTest(b *testing.B) {
	empty := b.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module empty\n",
		"empty_test.go": "package empty\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n",
	} {
		if err := os.WriteFile(filepath.Join(empty, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, pkg := range []struct{ name, dir string }{{"empty", empty}, {"quickstart", "../quickstart"}} {
		b.Run("package="+pkg.name, func(b *testing.B) {
			run := func() (cpu time.Duration) {
				cmd := exec.CommandContext(b.Context(), "go", "test", "-count=1", "-run=^$", ".")
				cmd.Dir = pkg.dir
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() // and of its children
			}
			run() // builds
			var cpu time.Duration
			for b.Loop() {
				cpu += run()
			}
			b.ReportMetric(float64(cpu)/float64(b.N), "cpu-ns/op")
		})
	}
}
