package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	chunkhtml "github.com/rageval/rageval/chunkers/html"
	"github.com/rageval/rageval/spans"
)

// testTemplate is what the files of ragtest init are made of.
type testTemplate struct {
	Package  string
	Name     string // handbook
	Title    string // Handbook
	Func     string // handbook, in Go names
	Chunk    bool   // chunk level
	Dir      string // of the documents, from that of the test, with slashes
	Patterns []string
	Docs     int
	Example  string // a line of the golden file, without its query

	html    bool // all documents are
	outside bool // the documents are not in the module
}

// Chunker returns the Go source of the chunker.
func (t *testTemplate) Chunker() string {
	if t.html {
		return "html.HTML{Size: 800, PlainText: true}"
	}
	return "chunkers.RecursiveCharacter{Size: 800, Overlap: 200}"
}

// chunker returns what Chunker is the source of.
func (t *testTemplate) chunker() chunkers.Chunker {
	if t.html {
		return chunkhtml.HTML{Size: 800, PlainText: true}
	}
	return chunkers.RecursiveCharacter{Size: 800, Overlap: 200}
}

// names are those that the files declare.
func (t *testTemplate) names() []string {
	names := []string{"Test" + t.Title + "Retrieval", t.Func + "Corpus"}
	if t.Chunk {
		names = append(names, "Test"+t.Title+"Chunks", t.Func+"Chunker")
	}
	return names
}

func (t *testTemplate) Golden() string { return t.Name + ".golden.jsonl" }
func (t *testTemplate) HTML() bool     { return t.html }

// Level returns the kind of the golden file.
func (t *testTemplate) Level() string {
	if t.Chunk {
		return "chunk-level"
	}
	return "token-level"
}

// files returns the files, the golden one last.
func (t *testTemplate) files() ([]newFile, error) {
	var files []newFile
	for _, source := range []struct{ name, text string }{
		{t.Name + "_retrieval_test.go", retrievalTest},
		{t.Name + "_corpus_test.go", corpusReader},
	} {
		parsed, err := template.New(source.name).Funcs(template.FuncMap{"quote": quotedGo}).Parse(source.text)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, t); err != nil {
			return nil, err
		}
		formatted, err := format.Source(out.Bytes())
		if err != nil {
			return nil, fmt.Errorf("formatting %s: %w", source.name, err)
		}
		files = append(files, newFile{source.name, formatted})
	}
	header := fmt.Sprintf("{\"kind\":%q,\"offsetUnit\":\"codepoint\",\"schemaVersion\":1}\n", t.Level())
	return append(files, newFile{"testdata/" + t.Golden(), []byte(header)}), nil
}

func quotedGo(s string) string { return fmt.Sprintf("%q", s) }

const retrievalTest = `package {{.Package}}

import (
	"errors"
	"os"
	"testing"

	{{if or .Chunk (not .HTML)}}"github.com/rageval/rageval/chunkers"
	{{end}}{{if .HTML}}"github.com/rageval/rageval/chunkers/html"
	{{end}}"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)
{{if .Chunk}}
// {{.Func}}Chunker makes the chunks. Their IDs are hashes of their texts: with another
// chunker, the golden file has to be written anew.
var {{.Func}}Chunker = {{.Chunker}}
{{end}}
// Test{{.Title}}Retrieval measures how much of what answers the queries in
// testdata/{{.Golden}} is retrieved.
//
// A line of that file is a query with the {{if .Chunk}}chunks{{else}}passages{{end}} that answer it, all of them
// required, such as
//
//	{{.Example}}
//
// Replace the query by one that a user would ask, and append the line to the file.
{{- if .Chunk}}
// For the IDs of chunks, see Test{{.Title}}Chunks.
{{- else}}
// docId is the path of a document, as {{.Func}}Corpus has it, and text a quotation that
// occurs in it once, byte for byte; for one that occurs several times, add "start" and
// "end", in characters from 0. A query that nothing answers has "relevantSpans":[].
{{- end}}
// Some thirty queries tell a good retriever from a bad one; a few do not.
func Test{{.Title}}Retrieval(t *testing.T) {
	corpus := {{.Func}}Corpus(t)
	queries, err := fixtures.Read{{if .Chunk}}Chunk{{else}}Token{{end}}Truth(os.DirFS("testdata"), "{{.Golden}}", corpus)
	if errors.Is(err, fixtures.ErrNoQueries) {
		t.Skip("testdata/{{.Golden}} holds no query yet: the comment of this test says how to add one")
	}
	if err != nil {
		t.Fatal(err)
	}
	ragtest.Run{{if .Chunk}}Chunk{{else}}Token{{end}}Level(t, ragtest.{{if .Chunk}}Chunk{{else}}Token{{end}}Level{
		Corpus:  corpus,
		Queries: queries,
		Chunker: {{if .Chunk}}{{.Func}}Chunker{{else}}{{.Chunker}}{{end}},
		// The embedder needs no model and knows no synonyms. Put yours here, or set
		// Retriever to test the search that you run in production.
		Embedder: lexical.Embedder{},
		K:        5,
	}, ragtest.{{if .Chunk}}ChunkRecall{{else}}SpanRecall{{end}}.AtLeast(0.8))
}
{{if .Chunk}}
// Test{{.Title}}Chunks lists the chunks with their IDs, for the golden file:
//
//	go test -v -run Test{{.Title}}Chunks | grep -i "words of the chunk"
func Test{{.Title}}Chunks(t *testing.T) {
	for doc := range {{.Func}}Corpus(t).All() {
		texts, err := {{.Func}}Chunker.Chunk(t.Context(), doc.Text())
		if err != nil {
			t.Fatalf("chunking %s: %v", doc.ID(), err)
		}
		for _, text := range texts {
			t.Logf("%v %s: %q", chunkers.NewChunkID(text), doc.ID(), text)
		}
	}
}
{{end}}`

