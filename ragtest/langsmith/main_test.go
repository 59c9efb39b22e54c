package langsmith

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// canary is an API key that must appear nowhere.
const canary = "lsv2_pt_canary0123456789abcdef"

func TestMain(m *testing.M) {
	// What the machine has set must not matter.
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "LANGSMITH_") || strings.HasPrefix(name, "LANGCHAIN_") || strings.HasPrefix(name, "RAGTEST_LANGSMITH_") {
			os.Unsetenv(name)
		}
	}
	firstWait = time.Millisecond
	os.Exit(m.Run())
}

// start starts a server and points the environment to it.
func start(t *testing.T) *langsmithtest.Server {
	t.Helper()
	s, url := langsmithtest.Start(t, canary)
	t.Setenv("LANGSMITH_ENDPOINT", url)
	t.Setenv("LANGSMITH_API_KEY", canary)
	t.Setenv("RAGTEST_LANGSMITH_SPOOL", t.TempDir())
	return s
}

func corpusOf(tb testing.TB, idsAndTexts ...string) *spans.Corpus {
	tb.Helper()
	var docs []*spans.Document
	for i := 0; i < len(idsAndTexts); i += 2 {
		d, err := spans.NewDocument(spans.DocumentID(idsAndTexts[i]), idsAndTexts[i+1], nil)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, d)
	}
	c, err := spans.NewCorpus(docs...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

const handbook = "Notice is three months. Überstunden werden bezahlt. Leave is thirty days. Notice is given in writing."

// truth returns a corpus, and n queries about it with a span each.
func truth(tb testing.TB, n int) (*spans.Corpus, []ragtest.TokenQuery) {
	tb.Helper()
	corpus := corpusOf(tb, "handbook.md", handbook)
	queries := make([]ragtest.TokenQuery, n)
	for i := range queries {
		start := i % 60
		queries[i] = ragtest.TokenQuery{
			Query:    ragtest.Query{ID: ragtest.QueryID(fmt.Sprintf("q%05d", i)), Text: fmt.Sprintf("Question %d?", i)},
			Relevant: []spans.Span{{Doc: "handbook.md", Start: start, End: start + 20}},
		}
	}
	return corpus, queries
}

func chunkTruth(n int) []ragtest.ChunkQuery {
	queries := make([]ragtest.ChunkQuery, n)
	for i := range queries {
		queries[i] = ragtest.ChunkQuery{
			Query:    ragtest.Query{ID: ragtest.QueryID(fmt.Sprintf("q%05d", i)), Text: fmt.Sprintf("Question %d?", i), Metadata: map[string]string{"chunker": "fixed/size=30"}},
			Relevant: []chunkers.ChunkID{chunkers.NewChunkID(fmt.Sprint(i))},
		}
	}
	return queries
}
