package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

//go:embed page/page.html
var pageSource string

//go:embed page/page.css
var styleSource string

//go:embed page/page.js
var scriptSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// view is what the template shows.
type view struct {
	Policy       string
	Title        string
	Style        template.CSS
	Script       template.JS
	Data         template.JS
	Facts        []string
	Verdicts     []verdict
	Cards        []card
	Tables       []table
	Figures      []figure
	FiguresFirst bool // before the tables
	QueriesNote  string
	Runs         []runFacts
}

type verdict struct {
	Kind string // the class: good, bad or warn
	Word string
	Text string
}

// card is a metric of a single run. Places are in percent of its width.
type card struct {
	First, Last       bool
	Metric            string
	Mean, Detail      string
	Width, From, Span string
	Interval, Limited bool
	Limit             string
}

type table struct {
	Title, Note string
	Sortable    bool
	Head        []head
	Rows        [][]tableCell
}

type head struct {
	Text   string
	Number bool
}

type tableCell struct {
	Text  string
	Class string
	Sort  string // a number; "": by the text
}

type figure struct {
	Name, Caption string
	SVG           template.HTML
}

type runFacts struct {
	Title string
	Facts []fact
}

type fact struct{ Name, Text, Link string }

func (c *contents) html() ([]byte, error) {
	data, omitted, err := c.data()
	if err != nil {
		return nil, err
	}
	v := view{
		Policy: policy(), Title: c.title, Style: template.CSS(styleSource), Script: template.JS(scriptSource), Data: template.JS(data),
		Facts: c.facts(), Verdicts: c.verdicts(), Cards: c.cards(), Tables: c.tables(), QueriesNote: queriesNote(omitted), Runs: c.runFacts(),
		FiguresFirst: len(c.runs) > rankedRows, // the ranking is long
	}
	for _, p := range c.plots() {
		svg, err := p.embedded()
		if err != nil {
			return nil, err
		}
		v.Figures = append(v.Figures, figure{p.Name, p.Caption, template.HTML(svg)})
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// policy is the page's content security policy: its own script and style, by
// their hashes, and nothing else; no address may be loaded from or sent to.
func policy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(scriptSource) + "; style-src " + hash(styleSource) + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// facts are those that all runs share.
func (c *contents) facts() []string {
	facts := []string{c.runs[0].Level + " level"}
	if n := len(c.runs); n > 1 {
		facts = append(facts, fmt.Sprintf("%d runs", n))
	}
	facts = append(facts, count(len(c.queries), "query", "queries"))
	shared := func(name string, of func(r *ragtest.Result) int) {
		n := of(c.runs[0])
		if n > 0 && !slices.ContainsFunc(c.runs, func(r *ragtest.Result) bool { return of(r) != n }) {
			facts = append(facts, name+" "+strconv.Itoa(n))
		}
	}
	shared("documents:", func(r *ragtest.Result) int { return r.Diagnostics.Documents })
	shared("chunks:", func(r *ragtest.Result) int { return r.Chunks })
	shared("K =", func(r *ragtest.Result) int { return r.K })
	return facts
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// verdicts are what the runs' thresholds, baselines and warnings say.
func (c *contents) verdicts() []verdict {
	if len(c.runs) > 2 {
		return c.failures()
	}
	var list []verdict
	for i, r := range c.runs {
		prefix := ""
		if len(c.runs) > 1 {
			prefix = c.labels[i] + ": "
		}
		for _, t := range r.Thresholds {
			if !t.Pass {
				list = append(list, verdict{"bad", "Failed", fmt.Sprintf("%s%s %s, got %s", prefix, t.Metric, t.Want, decimals(t.Got))})
			}
		}
		if n := len(r.Thresholds); n > 0 && !failed(r) {
			list = append(list, verdict{"good", "Passed", prefix + count(n, "threshold", "thresholds")})
		}
		if b := r.Baseline; b != nil {
			kind := map[string]string{ragtest.OutcomeHeld: "good", ragtest.OutcomeRegressed: "bad"}[b.Outcome]
			if kind == "" {
				kind = "warn"
			}
			text := fmt.Sprintf("%sbaseline %s: %s", prefix, b.Path, b.Outcome)
			if len(b.Regressed) > 0 {
				text += " in " + strings.Join(b.Regressed, ", ")
			}
			list = append(list, verdict{kind, "Baseline", text})
		}
		for _, w := range r.Diagnostics.Warnings {
			list = append(list, verdict{"warn", "Warning", prefix + w})
		}
	}
	return list
}

// failures says how many of many runs fail; the ranking says which.
func (c *contents) failures() []verdict {
	n := 0
	for _, r := range c.runs {
		if failed(r) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []verdict{{"bad", "Failed", fmt.Sprintf("%d of %d runs fail a threshold", n, len(c.runs))}}
}

func failed(r *ragtest.Result) bool {
	return slices.ContainsFunc(r.Thresholds, func(t ragtest.ThresholdResult) bool { return !t.Pass })
}

// cards are the metrics of a single run.
func (c *contents) cards() []card {
	if len(c.runs) > 1 {
		return nil
	}
	percent := func(x float64) string { return strconv.FormatFloat(100*min(max(x, 0), 1), 'f', 2, 64) }
	r := c.runs[0]
	var cards []card
	for _, m := range c.metrics {
		mean, _ := r.Score(m)
		k := card{Metric: m, Mean: decimals(mean), Width: percent(mean)}
		var details []string
		if s, ok := interval(r, m); ok {
			details = append(details, "95 % interval "+decimals(s.Low)+" to "+decimals(s.High))
			k.Interval, k.From, k.Span = true, percent(s.Low), percent(s.High-s.Low)
		}
		if limit, ok := ceiling(r, m); ok {
			details = append(details, "at most "+decimals(limit))
			k.Limited, k.Limit = true, percent(min(limit, 0.994))
		}
		k.Detail = strings.Join(details, " · ")
		cards = append(cards, k)
	}
	cards[0].First, cards[len(cards)-1].Last = true, true
	return cards
}

func interval(r *ragtest.Result, metric string) (ragtest.ScoreInterval, bool) {
	for _, s := range r.Intervals {
		if s.Metric == metric && !math.IsNaN(s.Low) && !math.IsNaN(s.High) {
			return s, true
		}
	}
	return ragtest.ScoreInterval{}, false
}

func ceiling(r *ragtest.Result, metric string) (float64, bool) {
	for _, s := range r.Ceilings {
		if s.Metric == metric {
			return s.Value, true
		}
	}
	return 0, false
}

func queriesNote(o omitted) string {
	var left []string
	if o.runs -= o.summaries; o.runs > 0 {
		left = append(left, count(o.runs, "run", "runs")+" that rank lowest")
	}
	if o.queries > 0 {
		left = append(left, count(o.queries, "query", "queries")+" with the highest scores")
	}
	if o.characters > 0 {
		left = append(left, count(o.characters, "character", "characters")+" of the texts")
	}
	var notes []string
	if o.summaries > 0 {
		notes = append(notes, "Of "+count(o.summaries, "run", "runs")+" nothing but the scores is known here.")
	}
	if len(left) > 0 {
		notes = append(notes, "Left out here to keep the file small: "+strings.Join(left, "; ")+".")
	}
	return strings.Join(append(notes, "Enter opens a query; there the arrow keys go on to the next, and Escape comes back. / goes to the filter."), " ")
}

// runFacts are what each run was made of.
func (c *contents) runFacts() []runFacts {
	if len(c.runs) > 2 {
		return nil // the ranking has a row for each
	}
	var list []runFacts
	for i, r := range c.runs {
		f := runFacts{Title: "The run"}
		if len(c.runs) > 1 {
			f.Title = c.labels[i]
		}
		add := func(name, text string) {
			if text != "" {
				f.Facts = append(f.Facts, fact{Name: name, Text: text})
			}
		}
		add("chunker", r.Components.Chunker)
		add("embedder", r.Components.Embedder)
		add("store", r.Components.Store)
		add("retriever", r.Components.Retriever)
		add("reranker", r.Components.Reranker)
		add("K", strconv.Itoa(r.K))
		d := r.Diagnostics
		add("documents", strconv.Itoa(d.Documents))
		add("chunks", strconv.Itoa(r.Chunks))
		for _, n := range []struct {
			name string
			n    int
		}{{"embedded texts", d.EmbeddedTexts}, {"skipped chunks", d.SkippedChunks}, {"empty chunks", d.EmptyChunks}, {"duplicate chunks", d.DuplicateChunks}, {"queries without relevant text", d.QueriesWithoutRelevant}} {
			if n.n > 0 {
				add(n.name, strconv.Itoa(n.n))
			}
		}
		if d.IndexRecall != nil {
			add("index recall", decimals(*d.IndexRecall)+" of what exact search finds")
		}
		for _, u := range d.Usage {
			add("usage", u.String())
		}
		add("corpus", r.CorpusFingerprint)
		if r.ExperimentURL != "" {
			f.Facts = append(f.Facts, fact{"experiment", r.ExperimentURL, webAddress(r.ExperimentURL)})
		}
		list = append(list, f)
	}
	return list
}

// webAddress returns an address that a link may lead to: "" for one of another
// scheme than http and https.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}

// shorten returns the first n characters of s, with an ellipsis for what is left
// out.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
