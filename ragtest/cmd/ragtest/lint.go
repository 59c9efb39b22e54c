package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/rageval/rageval/chunkers/catalog"
	"github.com/rageval/rageval/fixtures/synth"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

var lintCommand = command{
	name:    "lint",
	summary: "check golden files and data sets",
	usage:   "[flags] FILE...",
	help:    lintHelp,
	define: func(flags *flag.FlagSet) runFunc {
		l := linting{}
		l.reader.define(flags)
		flags.BoolVar(&l.json, "json", false, "print the findings as JSON, an object a line")
		flags.BoolVar(&l.formOnly, "form-only", false, "check only whether the files are well-formed and fit their documents")
		flags.StringVar(&l.chunker, "chunker", "", "`chunker`, such as recursive/size=200, that chunk IDs are verified by")
		flags.Func("ignore", "`kind` of findings not to look for; may be repeated, or several be separated by commas", func(s string) error {
			l.ignore = append(l.ignore, strings.Split(s, ",")...)
			return nil
		})
		flags.IntVar(&l.linter.MinChars, "min-chars", 8, "least `characters` of a relevant span or chunk")
		flags.IntVar(&l.linter.MaxChars, "max-chars", 2000, "most `characters` of a relevant span or chunk")
		flags.IntVar(&l.linter.MaxPerDoc, "max-per-doc", 0, "most `queries` about one document; 0: four times the mean, at least 10")
		flags.Float64Var(&l.linter.MaxShared, "max-shared", 0.8, "`share` of the words of two queries from which on they are similar")
		flags.Float64Var(&l.linter.MaxLeakage, "max-leakage", 0.8, "largest `share` of a query's rare words that its passages may have too")
		flags.Float64Var(&l.linter.MaxBaseline, "max-baseline", 0.95, "largest `recall` at 5 that BM25 may reach")
		flags.Float64Var(&l.linter.MaxUnanswerable, "max-unanswerable", 0.3, "largest `share` of queries to which nothing is relevant")
		return l.run
	},
}

const lintHelp = `
A FILE is whatever ragtest convert reads: a golden file, or a collection of another
form. - is standard input. Findings are printed as

	file:line:column: kind: query …: document …: what is wrong

without what is not known, and the exit code is 1 if there are any.

What every form is checked for:

	malformed         it cannot be read, or a span does not hold the text it should

Golden files and LangSmith's, whose documents -corpus names:

	unlocated         the text of a span has no place in its document, or several
	moved             the offsets of a span are out of date, but its text was found:
	                  ragtest convert -to golden writes the new ones

Natural Questions:

	rejected          the place of an answer in the converted page is not certain

Ground truth of token level, and of chunk level if -chunker is set:

	outside-corpus    a span is not in its document, or a chunk not one of the chunker's
	blank-span        there is nothing but white space in it
	short-span        it is shorter than -min-chars
	long-span         it is longer than -max-chars
	repeated-text     its text occurs in its document more than once
	elsewhere         another document holds it too
	same-query        two queries have the same words
	similar-query     they share -max-shared of them
	leakage           a query's rare words are copied from its passages: -max-leakage
	refers-to-text    a query speaks of "the passage"
	no-query          a document has none
	many-queries      a document has more than -max-per-doc
	trivial           BM25 finds nearly everything: -max-baseline
	nothing-to-find   too many queries have nothing relevant: -max-unanswerable

Limits of 0 mean the defaults. With -json, each finding is an object with the fields
file, line, column, kind, query, document and detail, without those that are not known.

Examples:

	ragtest lint -corpus docs testdata/handbook.golden.jsonl
	ragtest lint -form-only data/*.json.gz
	ragtest lint -ignore no-query,short-span -json golden/ | jq -r .kind | sort | uniq -c
	ragtest lint -corpus docs -chunker recursive/size=800/overlap=200 chunks.golden.jsonl
`

