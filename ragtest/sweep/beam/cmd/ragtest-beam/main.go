// Command ragtest-beam runs a sweep as a Beam pipeline:
//
//	ragtest-beam -sweep=sweep.json -corpus='corpus/*.jsonl' -report=report.json
//
// The sweep is the JSON form of [beam.Sweep], and the corpus and its form are those of
// [beam.Read]. Without further flags it runs in this process. Beam's flags choose
// another runner, for instance
//
//	-runner=universal -endpoint=localhost:8073 -environment_type=LOOPBACK
//	-runner=flink -endpoint=flink-jobserver:8099 -environment_type=DOCKER -environment_config=registry/ragtest-beam-worker
//	-runner=spark -endpoint=spark-jobserver:8099 -environment_type=PROCESS -environment_config='{"command":"/opt/ragtest-beam/boot"}'
//	-runner=dataflow -project=P -region=R -staging_location=gs://bucket/staging -worker_binary=./ragtest-beam-linux
//
// With workers on other machines, corpus and report are where all of them see them:
// paths begin with gs://, or are on a file system that they share. Whether the
// local sweep gives the same report can be seen where the corpus fits into memory:
//
//	ragtest-beam -local -sweep=sweep.json -corpus='sample/*.jsonl' -report=report.json
//
// The embedder it knows is "lexical", with a dimension such as "lexical/dim=512".
// Embedders, chunkers, rerankers and metrics of your own are added by an init function
// in a copy of this file.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep/beam"
)

func init() {
	beam.RegisterEmbedder("lexical", func(settings string) (ragtest.Embedder, error) {
		var e lexical.Embedder
		if settings == "" {
			return e, nil
		}
		if _, err := fmt.Sscanf(settings, "dim=%d", &e.Dim); err != nil {
			return nil, fmt.Errorf("settings: got %q, want dim= and a number", settings)
		}
		return e, e.Validate()
	})
}

var (
	description = flag.String("sweep", "", "file with the sweep, the JSON form of beam.Sweep")
	corpus      = flag.String("corpus", "", "patterns of the files of the corpus, with commas between them")
	report      = flag.String("report", "", "file to write the report to")
	local       = flag.Bool("local", false, "sweep without Beam, with the corpus in memory")
)

func main() {
	flag.Parse()
	sdk.Init() // does not return on a worker
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ragtest-beam:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if *description == "" || *corpus == "" || *report == "" || flag.NArg() > 0 {
		return errors.New("want the flags -sweep, -corpus and -report, and no arguments")
	}
	data, err := os.ReadFile(*description)
	if err != nil {
		return fmt.Errorf("reading the sweep: %w", err)
	}
	var s beam.Sweep
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("reading the sweep: %s: %w", *description, err)
	}
	patterns := strings.Split(*corpus, ",")
	if *local {
		return runLocally(ctx, s, patterns)
	}
	p, scope := sdk.NewPipelineWithRoot()
	c, err := beam.Read(ctx, scope, patterns...)
	if err != nil {
		return err
	}
	found, err := beam.Evaluate(scope, s, c)
	if err != nil {
		return err
	}
	if err := beam.Write(scope, *report, found); err != nil {
		return err
	}
	return beamx.Run(ctx, p)
}

func runLocally(ctx context.Context, s beam.Sweep, patterns []string) error {
	g, err := s.Grid()
	if err != nil {
		return err
	}
	if g.Corpus, err = beam.Load(ctx, patterns...); err != nil {
		return err
	}
	r, err := g.Evaluate(ctx)
	if err != nil {
		return err
	}
	return r.Write(*report)
}
