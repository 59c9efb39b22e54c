// Ragtest prepares, runs and reports tests of retrieval.
//
// Usage:
//
//	ragtest COMMAND [flags] [arguments]
//
// ragtest help lists the commands; ragtest COMMAND -h, or ragtest help COMMAND,
// tells all about one. Flags may stand before, between and after the arguments; --
// ends them. Install it with
//
//	go install github.com/rageval/rageval/ragtest/cmd/ragtest@latest
//
// Results go to standard output, errors and progress to standard error, each line of
// an error as "ragtest COMMAND: …". Progress is drawn on a terminal only, and nothing
// has colour.
//
// # Exit codes
//
//	0    all is well
//	1    the command did its work and found something: lint findings, a regression,
//	     what convert -strict must not lose
//	2    it could not do its work: wrong arguments, bad input, a file that cannot be written
//	130  it was interrupted; whatever it was writing is not there
//
// An interrupt ends the command in good order, a second one at once. A reader that
// closes its end of a pipe is no error, and nothing is said about it; where the system
// has the signal SIGPIPE, the command ends by it, as others do.
//
// # First test
//
// Usage:
//
//	ragtest init [flags] DIR
//
// writes, for a folder of documents, a test that compiles and runs, the function that
// reads the documents, and a golden file that is still empty. The comment of the test
// shows a line for the golden file, with a passage of the documents. Nothing is ever
// overwritten. To go on from there:
//
//	ragtest init docs/handbook
//	echo '{"inputs":{"query":"How much leave is there?"},"outputs":{"relevantSpans":[{"docId":"leave.md","text":"28 days"}]}}' >> testdata/handbook.golden.jsonl
//	go test -v -run TestHandbookRetrieval
//	ragtest lint -corpus docs/handbook testdata/handbook.golden.jsonl
//
// # Checking ground truth
//
// Usage:
//
//	ragtest lint [flags] FILE...
//
// reports what is wrong with golden files and data sets, such as text that is no longer
// where a span says, and what is doubtful, such as a passage that occurs twice, as
// file:line:column, or with -json as an object a line. Text that is gone is never passed
// over: package fixtures verifies each span, and package synth has the other checks.
//
// # Converting data sets
//
// Usage:
//
//	ragtest convert [flags] -to FORM IN OUT
//
// converts between golden files, LangSmith's examples, SQuAD 1.1, 2.0 and flat, Natural
// Questions (from), Chroma's layout, BEIR and TREC's judgments, as far as the ground
// truth of one says what the other needs. What a form has no place for is counted on
// standard error, and -strict allows none of it. Collections are sampled by a seed, and
// short answers left out, on the way:
//
//	ragtest convert -to golden -sample 300 -min-answer-length 8 dev-v2.0.json testdata/squad
//	ragtest convert -to langsmith testdata/squad examples.jsonl
//	ragtest convert -to trec beir/scifact - | sort -u | gzip > qrels.txt.gz
package main
