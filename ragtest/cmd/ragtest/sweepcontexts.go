package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/progress"
	"github.com/rageval/rageval/internal/wholefile"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/cmd/ragtest/internal/sweepfile"
	"github.com/rageval/rageval/ragtest/percontext"
	"github.com/rageval/rageval/ragtest/sweep"
)

// contextsReport is what a sweep within contexts found.
type contextsReport struct {
	Name              string               `json:"name"`
	CorpusFingerprint string               `json:"corpusFingerprint"`
	Results           []*percontext.Result `json:"results"`            // the highest MRR first, equal ones in the order of the settings
	Warnings          []string             `json:"warnings,omitempty"` // where the results cannot be told apart
}

// runContexts evaluates every chunker and embedder within contexts.
func (s *sweeping) runContexts(ctx context.Context, e *env, settings sweepfile.Settings, shard sweep.Shard) (err error) {
	for _, unfit := range []struct {
		key string
		set bool
	}{
		{"fetch_k", settings.FetchK != nil}, {"rerankers", settings.Rerankers != nil}, {"budget", settings.Budget.Size > 0},
		{"metrics", settings.Metrics != nil}, {"max_unlocated", settings.MaxUnlocated > 0}, {"-shard", shard.Count > 0},
	} {
		if unfit.set {
			return misuse("%s means nothing in mode context", unfit.key)
		}
	}
	g, err := newGrid(settings)
	if err != nil {
		return err
	}
	defer func() {
		if closing := g.close(); err == nil {
			err = closing
		}
	}()
	if err := (output{dir: settings.OutputDir}).make(); err != nil {
		return err
	}
	data, err := s.readData(ctx, e, settings)
	if err != nil {
		return err
	}
	questions, err := percontext.FromSpans(data.corpus, data.tokens, nil)
	if err != nil {
		return err
	}
	evaluations, err := contextEvaluations(g)
	if err != nil {
		return err
	}
	report := &contextsReport{Name: sweepName(settings), CorpusFingerprint: data.corpus.Fingerprint()}
	meter := progress.New(e.stderr, "ragtest sweep", "configurations", e.terminal)
	for i, evaluation := range evaluations {
		evaluation.Corpus, evaluation.Questions, evaluation.Ks = data.corpus, questions, settings.KValues
		evaluation.MinAnswerLength = 1 // shorter answers than the settings want are left out already
		r, err := evaluation.Evaluate(ctx)
		if err != nil {
			meter.Stop()
			return fmt.Errorf("%s: %w", evaluation.Name, err)
		}
		report.Results = append(report.Results, r)
		meter.Tell(i+1, len(evaluations), evaluation.Name)
	}
	meter.Stop()
	report.Warnings = percontext.Saturation(report.Results...)
	slices.SortStableFunc(report.Results, func(a, b *percontext.Result) int { return cmp.Compare(b.MRR, a.MRR) })
	if settings.OutputDir != "" {
		if err := report.write(settings.OutputDir); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "ragtest sweep: wrote contexts.json, contexts.csv to %s\n", settings.OutputDir)
	}
	if s.json {
		return printJSON(e, report)
	}
	_, err = fmt.Fprint(e.stdout, report)
	return err
}

// contextEvaluations returns an evaluation for each chunker and source of the grid.
func contextEvaluations(g *grid) ([]percontext.Evaluation, error) {
	var list []percontext.Evaluation
	for _, c := range g.Chunkers {
		chunker := c.(interface {
			chunkers.Chunker
			fmt.Stringer
		})
		add := func(embedder ragtest.Embedder, retriever func() ragtest.Retriever[chunkers.Chunk], configuration sweep.Configuration) {
			configuration.Chunker = chunker.String()
			if !g.Skip(configuration) {
				list = append(list, percontext.Evaluation{Name: chunker.String() + "/" + configuration.Embedder + configuration.Retriever,
					Chunker: chunker, Embedder: embedder, Retriever: retriever})
			}
		}
		for _, e := range g.Embedders {
			add(e, nil, sweep.Configuration{Embedder: fmt.Sprint(e)})
		}
		for i, r := range g.Retrievers {
			if _, err := newRetriever[chunkers.Chunk](g.retrievers[i]); err != nil {
				return nil, err
			}
			add(nil, func() ragtest.Retriever[chunkers.Chunk] {
				r, _ := newRetriever[chunkers.Chunk](g.retrievers[i])
				return r
			}, sweep.Configuration{Retriever: fmt.Sprint(r)})
		}
	}
	return list, nil
}

// rows returns the table of results, the head first.
func (r *contextsReport) rows(decimals int) [][]string {
	head := []string{"rank", "mrr"}
	for _, h := range r.Results[0].HitRates {
		head = append(head, fmt.Sprintf("hit_rate@%d", h.K))
	}
	rows := [][]string{append(head, "chunks", "cut", "configuration")}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', decimals, 64) }
	for i, result := range r.Results {
		row := []string{strconv.Itoa(i + 1), number(result.MRR)}
		for _, h := range result.HitRates {
			row = append(row, number(h.Value))
		}
		rows = append(rows, append(row, strconv.Itoa(result.Chunks), strconv.Itoa(result.Cut), result.Name))
	}
	return rows
}

// String returns the ranked table and the warnings.
func (r *contextsReport) String() string {
	var b strings.Builder
	first := r.Results[0]
	fmt.Fprintf(&b, "%s within contexts: %s, %s, %s\n", strings.TrimSpace("sweep "+r.Name), counted(len(r.Results), "configuration", "configurations"),
		counted(len(first.Questions), "question", "questions"), counted(first.Contexts, "context", "contexts"))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range r.rows(4) {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	w.Flush()
	b.WriteString("  cut: questions whose answer no chunk holds whole\n")
	warnings := slices.Clone(r.Warnings)
	for _, result := range r.Results {
		for _, warning := range result.Warnings {
			warnings = append(warnings, result.Name+": "+warning)
		}
	}
	for _, warning := range warnings {
		fmt.Fprintf(&b, "\nwarning: %s\n", warning)
	}
	return b.String()
}

func (r *contextsReport) write(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := wholefile.Write(filepath.Join(dir, "contexts.json"), append(data, '\n')); err != nil {
		return err
	}
	var table bytes.Buffer
	if err := csv.NewWriter(&table).WriteAll(r.rows(-1)); err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(dir, "contexts.csv"), table.Bytes())
}
