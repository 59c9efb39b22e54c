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
// diagnostics, with the hashing embedder at 2,048 dimensions: a sixth of a second of
// processor time. Of that, hashing words to vectors takes two fifths, search
// over 5,259 sparse vectors a quarter, normalising and indexing them a sixth. Reading,
// chunking, scoring and diagnosing are what remains, less than a sixth; chunking
// itself is a hundredth.
//
// Scoring a run of a million lines from files takes 0.13 s of processor time: a third
// is telling columns apart, a quarter looking documents up among the judged
// ones, a sixth reading the file.
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
