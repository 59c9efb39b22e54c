package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/report"
)

var reportCommand = command{
	name:    "report",
	summary: "show results as a page, as Markdown, or as figures",
	usage:   "[flags] RESULT.json...",
	help:    reportHelp,
	define: func(flags *flag.FlagSet) runFunc {
		r := &reporting{}
		flags.StringVar(&r.html, "html", "", "write the page to this `file`; - is standard output")
		flags.StringVar(&r.markdown, "markdown", "", "write a summary in Markdown to this `file`; - is standard output")
		flags.BoolVar(&r.summary, "step-summary", false, "append the summary to the file that $GITHUB_STEP_SUMMARY names")
		flags.StringVar(&r.plots, "plots", "", "write the figures to this `folder`")
		flags.StringVar(&r.plotForms, "plot-forms", "svg", "`forms` of the figures, separated by commas: svg, png")
		flags.StringVar(&r.corpus, "corpus", "", "`folder` of the documents, which the page then shows whole")
		flags.StringVar(&r.rankBy, "rank-by", "", "`metric` that ranks three and more results; none: the first they have in common")
		flags.StringVar(&r.title, "title", "", "`title` of the page; none: the names of the runs")
		return r.run
	},
}

const reportHelp = `
RESULT.json is a result as the library writes it: ragtest.json of a test's artifacts, a
baseline, or a file of the folder results of ragtest sweep; it may be compressed with
gzip, and be -, standard input. A sweep.json stands for the results of all its cells.
One result is shown by itself, two side by side, the older first, and more ranked.

The page is one file that loads nothing. Without -html, -markdown, -step-summary and
-plots, it is written to report.html. What is written is named on standard error, a line
for each file.

Examples:

	ragtest report _artifacts/ragtest.json
	ragtest report -html diff.html -corpus docs testdata/baseline.json ragtest.json
	ragtest report -step-summary testdata/baseline.json ragtest.json
	ragtest report -markdown - ragtest.json | head -20
	ragtest report -plots figures -plot-forms svg,png ragtest-sweep/sweep.json
`

// reporting is what ragtest report is told to do.
type reporting struct {
	html, markdown, plots, plotForms string
	summary                          bool
	corpus, rankBy, title            string
}

// stepSummary names the variable in which GitHub tells the file that it shows with the
// run of a workflow.
const stepSummary = "GITHUB_STEP_SUMMARY"

func (r *reporting) run(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return misuse("found no result, want at least one")
	}
	forms := strings.Split(r.plotForms, ",")
	for _, f := range forms {
		if f != "svg" && f != "png" {
			return misuse("-plot-forms has %q: want svg, png or both", f)
		}
	}
	if r.html == "-" && r.markdown == "-" {
		return misuse("-html and -markdown are both -, want one of them")
	}
	if r.summary && os.Getenv(stepSummary) == "" {
		return misuse("-step-summary is there, and $%s is not set", stepSummary)
	}
	if r.html == "" && r.markdown == "" && !r.summary && r.plots == "" {
		r.html = "report.html"
	}
	in := &inputs{ctx: ctx}
	results, err := readResults(in, e, args)
	if err != nil {
		return err
	}
	page := report.Page{Title: r.title, Results: results, RankBy: r.rankBy}
	if r.corpus != "" {
		if page.Corpus, err = readCorpus(in, r.corpus, nil); err != nil {
			return err
		}
		if !slices.ContainsFunc(results, func(result *ragtest.Result) bool { return result.CorpusFingerprint == page.Corpus.Fingerprint() }) {
			return fmt.Errorf("folder %s: its documents are not those of any of the results", r.corpus)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.html != "" {
		data, err := await(ctx, page.HTML)
		if err != nil {
			return err
		}
		if err := r.write(e, r.html, data); err != nil {
			return err
		}
	}
	if r.markdown != "" || r.summary {
		if err := r.writeMarkdown(ctx, e, page); err != nil {
			return err
		}
	}
	if r.plots == "" {
		return nil
	}
	plots, err := await(ctx, page.Plots)
	if err != nil {
		return err
	}
	for _, p := range plots {
		for _, form := range forms {
			path := filepath.Join(r.plots, p.Name+"."+form)
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := p.WriteFile(path); err != nil {
				return err
			}
			fmt.Fprintf(e.stderr, "ragtest report: wrote %s: %s\n", path, p.Caption)
		}
	}
	return nil
}

// write writes a file, and makes its folder if need be.
func (r *reporting) write(e *env, path string, data []byte) error {
	if path == "-" {
		return writeFile(e, path, data)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := writeFile(e, path, data); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "ragtest report: wrote %s\n", path)
	return nil
}

func (r *reporting) writeMarkdown(ctx context.Context, e *env, page report.Page) error {
	text, err := await(ctx, page.Markdown)
	if err != nil {
		return err
	}
	if r.markdown != "" {
		if err := r.write(e, r.markdown, []byte(text)); err != nil {
			return err
		}
	}
	if !r.summary {
		return nil
	}
	path := os.Getenv(stepSummary)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("appending the summary: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return fmt.Errorf("appending the summary: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("appending the summary: %w", err)
	}
	fmt.Fprintf(e.stderr, "ragtest report: appended to %s\n", path)
	return nil
}