// The kinds of findings beside those of the linter.
const (
	malformed = "malformed"
	unlocated = "unlocated"
	moved     = "moved"
	rejected  = "rejected"
)

// finding is one line of what ragtest lint prints.
type finding struct {
	File   string           `json:"file"`
	Line   int              `json:"line,omitempty"`   // from 1; 0: not known
	Column int              `json:"column,omitempty"` // in bytes, from 1; 0: not known
	Kind   string           `json:"kind"`
	Query  ragtest.QueryID  `json:"query,omitempty"`
	Doc    spans.DocumentID `json:"document,omitempty"`
	Detail string           `json:"detail"`
}

func (f finding) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if f.Column > 0 {
		fmt.Fprintf(&b, ":%d", f.Column)
	}
	fmt.Fprintf(&b, ": %s", f.Kind)
	if f.Query != "" {
		fmt.Fprintf(&b, ": query %s", f.Query)
	}
	if f.Doc != "" {
		fmt.Fprintf(&b, ": document %s", f.Doc)
	}
	fmt.Fprintf(&b, ": %s", f.Detail)
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(b.String())
}

// linting is what ragtest lint is told to do.
type linting struct {
	reader   readerFlags
	json     bool
	formOnly bool
	chunker  string
	ignore   []string
	linter   synth.Linter

	parsed catalog.Chunker // of chunker; nil: none
}

func (l *linting) run(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return misuse("found no argument, want files")
	}
	if err := l.settle(); err != nil {
		return err
	}
	in := &inputs{ctx: ctx}
	out := json.NewEncoder(e.stdout)
	out.SetEscapeHTML(false)
	found, files := 0, 0
	var failed []error
	for _, arg := range args {
		findings, err := l.check(ctx, e, in, arg)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
		}
		shown := 0
		for _, f := range findings {
			if slices.Contains(l.ignore, f.Kind) {
				continue
			}
			shown++
			if l.json {
				err = out.Encode(f)
			} else {
				_, err = fmt.Fprintln(e.stdout, f)
			}
			if err != nil {
				return err
			}
		}
		if found += shown; shown > 0 {
			files++
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	if found > 0 {
		fmt.Fprintf(e.stderr, "ragtest lint: %s in %s\n", counted(found, "finding", "findings"), counted(files, "file", "files"))
		return errFound
	}
	return nil
}

// asFlags puts the flags in place of the fields of [synth.Linter] that they set.
var asFlags = strings.NewReplacer("synth.Linter: ", "", "MinChars", "-min-chars", "MaxChars", "-max-chars", "MaxPerDoc", "-max-per-doc",
	"MaxShared", "-max-shared", "MaxLeakage", "-max-leakage", "MaxBaseline", "-max-baseline", "MaxUnanswerable", "-max-unanswerable",
	"Ignore names", "-ignore names", `want one of [`, fmt.Sprintf("want one of [%q %q %q ", unlocated, moved, rejected))

// settle checks the flags.
func (l *linting) settle() error {
	if l.chunker != "" {
		var err error
		if l.parsed, err = catalog.Parse(l.chunker); err != nil {
			return usageError{fmt.Errorf("-chunker: %w", err)}
		}
		if l.reader.corpus == "" {
			return misuse("-chunker wants the documents, too: name their folder with -corpus")
		}
	}
	own := []string{unlocated, moved, rejected}
	for _, kind := range l.ignore {
		if kind == malformed {
			return misuse("-ignore names %q, which is never passed over", kind)
		}
		if !slices.Contains(own, kind) {
			l.linter.Ignore = append(l.linter.Ignore, synth.Kind(kind))
		}
	}
	if err := l.linter.Validate(); err != nil {
		return misuse("%s", asFlags.Replace(err.Error()))
	}
	return nil
}

