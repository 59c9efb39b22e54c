package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

var compareCommand = command{
	name:    "compare",
	summary: "compare results query by query, and say which got worse",
	usage:   "[flags] OLD NEW [MORE...]\n\tragtest compare -summaries [flags] MEAN,SD,N MEAN,SD,N",
	help:    compareHelp,
	define: func(flags *flag.FlagSet) runFunc {
		c := &comparing{}
		flags.Float64Var(&c.margin, "margin", 0, "mean `loss` that is no regression, from 0 to 1")
		flags.Float64Var(&c.level, "level", 0.05, "`p`-value up to which a loss is no chance, more than 0 and less than 1")
		flags.StringVar(&c.format, "format", "text", "`form` of the output: text, markdown, latex or json")
		flags.Func("metric", "let this `metric` alone decide what is a regression; may be repeated; none: all of them", func(name string) error {
			c.metrics = append(c.metrics, name)
			return nil
		})
		flags.BoolVar(&c.otherCorpus, "other-corpus", false, "compare even if the documents differ, so that the relevant passages may have moved")
		flags.BoolVar(&c.json, "json", false, "the same as -format json")
		flags.BoolVar(&c.summaries, "summaries", false, "compare means, standard deviations and numbers of queries, as a publication tells them")
		return c.run
	},
}

const compareHelp = `
OLD, NEW and MORE are results as the library writes them: ragtest.json of a test's
artifacts, a baseline, or a file of the folder results of ragtest sweep; they may be
compressed with gzip, and one of them may be -, standard input. A sweep.json stands for
the results of all its cells. The runs need the same queries, by ID.

NEW has regressed by a metric if its mean has lost more than -margin and the loss is
no chance: if the p-value of the paired sign-flip test, adjusted for the number of
metrics (Holm), is at most -level. This is the rule of Baseline in a test. The table has
a 95 % interval for each difference (paired bootstrap), and the loss that these queries
would show with probability 0.8. Of three and more runs, each is compared with OLD, and
pairs that differ are listed (randomised Tukey HSD, p at most 0.05).

With -summaries, the interval is Welch's for independent runs: wider than that of a
paired comparison, for it cannot know which queries changed. NEW has regressed if the
whole interval is a loss, and the loss is more than -margin.

Exit codes: 0 if no run has regressed, 1 if one has, 2 if they cannot be compared,
which includes documents that differ, unless -other-corpus is there.

Examples:

	ragtest compare testdata/baseline.json _artifacts/ragtest.json
	ragtest compare -margin 0.01 -metric span_recall old.json new.json
	ragtest compare -format markdown old.json new.json >> "$GITHUB_STEP_SUMMARY"
	ragtest compare -format latex bm25.json dense.json hybrid.json > table.tex
	ragtest compare -json old.json new.json | jq .regressed
	ragtest compare -summaries 0.87,0.34,472 0.85,0.36,472
`

// comparing is what ragtest compare is told to do.
type comparing struct {
	margin, level float64
	format        string
	metrics       []string
	otherCorpus   bool
	json          bool
	summaries     bool
}

// regression is a run that has got worse by a metric.
type regression struct {
	Run    string  `json:"run"`
	Metric string  `json:"metric"`
	Loss   float64 `json:"loss"` // of the mean
	P      float64 `json:"p"`    // adjusted
}

// verdict is a comparison with what follows from it.
type verdict struct {
	*ragtest.Comparison
	Margin    float64      `json:"margin"`
	Level     float64      `json:"significance"`
	Regressed []regression `json:"regressed"`
}

func (c *comparing) run(ctx context.Context, e *env, args []string) error {
	if c.json {
		c.format = "json"
	}
	switch {
	case !(c.margin >= 0 && c.margin <= 1):
		return misuse("-margin is %v: want a mean loss from 0 to 1", c.margin)
	case !(c.level > 0 && c.level < 1):
		return misuse("-level is %v: want more than 0 and less than 1", c.level)
	case !slices.Contains([]string{"text", "markdown", "latex", "json"}, c.format):
		return misuse("-format is %q: want text, markdown, latex or json", c.format)
	case c.summaries:
		return c.compareSummaries(e, args)
	}
	read, err := readResults(&inputs{ctx: ctx}, e, args)
	if err = errors.Join(err, read.missing); err != nil {
		return err
	}
	runs := read.results
	if len(runs) < 2 {
		return misuse("found %s, want at least two: OLD and NEW", counted(len(runs), "result", "results"))
	}
	tellApart(runs, args)
	if err := c.checkCorpus(e, runs); err != nil {
		return err
	}
	comparison, err := await(ctx, func() (*ragtest.Comparison, error) { return ragtest.Compare(runs[0], runs[1], runs[2:]...) })
	if err != nil {
		return err
	}
	v, err := c.judge(comparison)
	if err != nil {
		return err
	}
	if err := c.print(e, v); err != nil {
		return err
	}
	if len(v.Regressed) > 0 {
		return errFound
	}
	return nil
}