const corpusReader = `package {{.Package}}

import (
	"testing"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/spans"
)

// {{.Func}}Corpus reads the documents. Their IDs are their paths below the folder.
func {{.Func}}Corpus(tb testing.TB) *spans.Corpus {
	tb.Helper()
	corpus, err := fixtures.ReadDir({{quote .Dir}}{{range .Patterns}}, {{quote .}}{{end}})
	if err != nil {
		tb.Fatal(err)
	}
	return corpus
}
`

// example returns a line of the golden file that names a real passage.
func (t *testTemplate) example(ctx context.Context, corpus *spans.Corpus) (string, error) {
	record := struct {
		ID     string `json:"id"`
		Inputs struct {
			Query string `json:"query"`
		} `json:"inputs"`
		Outputs any `json:"outputs"`
	}{ID: "q1"}
	record.Inputs.Query = "What would a user ask?"
	if t.Chunk {
		id, err := t.exampleChunk(ctx, corpus)
		if err != nil {
			return "", err
		}
		record.Outputs = map[string]any{"relevantChunkIds": []string{id}}
	} else {
		doc, passage := examplePassage(corpus)
		record.Outputs = map[string]any{"relevantSpans": []any{struct {
			Doc  spans.DocumentID `json:"docId"`
			Text string           `json:"text"`
		}{doc, passage}}}
	}
	var line strings.Builder
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(record)
	return strings.TrimSpace(line.String()), err
}

// exampleChunk returns the ID of a chunk.
func (t *testTemplate) exampleChunk(ctx context.Context, corpus *spans.Corpus) (string, error) {
	for doc := range corpus.All() {
		texts, err := t.chunker().Chunk(ctx, doc.Text())
		if err != nil {
			return "", fmt.Errorf("chunking %s: %w", doc.ID(), err)
		}
		if len(texts) > 0 {
			return chunkers.NewChunkID(texts[0]).String(), nil
		}
	}
	return "", errors.New("the documents hold no text")
}

// examplePassage returns a line, or its beginning, that occurs in its document once, and
// looks like a sentence rather than a heading if there is such a one in the first
// documents.
func examplePassage(corpus *spans.Corpus) (spans.DocumentID, string) {
	var bestDoc spans.DocumentID
	best, bestRank, looked := "", -1, 0
	for doc := range corpus.All() {
		if looked++; looked > 20 && bestRank >= 0 {
			break
		}
		for line := range strings.Lines(doc.Text()) {
			passage := sentence(strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")))
			rank := rankPassage(passage)
			if rank > bestRank && strings.Count(doc.Text(), passage) == 1 {
				best, bestDoc, bestRank = passage, doc.ID(), rank
			}
			if bestRank == mostRank {
				return bestDoc, best
			}
		}
	}
	return bestDoc, best
}

// sentence returns the first sentence of a line, or at most 160 characters of it.
func sentence(line string) string {
	if i := strings.Index(line, ". "); i >= 20 {
		line = line[:i+1]
	}
	if utf8.RuneCountInString(line) > 160 {
		line = string([]rune(line)[:160])
		if i := strings.LastIndexByte(line, ' '); i > 0 {
			line = line[:i]
		}
	}
	return line
}

const mostRank = 3

// rankPassage says how good an example a passage is.
func rankPassage(passage string) int {
	switch words := len(strings.Fields(passage)); {
	case passage == "":
		return -1
	case strings.ContainsAny(passage[:1], "#<|-*=>!`[{+~:_"):
		return 0
	case words < 4:
		return 1
	case !strings.ContainsAny(passage[len(passage)-1:], ".!?"):
		return 2
	}
	return mostRank
}

// nextSteps says what was written and what to do.
func (t *testTemplate) nextSteps(p *goPackage, files []newFile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Wrote to %s, for %s:\n\n", p.dir, counted(t.Docs, "document", "documents"))
	for _, f := range files {
		fmt.Fprintf(&b, "\t%s\n", f.name)
	}
	b.WriteString("\nNext, in that folder:\n\n")
	step := 1
	next := func(format string, args ...any) {
		fmt.Fprintf(&b, "%d. %s\n", step, fmt.Sprintf(format, args...))
		step++
	}
	// go get alone leaves out the checksums of what the test imports.
	switch {
	case p.module == "":
		next("There is no go.mod there or above. Make a module:\n\n\tgo mod init example.com/%s\n\tgo get %s@latest\n\tgo mod tidy\n", t.Name, libraryModule)
	case !p.requires:
		next("The module %s does not require the library yet:\n\n\tgo get %s@latest\n\tgo mod tidy\n", p.module, libraryModule)
	case p.module != libraryModule:
		next("The test may import packages of the library that the module %s did not:\n\n\tgo mod tidy\n", p.module)
	}
	next("Run the test, which skips itself as long as there are no queries:\n\n\tgo test -v -run Test%sRetrieval\n", t.Title)
	next("Add queries to testdata/%s, such as\n\n\t%s\n", t.Golden(), t.Example)
	if t.outside {
		fmt.Fprintf(&b, "\nThe documents are outside of the module, in %s: the test finds them only where\nthat folder is there too.\n", t.Dir)
	}
	return b.String()
}
