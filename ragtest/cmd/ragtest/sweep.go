package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/progress"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/cmd/ragtest/internal/sweepfile"
	"github.com/rageval/rageval/ragtest/sweep"
)

var sweepCommand = command{
	name:    "sweep",
	summary: "evaluate combinations of chunkers, embedders and K, and rank them",
	usage:   "[flags] [DATA]\n\tragtest sweep -merge [flags] [SHARD.json...]",
	help:    sweepHelp,
	define: func(flags *flag.FlagSet) runFunc {
		s := &sweeping{}
		flags.StringVar(&s.config, "config", "", "YAML `file` of settings; flags override it")
		flags.Func("chunker", "`name` of a chunker, such as recursive/size=200/overlap=50; may be repeated; overrides configurations", func(name string) error {
			s.chunkers = append(s.chunkers, name)
			return nil
		})
		flags.StringVar(&s.shard, "shard", "", "evaluate part `i/n` of the grid only, i from 0 to n-1; job/n: i is JOB_COMPLETION_INDEX of the environment")
		flags.BoolVar(&s.merge, "merge", false, "merge the reports of shards instead: those named, or all in the output directory")
		flags.BoolVar(&s.partial, "partial", false, "with -merge, allow that shards are missing")
		flags.BoolVar(&s.json, "json", false, "print the report as JSON, not as a table")
		for _, key := range sweepfile.Keys() {
			flags.Func(strings.ReplaceAll(key, "_", "-"), keyUsages[key], func(value string) error {
				s.overrides = append(s.overrides, [2]string{key, value})
				return nil
			})
		}
		return s.run
	},
}

// keyUsages explain the flags that override keys of the file.
var keyUsages = map[string]string{
	"seed":              "`seed` of the sample: the same one chooses the same queries; default 42",
	"sample":            "evaluate a sample of `n` queries; default 0: all",
	"data_path":         "`path` of the collection, as the argument DATA",
	"data_form":         "`form` of the collection: golden, langsmith, squad, squad1, squad-flat, nq or chroma; default auto: it is found out",
	"corpus":            "`folder` of the documents that a golden file names",
	"min_answer_length": "leave out answers of fewer than `n` characters, and queries that lose all; default 0, in mode context 8",
	"preprocess_html":   "convert pages of Natural Questions to Markdown: `on`, off, or the default auto: those that have tags",
	"mode":              "`mode`: corpus, the default, searches all documents for relevant characters; context searches each question's own document for a chunk that contains an answer",
	"k_values":          "`numbers` of chunks to retrieve, separated by commas; default 1,3,5",
	"fetch_k":           "`numbers` of candidates for the rerankers; default 4*K",
	"budget":            "compare also within an equal context, such as `2000 tokens`; units: characters, tokens, cl100k, o200k",
	"metrics":           "`names` of metrics, the first of which ranks; default span_recall,span_precision,span_iou",
	"max_unlocated":     "allow that `n` chunks of each chunker have no place in their document; default 0",
	"output_dir":        "`folder` for what is written and for finished cells; default ragtest-sweep; empty: write nothing",
	"embedders":         "`names` of embedders and retrievers, separated by commas; default lexical",
	"rerankers":         "`names` of rerankers, separated by commas; none is the choice of none",
}

