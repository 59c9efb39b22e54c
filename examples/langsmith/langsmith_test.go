// Package langsmith shows ground truth that a team keeps in LangSmith, and a test that
// records each run there as an experiment. It needs no account: a server in memory
// stands in for LangSmith. With LANGSMITH_API_KEY set, and without the line that starts
// the server, the same test talks to the real one.
package langsmith

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/langsmith"
	"github.com/rageval/rageval/ragtest/lexical"
)

// The ground truth is loaded by the name of its dataset, and evaluated.
func TestRetrievalOnTheTeamsDataset(t *testing.T) {
	server := startLangSmith(t)

	corpus, err := fixtures.ReadDir("testdata", "*.md")
	require.NoError(t, err)
	queries, err := langsmith.LoadTokenTruth(t.Context(), "handbook", corpus)
	require.NoError(t, err)

	result := ragtest.RunTokenLevel(t, ragtest.TokenLevel{
		Corpus:   corpus,
		Queries:  queries,
		Chunker:  chunkers.RecursiveCharacter{Size: 120},
		Embedder: lexical.Embedder{},
		K:        2,
		Reporters: []ragtest.Reporter{
			langsmith.Reporter{Dataset: "handbook", Experiment: "handbook-nightly", Required: true},
		},
	}, ragtest.SpanRecall.AtLeast(0.9))

	require.Contains(t, result.ExperimentURL, "/compare?selectedSessions=")
	experiments := server.Experiments()
	require.Len(t, experiments, 1)
	require.True(t, strings.HasPrefix(experiments[0].Name, "handbook-nightly:"))
	require.Equal(t, 1.0, experiments[0].Summary["pass"].Score)
}

// startLangSmith starts the stand-in with a dataset as a colleague's Python script
// would have uploaded it.
func startLangSmith(t *testing.T) *langsmithtest.Server {
	server, url := langsmithtest.Start(t, "a-key")
	server.AddDataset("handbook", "",
		`{"inputs":{"query":"How long is the notice period?"},"outputs":{"relevant_spans":[{"doc_id":"leave.md","text":"The notice period is three months to the end of a quarter."}]}}`,
		`{"inputs":{"query":"Who approves travel abroad?"},"outputs":{"relevant_spans":[{"doc_id":"travel.md","text":"Travel abroad is approved by the head of the department"}]},"metadata":{"difficulty":"easy"}}`)
	t.Setenv("LANGSMITH_ENDPOINT", url)
	t.Setenv("LANGSMITH_API_KEY", "a-key")
	return server
}
