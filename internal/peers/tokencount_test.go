package peers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/internal/realdata"
)

// encodings are ours and those of the library that embeds their vocabularies.
var encodings = []struct {
	ours   tokens.Encoding
	theirs tokenizer.Encoding
}{
	{tokens.CL100K, tokenizer.Cl100kBase},
	{tokens.O200K, tokenizer.O200kBase},
}

// corpora are texts of one kind each, in the order of names.
func corpora(tb testing.TB) (names []string, texts map[string][]string) {
	tb.Helper()
	docs, _ := chromaCorpora(tb)
	texts = map[string][]string{}
	for _, doc := range docs {
		texts["chroma"] = append(texts["chroma"], doc.Text())
	}
	names = []string{"chroma"}
	for _, language := range []string{"en", "zh", "ar"} {
		file := filepath.Join(realdata.Dir(tb, "data", "xquad"), "xquad."+language+".json")
		content, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var squad struct {
			Data []struct{ Paragraphs []struct{ Context string } }
		}
		if err := json.Unmarshal(content, &squad); err != nil {
			tb.Fatalf("reading %s: %v", file, err)
		}
		name := "xquad-" + language
		for _, article := range squad.Data {
			for _, paragraph := range article.Paragraphs {
				texts[name] = append(texts[name], paragraph.Context)
			}
		}
		names = append(names, name)
	}
	return names, texts
}

// BenchmarkTokenCount compares counting tokens with the library that embeds the
// vocabularies, which are loaded before. Cold is with nothing remembered of any
// text.
func BenchmarkTokenCount(b *testing.B) {
	names, texts := corpora(b)
	for _, encoding := range encodings {
		codec, err := tokenizer.Get(encoding.theirs)
		if err != nil {
			b.Fatal(err)
		}
		theirs := func(text string) int {
			n, err := codec.Count(text)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
		for _, impl := range []struct {
			name  string
			count func(string) int
			cold  bool
		}{
			{"rageval-warm", encoding.ours.Count, false},
			{"rageval-cold", encoding.ours.Count, true},
			{"tiktoken-go", theirs, false},
		} {
			for _, name := range names {
				b.Run(fmt.Sprintf("encoding=%v/corpus=%s/impl=%s", encoding.ours, name, impl.name), func(b *testing.B) {
					size := 0
					for _, text := range texts[name] {
						size += len(text)
						impl.count(text)
					}
					b.ReportAllocs()
					var before func()
					if impl.cold {
						before = forget
					}
					measure(b, int64(size), before, func() {
						for _, text := range texts[name] {
							impl.count(text)
						}
					})
				})
			}
		}
	}
}

// forget makes our encodings forget the texts that they have seen: two
// collections of garbage empty the pools that hold what they remember.
func forget() {
	runtime.GC()
	runtime.GC()
}

// measure runs work, which is done on so many bytes, and before that, outside the
// time measured, before, if it is not nil. The unit cpu-ns/op is the time of all
// processors, which a busy machine changes less.
func measure(b *testing.B, size int64, before, work func()) {
	b.Helper()
	b.SetBytes(size)
	var cpu time.Duration
	for b.Loop() {
		if before != nil {
			b.StopTimer()
			before()
			b.StartTimer()
		}
		began := cputime.Used(b)
		work()
		cpu += cputime.Used(b) - began
	}
	b.ReportMetric(float64(cpu)/float64(b.N), "cpu-ns/op")
}