const sweepHelp = `
Every combination of a chunker, an embedder or retriever, a reranker and K is a cell.
Cells are ranked by the mean of the first metric; = marks those that the queries cannot
tell from the first. No work is done twice: what that saved goes to standard error.

A configuration file is YAML, whose keys are the flags above with _ for -, and
configurations. Unknown keys, duplicates, wrong types and values out of range are errors
with file, line and column. Paths in it are relative to its folder, those of flags to
the working directory.

	seed: 42
	data_path: squad-v2.0.json
	k_values: [1, 3, 5]
	output_dir: out
	embedders: [lexical, bm25]        # of configurations that name none
	configurations:
	  small: recursive/size=200       # the name of a chunker
	  large:
	    chunker: recursive            # or its kind, and its settings,
	    size: [400, 800]              # of which lists stand for every combination
	    overlap: 100
	    embedders: lexical

Chunkers: fixed, recursive, fixedtoken, sentence, paragraph, density, markdown, html.

Embedders and retrievers: lexical or lexical/dim=512; bm25 or bm25/k1=0.9/b=0.4; hybrid,
which fuses both by rank; model2vec:FOLDER; openai:MODEL; cohere:MODEL. Rerankers: none, cohere:MODEL, jina:MODEL, voyage:MODEL,
tei@URL. Models of services may be left out, and @URL added for another server, as in
openai:nomic-embed-text@http://localhost:11434/v1. Keys come from the environment:
OPENAI_API_KEY, CO_API_KEY, JINA_API_KEY, VOYAGE_API_KEY. Vectors of services are kept
in the output directory.

Written to the output directory:

	sweep.json, sweep.csv    the report
	sweep.html               the report as a page, with its curves and what queries retrieved
	sweep-0-of-4.json        the report of a shard, in place of these
	cells/                   finished cells: an interrupted sweep goes on from there
	results/                 the result of each cell, for ragtest compare and report
	embeddings/              vectors of services

The same settings give the same files, byte for byte, however the grid was shared out
or interrupted. -merge joins the reports of shards; it refuses those of another corpus,
other queries or another grid, and, without -partial, to leave cells out. With the
settings of the shards it reads the collection, too, to show its documents.

An interrupt ends the sweep promptly; the same command goes on from the cells that are
finished. In mode context nothing is kept, and contexts.json and contexts.csv are written.

Exit codes: 0 if the sweep is done, 2 if it cannot be, 130 if it was interrupted.

Examples:

	ragtest sweep -chunker recursive/size=200 -chunker recursive/size=400 dev-v2.0.json
	ragtest sweep -config sweep.yaml -sample 500 -json | jq '.cells[0].metrics'
	ragtest sweep -config sweep.yaml -shard 2/8
	ragtest sweep -config sweep.yaml -shard job/8     # in a Kubernetes Indexed Job
	ragtest sweep -config sweep.yaml -merge
	ragtest sweep -mode context -chunker sentence/maxsize=300 dev-v1.1.json
`

// sweeping is what ragtest sweep is told to do.
type sweeping struct {
	config    string
	chunkers  []string
	overrides [][2]string // keys and values of flags, in their order
	shard     string
	merge     bool
	partial   bool
	json      bool
}

func (s *sweeping) run(ctx context.Context, e *env, args []string) error {
	settings, err := s.settings()
	if err != nil {
		return err
	}
	if s.merge {
		return s.runMerge(ctx, e, settings, args)
	}
	switch {
	case s.partial:
		return misuse("-partial means nothing without -merge")
	case len(args) > 1:
		return misuse("found %s, want one: DATA", counted(len(args), "argument", "arguments"))
	case len(args) == 1:
		settings.DataPath = args[0]
	}
	switch {
	case settings.DataPath == "":
		return misuse("there is no collection: want DATA, or data_path in the configuration file")
	case len(settings.Configurations) == 0:
		return misuse("there is no chunker: want -chunker, or configurations in the configuration file")
	}
	shard, err := parseShard(s.shard)
	if err != nil {
		return err
	}
	if settings.Mode == modeContext {
		return s.runContexts(ctx, e, settings, shard)
	}
	return s.runGrid(ctx, e, settings, shard)
}

// settings returns the settings of the file with those of flags in their place.
func (s *sweeping) settings() (sweepfile.Settings, error) {
	settings := sweepfile.Default()
	if s.config != "" {
		var err error
		if settings, err = sweepfile.Read(s.config); err != nil {
			return settings, err
		}
	}
	for _, o := range s.overrides {
		if err := settings.Override(o[0], o[1]); err != nil {
			return settings, misuse("-%s: %w", strings.ReplaceAll(o[0], "_", "-"), err)
		}
	}
	if len(s.chunkers) > 0 {
		if err := settings.UseChunkers(s.chunkers); err != nil {
			return settings, misuse("-chunker: %w", err)
		}
	}
	return settings, nil
}

