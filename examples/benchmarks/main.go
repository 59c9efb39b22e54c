// Benchmarks measures the library against others that do the same work, and against
// what the hardware can do, and prints a table of ratios:
//
//	RAGTEST_DATA=../shared go run ./examples/benchmarks
//
// run from the root of the repository. It needs Go modules only. Every ratio is of two
// benchmarks of one test binary, which is run once a round, so that both sides of a
// ratio have met the same machine; the table has the median of the rounds and the
// least and greatest. On a machine that does something else too, more rounds help,
// and so does reading the ratios of processor time (cpu) only. Without RAGTEST_DATA,
// the folder that holds data/chroma, the rows that need it say so.
//
//	-rounds N      how often to run each binary; 5
//	-benchtime T   of each benchmark, as of go test; 300ms
//	-only REGEXP   the rows to measure, by their text
//
// The benchmarks are ordinary ones, in internal/peers, a module of its own so that
// nobody else downloads the peers, and beside the packages that they measure. To look
// closer at one, or to compare before and after:
//
//	(cd internal/peers && go test -run='^$' -bench=RecursiveCharacter -count=10 . | benchstat -col /impl -)
//
// # Where the time goes
//
// Chroma's whole evaluation, from reading 1.4 MB of corpora to the result with its
// diagnostics, with the hashing embedder at 2,048 dimensions: 0.16 to 0.27 s of
// processor time. Two fifths of that turn words into vectors, a quarter
// searches 5,259 sparse vectors, a sixth normalises and indexes them. Reading,
// chunking, scoring and diagnosing are the rest; chunking alone is a hundredth.
//
// Scoring a run of 10,000 queries × 100 documents from files: 0.13 to 0.2 s of
// processor time on all processors. A third tells columns and numbers apart, a
// quarter looks documents up, for those that a query has twice and among the judged
// ones, a tenth reads the file; much of the rest is garbage collection.
//
// RecursiveCharacter without overlap jumps from chunk to chunk: it looks at the text
// around where a chunk of the full size would end, so that fewer and
// larger chunks cost less than a look at every byte would suggest. At 200 characters
// a third of its time goes into the list of chunks.
//
// go test with no test selected is the go command itself, four fifths of it.
//
// # Peers that are no Go modules
//
// Chroma's chunking evaluation is Python. Its loops over ranges, without pandas, took
// 9 µs a query for 5 retrieved and 2 relevant spans, 14 µs for 5 and 5, 32 µs for 20
// and 2, 0.8 ms for 100 and 20 (Python 3.11), when
//
//	go test -run='^$' -bench='TokenScorer/.*/.*/metrics=chroma' ./ragtest
//
// showed 60 ns, 90 ns, 70 ns and 1.1 µs for the same three measures: 150 to 740 times
// as fast. For all queries and chunks, PrecisionOmega took it 0.36 s.
//
// trec_eval is C. A program that only reads, sorts, ranks and joins as it does, and
// computes one measure, took 0.87 s of processor time, compiled without optimisation
// as its Makefile says, and 0.75 s with -O2, for the run above: the evaluation of all
// measures here takes a quarter of that, spread over all processors.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "benchmarks:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "how often to run each test binary")
	benchtime := flags.String("benchtime", "300ms", "of each benchmark, as of go test")
	only := flags.String("only", "", "a regular expression: the rows to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := regexp.Compile(*only)
	switch {
	case err != nil:
		return fmt.Errorf("reading -only: %w", err)
	case *rounds < 1:
		return fmt.Errorf("-rounds is %d, want at least 1", *rounds)
	case flags.NArg() > 0:
		return fmt.Errorf("got arguments %q, want none", flags.Args())
	}
	var rows []row
	for _, r := range table {
		if chosen.MatchString(r.what) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return fmt.Errorf("no row matches -only %q", *only)
	}
	found, err := measure(ctx, rows, *rounds, *benchtime)
	if err != nil {
		return err
	}
	return write(os.Stdout, rows, found)
}
