package langsmith_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/langsmith"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// standIn starts a server that stands in for LangSmith.
func standIn() (langsmith.Connection, *httptest.Server) {
	server := httptest.NewServer(langsmithtest.New("a-key", func(message string) { log.Fatal(message) }))
	return langsmith.Connection{Endpoint: server.URL, APIKey: "a-key"}, server
}

func handbook() (*spans.Corpus, []ragtest.TokenQuery) {
	doc := must(spans.NewDocument("leave.md", "Leave is thirty days a year. Notice is three months.", nil))
	return must(spans.NewCorpus(doc)), []ragtest.TokenQuery{{
		Query:    ragtest.Query{ID: "notice", Text: "How long is the notice period?"},
		Relevant: []spans.Span{{Doc: "leave.md", Start: 29, End: 52}},
	}}
}

func ExampleDataset() {
	connection, server := standIn()
	defer server.Close()
	corpus, queries := handbook()

	dataset := langsmith.Dataset{Name: "handbook", Connection: connection}
	for range 2 {
		done := must(dataset.UploadToken(context.Background(), corpus, queries))
		fmt.Println(done.Created, "created,", done.Unchanged, "unchanged")
	}
	loaded, _, err := dataset.LoadToken(context.Background(), corpus)
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range loaded {
		fmt.Println(q.ID, q.Relevant)
	}
	// Output:
	// 1 created, 0 unchanged
	// 0 created, 1 unchanged
	// notice [leave.md[29:52]]
}

func ExampleReporter() {
	connection, server := standIn()
	defer server.Close()
	corpus, queries := handbook()
	must(langsmith.Dataset{Name: "handbook", Connection: connection}.UploadToken(context.Background(), corpus, queries))

	result := must(ragtest.TokenLevel{
		Name: "TestHandbook", Corpus: corpus, Queries: queries,
		Chunker: chunkers.FixedSize{Size: 30}, Embedder: lexical.Embedder{}, K: 1,
	}.Evaluate(context.Background()))
	// RunTokenLevel calls its Reporters like this.
	if err := (langsmith.Reporter{Dataset: "handbook", Connection: connection}).Report(context.Background(), result); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.ExperimentURL != "")
	// Output: true
}

func ExampleFlush() {
	dir := must(os.MkdirTemp("", "spool"))
	defer os.RemoveAll(dir)
	connection, server := standIn()
	defer server.Close()
	corpus, queries := handbook()
	must(langsmith.Dataset{Connection: connection}.UploadToken(context.Background(), corpus, queries))
	result := must(ragtest.TokenLevel{
		Name: "TestHandbook", Corpus: corpus, Queries: queries,
		Chunker: chunkers.FixedSize{Size: 30}, Embedder: lexical.Embedder{}, K: 1,
	}.Evaluate(context.Background()))

	// A key that is wrong, say, or a server that is down.
	wrong := langsmith.Reporter{Connection: langsmith.Connection{Endpoint: server.URL, APIKey: "wrong"}, Spool: dir}
	fmt.Println(wrong.Report(context.Background(), result) != nil, len(must(os.ReadDir(dir))))
	// Flush itself takes the place of the spool and the connection from the environment.
	fmt.Println(langsmith.Reporter{Connection: connection, Spool: dir}.Flush(context.Background()), len(must(os.ReadDir(dir))))
	// Output:
	// true 1
	// <nil> 0
}
