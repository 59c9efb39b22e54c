// Package langsmith keeps ground truth in LangSmith, and records evaluations there as
// experiments, by the SDK github.com/langchain-ai/langsmith-go. Importing this package
// is the only way in which rageval needs that SDK.
//
//	queries, err := langsmith.LoadTokenTruth(ctx, "handbook-v3", corpus)
//	…
//	ragtest.RunTokenLevel(t, ragtest.TokenLevel{
//		Corpus:    corpus,
//		Queries:   queries,
//		…
//		Reporters: []ragtest.Reporter{langsmith.Reporter{Dataset: "handbook-v3"}},
//	}, ragtest.SpanRecall.AtLeast(0.8))
//
// Run tests that record with -count=1: go test does not repeat a test that passed and
// whose inputs it knows to be the same, and what LangSmith holds is not among them.
//
// # Datasets
//
// [UploadTokenTruth], [UploadChunkTruth], [LoadTokenTruth] and [LoadChunkTruth] move
// ground truth to and from a dataset; a [Dataset] has the options. See there for what
// is stored.
//
// # Experiments
//
// [Reporter] records a result as an experiment on the dataset that the queries came
// from, named <name>:<8 hexadecimal digits>:
//
//   - for each query, and each time that it was run (Repeat), a run with its reference
//     example, the query's text as inputs, and the retrieved chunks as outputs: rank,
//     ID, place in characters, score and text. Below it, a run for each stage that
//     worked on the query, "retrieve" and "rerank". What is on a run's clock is the
//     batch that the query was in, which the run says if it held several;
//   - on each query's run, feedback under the name of each metric, 0 to 1, whose comment
//     says what was missed, by which stage it was lost, and at what rank it is;
//   - on the experiment, feedback with the mean of each metric, and "pass", 1 or 0, if
//     there were thresholds;
//   - as metadata, the names of the test and of all components, K, how many chunks there
//     were, the fingerprint of the corpus, the versions of Go and of the dataset, and the
//     git commit, branch and whether there were changes beside it ("git_dirty");
//   - a tag, the git commit, on the version of the dataset.
//
// The result's ExperimentURL is then where the experiment can be seen or, with a
// Baseline, compared with it.
//
// # Environment
//
// Variables are read each time that they are needed. White space around a value does
// not count, and neither does an empty one. Fields of [Connection] and [Reporter] win.
//
//	LANGSMITH_API_KEY, LANGCHAIN_API_KEY      the key, in this order
//	LANGSMITH_ENDPOINT, LANGCHAIN_ENDPOINT    the server; /api/v1 at its end is optional;
//	                                          none: https://api.smith.langchain.com
//	LANGSMITH_WORKSPACE_ID,                   the workspace, if the key is for several
//	LANGSMITH_TENANT_ID
//	LANGSMITH_TEST_TRACKING                   false: reporters do nothing, and are silent
//	RAGTEST_LANGSMITH_SPOOL                   where reporters keep what could not be sent;
//	                                          none: rageval/langsmith in the user's cache
//	                                          directory
//	RAGTEST_LANGSMITH_FLUSH                   true: before a reporter sends a result it
//	                                          sends what is kept
//	GITHUB_HEAD_REF, GITHUB_REF_NAME,         the branch, where git has a commit checked
//	CI_COMMIT_REF_NAME                        out and no branch
//
// # Failures
//
// Recording never costs a test: what goes wrong is an error that [ragtest.RunTokenLevel]
// logs. It fails the test if the reporter has Required set.
//
//	what                                      repeated  what a reporter does in the end
//	there is no API key                       –         nothing but the error
//	a score is NaN or infinite                –         nothing is sent
//	a metric is named "pass", and there are   –         nothing is sent
//	thresholds, or has over 180 characters
//	document level, and no Dataset            –         nothing is sent
//	429, 408, 5xx but 501 and 505             yes       keeps the result for later
//	429 "usage limit exceeded"                no        keeps it
//	connection reset, answer broken off       yes       keeps it
//	no answer within 20 seconds               yes       keeps it
//	connection refused, no such host, TLS     no        keeps it
//	401, 403                                  no        keeps it
//	Timeout, or the test's deadline           –         keeps it
//	there is no such dataset, or version      –         nothing is sent
//	400, 422 and others                       no        sends no more
//	404 or 409 where that means "done before" –         goes on
//	a query has no example in the dataset     –         sends it without reference; error
//	there is no such baseline                 –         ExperimentURL is without; error
//
// A request is repeated after random waits of up to 1, 2, 4, … seconds, or as the server
// asks, for at most 100 seconds. After the first request that failed for good nothing more
// is sent. What is kept is the whole result, in a file that [Flush] sends: every ID
// follows from the experiment's own, so that what is sent twice is there once. The file
// has the queries and the texts that were retrieved, and no key. At most 100 files are
// kept.
//
// Uploads and loads repeat in the same way, and return the error. What cannot be sent is
// not kept: call them again.
//
// Requests to record are sent four at a time, each of at most 100 runs and, but for a
// query that is larger alone, 8 MiB; only these are in memory beside the result and the
// IDs of the dataset's examples.
//
// # Protocol
//
// https://docs.langchain.com/langsmith/smith-api, of which the SDK has the types. Runs
// and feedback are sent to POST /runs/multipart below the endpoint as it is given, as
// the Python SDK does, and everything else below /api/v1.
package langsmith