const (
	modeContext = "context"

	// shortAnswer is how many characters an answer needs that is looked for as a
	// substring, unless the settings say otherwise: shorter ones are found by chance.
	shortAnswer = 8
)

var shardForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,8}|job)/([1-9][0-9]{0,8})$`)

// jobIndex names the variable in which Kubernetes tells a pod of an Indexed Job which
// one it is.
const jobIndex = "JOB_COMPLETION_INDEX"

// parseShard reads i/n or job/n.
func parseShard(text string) (sweep.Shard, error) {
	if text == "" {
		return sweep.Shard{}, nil
	}
	m := shardForm.FindStringSubmatch(text)
	if m == nil {
		return sweep.Shard{}, misuse("-shard is %q: want i/n or job/n, with i from 0 to n-1", text)
	}
	n, _ := strconv.Atoi(m[2])
	from := "-shard"
	if m[1] == "job" {
		from = "$" + jobIndex
		m[1] = os.Getenv(jobIndex)
	}
	i, err := strconv.Atoi(m[1])
	if err != nil || i < 0 || i >= n {
		return sweep.Shard{}, misuse("-shard is %q, and %s says %q: want an index from 0 to %d", text, from, m[1], n-1)
	}
	return sweep.Shard{Index: i, Count: n}, nil
}

// readData reads the collection of the settings, and tells what is worth knowing.
func (s *sweeping) readData(ctx context.Context, e *env, settings sweepfile.Settings) (*collection, error) {
	in := &inputs{ctx: ctx}
	name, err := in.name(e, settings.DataPath)
	if err != nil {
		return nil, err
	}
	flags := readerFlags{reader: reader{corpus: settings.Corpus, html: settings.PreprocessHTML}}
	if settings.DataForm != "auto" {
		flags.from = settings.DataForm
	}
	f, err := flags.resolve(in, name)
	if err != nil {
		return nil, err
	}
	var l ledger
	c, err := flags.read(in, f, name, &l)
	if err != nil {
		return nil, err
	}
	if c.level != tokenLevel || c.corpus == nil {
		return nil, fmt.Errorf("%s: its ground truth is %s-level, and a sweep wants the passages that are relevant", name, c.level)
	}
	least := settings.MinAnswerLength
	if least < 0 && settings.Mode == modeContext {
		least = shortAnswer
	}
	c.dropShort(least, &l)
	before := len(c.tokens)
	c.tokens = slices.DeleteFunc(c.tokens, func(q ragtest.TokenQuery) bool { return len(q.Relevant) == 0 && len(q.Alternatives) == 0 })
	l.note(before-len(c.tokens), "query", "queries", "left out, for no passage is relevant")
	if before := len(c.tokens); settings.Sample > 0 && settings.Sample < before {
		c.tokens = fixtures.Sample{N: settings.Sample, Seed: settings.Seed}.Of(c.tokens)
		l.note(len(c.tokens), "query", "queries", fmt.Sprintf("sampled of %d, with the seed %d", before, settings.Seed))
	}
	l.print(e.stderr, "ragtest sweep: ")
	if len(c.tokens) == 0 {
		return nil, fmt.Errorf("%s: no query is left", name)
	}
	return c, ctx.Err()
}

// runGrid evaluates the grid of the settings, or a shard of it.
func (s *sweeping) runGrid(ctx context.Context, e *env, settings sweepfile.Settings, shard sweep.Shard) (err error) {
	grid, err := newGrid(settings)
	if err != nil {
		return err
	}
	defer func() {
		if closing := grid.close(); err == nil {
			err = closing
		}
	}()
	data, err := s.readData(ctx, e, settings)
	if err != nil {
		return err
	}
	out := output{dir: settings.OutputDir}
	if err := out.make(); err != nil {
		return err
	}
	grid.Name = sweepName(settings)
	grid.Corpus, grid.Queries, grid.Shard = data.corpus, data.tokens, shard
	if out.dir != "" {
		if err := os.MkdirAll(out.cells(), 0o777); err != nil {
			return fmt.Errorf("making the output directory: %w", err)
		}
		grid.Dir, grid.Visit = out.cells(), out.keepResult
	}
	done, total := 0, 0
	meter := progress.New(e.stderr, "ragtest sweep", "cells", e.terminal)
	grid.Progress = func(d, t int, last string) {
		done, total = d, t
		meter.Tell(d, t, last)
	}
	report, err := grid.Evaluate(ctx)
	meter.Stop()
	if err != nil {
		if ctx.Err() != nil && grid.Dir != "" {
			finished := "finished cells are"
			if done > 0 {
				finished = fmt.Sprintf("%d of %s are finished and", done, counted(total, "cell", "cells"))
			}
			fmt.Fprintf(e.stderr, "ragtest sweep: %s kept in %s: the same command goes on from there\n", finished, grid.Dir)
		}
		return err
	}
	fmt.Fprintf(e.stderr, "ragtest sweep: %s\n", report.Work)
	for _, u := range report.Usage {
		fmt.Fprintf(e.stderr, "ragtest sweep: usage: %s\n", u)
	}
	return s.tell(ctx, e, report, data, out, shard)
}

// sweepName returns the name of the sweep of a collection.
func sweepName(settings sweepfile.Settings) string {
	if settings.DataPath == "-" {
		return ""
	}
	return filepath.Base(settings.DataPath)
}

// tell writes the report of a grid or a shard, and prints it.
func (s *sweeping) tell(ctx context.Context, e *env, report *sweep.Report, data *collection, out output, shard sweep.Shard) error {
	table := make(chan string, 1)
	if !s.json {
		shown := *report // without what two runs do not share
		shown.Work, shown.Usage, shown.Elapsed = sweep.Work{}, nil, 0
		go func() { table <- shown.String() }() // takes as long as what is written
	}
	if out.dir != "" {
		written, err := await(ctx, func() ([]string, error) { return out.write(ctx, report, data, shard) })
		if err != nil {
			return err
		}
		for _, line := range written {
			fmt.Fprintf(e.stderr, "ragtest sweep: %s\n", line)
		}
	}
	if s.json {
		return printJSON(e, report)
	}
	text, err := await(ctx, func() (string, error) { return <-table, nil })
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.stdout, text)
	return err
}

// await returns what f returns or, once the context is done, its error: f, which takes
// long and knows no context, then ends with the process.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// printJSON prints a value on one line.
func printJSON(e *env, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(append(data, '\n'))
	return err
}

// runMerge joins the reports of shards.
func (s *sweeping) runMerge(ctx context.Context, e *env, settings sweepfile.Settings, files []string) error {
	if s.shard != "" {
		return misuse("-shard and -merge are both there, want one of them")
	}
	out := output{dir: settings.OutputDir}
	if len(files) == 0 {
		var err error
		if files, err = out.shards(); err != nil {
			return err
		}
	}
	var parts []*sweep.Report
	for _, path := range files {
		r, err := sweep.Read(path)
		if err != nil {
			return err
		}
		parts = append(parts, r)
		if folder := filepath.Dir(path); !slices.Contains(out.others, folder) {
			out.others = append(out.others, folder)
		}
	}
	report, err := sweep.Merge(parts...)
	if err != nil {
		return fmt.Errorf("%w (the reports, from 0: %s)", err, strings.Join(files, ", "))
	}
	if missing := report.GridCells - len(report.Cells); missing > 0 && !s.partial {
		return fmt.Errorf("%d of the %s of the grid are missing in %s: want the reports of all shards, or -partial", missing, counted(report.GridCells, "cell", "cells"), strings.Join(files, ", "))
	}
	if len(report.Cells) == 0 {
		return fmt.Errorf("there is no cell in %s", strings.Join(files, ", "))
	}
	var data *collection
	if settings.DataPath != "" && out.dir != "" {
		if data, err = s.readData(ctx, e, settings); err != nil {
			return err
		}
		if data.corpus.Fingerprint() != report.CorpusFingerprint {
			return fmt.Errorf("%s: its documents are not those of the shards: got the fingerprint %s, want %s", settings.DataPath, data.corpus.Fingerprint(), report.CorpusFingerprint)
		}
	}
	return s.tell(ctx, e, report, data, out, sweep.Shard{})
}