// checkCorpus returns an error for runs over different documents.
func (c *comparing) checkCorpus(e *env, runs []*ragtest.Result) error {
	for _, r := range runs[1:] {
		if r.CorpusFingerprint == runs[0].CorpusFingerprint {
			continue
		}
		what := fmt.Sprintf("the documents of %s are not those of %s: what is relevant may have moved", r.Name, runs[0].Name)
		if !c.otherCorpus {
			return fmt.Errorf("%s, so that the scores cannot be compared; -other-corpus compares them nevertheless", what)
		}
		fmt.Fprintf(e.stderr, "ragtest compare: note: %s\n", what)
	}
	return nil
}

// tellApart names the runs by their files where their own names do not tell them apart.
func tellApart(runs []*ragtest.Result, files []string) {
	names := map[string]int{}
	for _, r := range runs {
		names[r.Name]++
	}
	for i, r := range runs {
		if names[r.Name] == 1 && r.Name != "" {
			continue
		}
		if len(files) == len(runs) {
			r.Name = strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(files[i]), ".gz"), ".json")
		} else {
			r.Name = strings.TrimSpace(fmt.Sprintf("%s %d", r.Name, i+1))
		}
	}
}

// judge says which runs have regressed.
func (c *comparing) judge(comparison *ragtest.Comparison) (*verdict, error) {
	v := &verdict{Comparison: comparison, Margin: c.margin, Level: c.level, Regressed: []regression{}}
	var known []string
	for _, m := range comparison.Metrics {
		known = append(known, m.Metric)
		if c.metrics != nil && !slices.Contains(c.metrics, m.Metric) {
			continue
		}
		for i, d := range m.Changes {
			if -d.Difference > c.margin && d.Adjusted <= c.level {
				v.Regressed = append(v.Regressed, regression{comparison.Runs[i+1], m.Metric, -d.Difference, d.Adjusted})
			}
		}
	}
	for _, name := range c.metrics {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("the runs have no metric %q in common: want one of %s", name, strings.Join(known, ", "))
		}
	}
	return v, nil
}

func (c *comparing) print(e *env, v *verdict) error {
	var b strings.Builder
	switch c.format {
	case "json":
		return printJSON(e, v)
	case "latex":
		b.WriteString(v.LaTeX())
	case "markdown":
		b.WriteString(v.Markdown() + "\n")
		for _, line := range v.lines() {
			b.WriteString(escapeMarkdown.Replace(line) + "  \n")
		}
	default:
		b.WriteString(v.String() + "\n")
		for _, line := range v.lines() {
			b.WriteString(line + "\n")
		}
	}
	_, err := e.stdout.Write([]byte(b.String()))
	return err
}

// escapeMarkdown keeps names from being read as Markdown or HTML.
var escapeMarkdown = strings.NewReplacer("<", "&lt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "|", `\|`, "\n", " ")

// lines returns the verdict in words, a line for each regression.
func (v *verdict) lines() []string {
	if len(v.Regressed) == 0 {
		return []string{fmt.Sprintf("no regression: no mean has lost more than %g with p at most %g", v.Margin, v.Level)}
	}
	var list []string
	for _, r := range v.Regressed {
		list = append(list, fmt.Sprintf("regressed: %s has lost %.4f of %s, more than %g, p = %.4f", r.Run, r.Loss, r.Metric, v.Margin, r.P))
	}
	return list
}

// summaryForm is a mean, a standard deviation and a number of queries.
var summaryForm = regexp.MustCompile(`^([^,]+),([^,]+),([0-9]{1,9})$`)

func parseSummary(text string) (ragtest.ScoreSummary, error) {
	m := summaryForm.FindStringSubmatch(text)
	if m == nil {
		return ragtest.ScoreSummary{}, misuse("found the summary %q, want MEAN,SD,N such as 0.87,0.34,472", text)
	}
	mean, err := strconv.ParseFloat(m[1], 64)
	deviation, errDeviation := strconv.ParseFloat(m[2], 64)
	if errors.Join(err, errDeviation) != nil {
		return ragtest.ScoreSummary{}, misuse("found the summary %q, want MEAN,SD,N in numbers, such as 0.87,0.34,472", text)
	}
	n, _ := strconv.Atoi(m[3])
	return ragtest.ScoreSummary{Mean: mean, StandardDeviation: deviation, Queries: n}, nil
}

// compareSummaries compares two summaries.
func (c *comparing) compareSummaries(e *env, args []string) error {
	if len(args) != 2 {
		return misuse("found %s, want two", counted(len(args), "summary", "summaries"))
	}
	if c.format != "text" && c.format != "json" {
		return misuse("-format is %q: want text or json with -summaries", c.format)
	}
	var s [2]ragtest.ScoreSummary
	for i, arg := range args {
		var err error
		if s[i], err = parseSummary(arg); err != nil {
			return err
		}
	}
	d, err := ragtest.CompareSummaries(s[0], s[1])
	if err != nil {
		return err
	}
	regressed := d.High < 0 && math.Abs(d.Difference) > c.margin
	if c.format == "json" {
		err = printJSON(e, struct {
			Difference float64 `json:"difference"`
			Low        float64 `json:"low"`
			High       float64 `json:"high"`
			Regressed  bool    `json:"regressed"`
		}{d.Difference, d.Low, d.High, regressed})
	} else {
		_, err = fmt.Fprintln(e.stdout, d)
	}
	if err == nil && regressed {
		return errFound
	}
	return err
}