// check returns the findings about one argument. An error means that it could not be
// read.
func (l *linting) check(ctx context.Context, e *env, in *inputs, arg string) ([]finding, error) {
	name, err := in.name(e, arg)
	if err != nil {
		return nil, err
	}
	f, err := l.reader.resolve(in, name)
	if err != nil {
		return nil, err
	}
	r := l.reader.reader
	r.dropUnlocated = true
	p := places{name: name, form: f, in: in}
	c, told, err := r.readTold(in, f, name)
	if err != nil && (f == formGolden || f == formLangSmith) {
		// List what has no place beside what is malformed.
		r.dropUnlocated = false
		_, _, err = r.readTold(in, f, name)
	}
	if err != nil {
		return malformedFindings(p, err)
	}
	findings := told.findings(p)
	if l.formOnly {
		return findings, nil
	}
	doubtful, err := l.doubtful(ctx, e, c, p)
	return append(findings, doubtful...), err
}

// doubtful has the linter look at a collection.
func (l *linting) doubtful(ctx context.Context, e *env, c *collection, p places) ([]finding, error) {
	var list []synth.Finding
	var err error
	switch {
	case c.level == tokenLevel:
		list, err = l.linter.Check(ctx, c.corpus, c.tokens)
	case c.level == chunkLevel && l.parsed != nil:
		list, err = l.linter.CheckChunks(ctx, c.corpus, l.parsed, c.chunks)
	case c.level == chunkLevel:
		fmt.Fprintf(e.stderr, "ragtest lint: note: %s: chunk IDs were not verified: -corpus and -chunker say what by\n", p.name)
	}
	if err != nil {
		return nil, fmt.Errorf("linting %s: %w", p.name, err)
	}
	var lines map[ragtest.QueryID]position
	if len(list) > 0 {
		if lines, err = p.queries(); err != nil {
			return nil, err
		}
	}
	findings := make([]finding, 0, len(list))
	for _, s := range list {
		at := lines[s.Query]
		findings = append(findings, finding{File: p.file(), Line: at.line, Column: at.column, Kind: string(s.Kind), Query: s.Query, Doc: s.Doc, Detail: s.Detail})
	}
	return findings, nil
}

// findings returns what reading told, in order of line.
func (t told) findings(p places) []finding {
	var findings []finding
	add := func(line int, kind string, query ragtest.QueryID, doc spans.DocumentID, detail string) {
		findings = append(findings, finding{File: p.file(), Line: line, Kind: kind, Query: query, Doc: doc, Detail: detail})
	}
	for _, m := range t.truth.Moves {
		add(m.Line, moved, m.Query, m.To.Doc, fmt.Sprintf("the file says %v, its text is at %v", m.From, m.To))
	}
	for _, d := range t.truth.Dropped {
		add(d.Line, unlocated, d.Query, d.Doc, d.Reason)
	}
	for _, a := range t.questions.Rejected {
		add(a.Line, rejected, a.Query, "", fmt.Sprintf("%s: %s", a.Reason, a.Detail))
	}
	slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(a.Line, b.Line) })
	return findings
}

// malformedFindings makes findings of the error of a reader, unless it says that
// something is not there, or cannot be used.
func malformedFindings(p places, err error) ([]finding, error) {
	var path *fs.PathError
	var usage usageError
	var corpus corpusError
	if errors.As(err, &path) || errors.As(err, &usage) || errors.As(err, &corpus) {
		return nil, err
	}
	var findings []finding
	for _, text := range leaves(err) {
		findings = append(findings, p.malformed(text))
	}
	return findings, nil
}

// leaves returns the messages of the errors that err joins, each with what was said
// before all of them.
func leaves(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var texts []string
		for _, e := range joined.Unwrap() {
			texts = append(texts, leaves(e)...)
		}
		return texts
	}
	if inner := errors.Unwrap(err); inner != nil {
		texts := leaves(inner)
		if before, ok := strings.CutSuffix(err.Error(), inner.Error()); ok && len(texts) > 1 {
			for i := range texts {
				texts[i] = before + texts[i]
			}
			return texts
		}
	}
	return []string{err.Error()}
}
