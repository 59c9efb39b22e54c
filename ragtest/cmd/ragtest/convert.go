package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/rageval/rageval/fixtures"
)

var convertCommand = command{
	name:    "convert",
	summary: "convert between forms of data sets",
	usage:   "[flags] -to FORM IN OUT",
	help:    convertHelp,
	define: func(flags *flag.FlagSet) runFunc {
		c := conversion{}
		c.reader.define(flags)
		flags.BoolVar(&c.reader.dropUnlocated, "drop-unlocated", false, "leave out spans of golden files whose text has no place in the documents")
		flags.StringVar(&c.to, "to", "", "`form` of OUT; required")
		flags.IntVar(&c.sample.N, "sample", 0, "write only a sample of `n` queries; 0: all")
		flags.Uint64Var(&c.sample.Seed, "seed", 42, "seed of the sample: the same `seed` chooses the same queries")
		flags.IntVar(&c.least, "min-answer-length", 0, "leave out answers of fewer than `n` characters, and queries that lose all answers")
		flags.BoolVar(&c.strict, "strict", false, "write nothing, and exit with 1, if anything would be lost")
		return c.run
	},
}

const convertHelp = `
IN is a file or, for the forms golden, chroma and beir, a folder; OUT likewise. - is
standard input or output where one file suffices. Files may be compressed with gzip;
they are written so if the name ends in .gz. A file that exists is replaced, when all
is written; a folder must be new or empty.

Forms:

	golden      token-level or chunk-level golden file (.jsonl), whose documents
	            -corpus names, or a folder of golden.jsonl and corpus/
	langsmith   the same as examples of a LangSmith data set: no header line
	squad       SQuAD 2.0; squad1: SQuAD 1.1, without unanswerable questions
	squad-flat  {"examples":[{"question":…,"context":…,"answer":…}]}
	nq          Natural Questions, full or simplified; is read only
	chroma      folder of questions_df.csv and corpora/, as Chroma's evaluation has it
	beir        folder of corpus.jsonl, queries.jsonl and qrels/: document level
	trec        judgments (qrels) of TREC: document level, IDs only

What can be converted to what:

	                                     golden     squad, squad1,        beir  trec
	                                     langsmith  squad-flat, chroma
	golden, langsmith, squad, squad1,
	squad-flat, nq, chroma               yes        yes                   yes   yes
	golden, langsmith at chunk level     yes        no                    no    no
	beir                                 no         no                    yes   yes
	trec                                 no         no                    no    yes

What the form of OUT cannot hold is counted on standard error, as "lost: …"; so is
what was left out on reading. With -strict, it is an error, unless you asked for it, as
with -min-answer-length. What is merely worth knowing is a "note: …".

Several answers of one question are alternatives. Offsets are verified on reading and
are characters in all forms that are written. The same input is converted to the same
bytes on every run.

Examples:

	ragtest convert -to golden dev-v2.0.json testdata/squad
	ragtest convert -to squad-flat -sample 300 -seed 42 -min-answer-length 8 nq-dev.jsonl.gz nq.json
	ragtest convert -to langsmith -corpus docs golden.jsonl - | head -1
	ragtest convert -to trec beir/scifact qrels.txt
	curl -s https://example.com/dev-v1.1.json | ragtest convert -to beir - squad-beir
`

// conversion is what ragtest convert is told to do.
type conversion struct {
	reader readerFlags
	to     string
	sample fixtures.Sample
	least  int
	strict bool
}

// readerFlags are the flags that say how to read a collection.
type readerFlags struct {
	reader
	from string
}

func (r *readerFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&r.from, "from", "", "`form` of what is read; none: it is found out")
	flags.StringVar(&r.corpus, "corpus", "", "`folder` of the documents that a golden file names")
	flags.Func("pattern", "`pattern` of the documents in the corpus, such as **/*.txt; may be repeated; none: all text files", func(s string) error {
		r.patterns = append(r.patterns, s)
		return nil
	})
	flags.Func("split", "`split` of BEIR, whose judgments are read; may be repeated; none: test", func(s string) error {
		r.splits = append(r.splits, s)
		return nil
	})
	flags.BoolVar(&r.long, "long", false, "take the long answers of Natural Questions")
	flags.StringVar(&r.html, "preprocess-html", htmlAuto, "`when` to convert pages of Natural Questions to Markdown: on, off, or auto, which is if they have tags")
	flags.BoolVar(&r.trustOffsets, "trust-offsets", false, "accept spans of golden files that have offsets and no text")
}

// resolve checks the flags against each other and returns the form of name.
func (r *readerFlags) resolve(in *inputs, name string) (form, error) {
	switch r.html {
	case htmlAuto, htmlOn, htmlOff:
	default:
		return "", misuse("-preprocess-html is %q: want %s, %s or %s", r.html, htmlAuto, htmlOn, htmlOff)
	}
	var f form
	var err error
	if r.from != "" {
		f, err = parseForm("from", r.from)
	} else {
		f, err = detect(in, name)
		var unknown usageError
		if errors.As(err, &unknown) && r.corpus != "" {
			f, err = formGolden, nil // only golden files want a corpus
		}
	}
	if err != nil {
		return "", err
	}
	truth := f == formGolden || f == formLangSmith
	for _, flag := range []struct {
		name string
		set  bool
		fits bool
	}{
		{"corpus", r.corpus != "", truth},
		{"pattern", r.patterns != nil, truth},
		{"drop-unlocated", r.dropUnlocated, truth},
		{"trust-offsets", r.trustOffsets, truth},
		{"split", r.splits != nil, f == formBEIR},
		{"long", r.long, f == formNQ},
		{"preprocess-html", r.html != htmlAuto, f == formNQ},
	} {
		if flag.set && !flag.fits {
			return "", misuse("-%s means nothing for the form %s, which %s has", flag.name, f, name)
		}
	}
	return f, nil
}

func (c *conversion) run(ctx context.Context, e *env, args []string) error {
	if len(args) != 2 {
		return misuse("found %s, want two: IN and OUT", counted(len(args), "argument", "arguments"))
	}
	if c.to == "" {
		return misuse("-to is missing: want the form of OUT")
	}
	to, err := parseForm("to", c.to)
	if err != nil {
		return err
	}
	switch {
	case to == formNQ:
		return misuse("%s", cannot(tokenLevel, to))
	case c.sample.N < 0:
		return misuse("-sample is %d: want a number of queries, or 0 for all", c.sample.N)
	case c.least < 0:
		return misuse("-min-answer-length is %d: want a number of characters", c.least)
	case (to == formBEIR || to == formChroma) && args[1] == "-":
		return misuse("the form %s is a folder, which cannot go to standard output", to)
	case (to == formBEIR || to == formChroma) && strings.HasSuffix(args[1], ".gz"):
		return misuse("the form %s is a folder, which cannot be compressed: %s", to, args[1])
	}
	in := &inputs{ctx: ctx}
	name, err := in.name(e, args[0])
	if err != nil {
		return err
	}
	from, err := c.reader.resolve(in, name)
	if err != nil {
		return err
	}
	var l ledger
	collected, err := c.reader.read(in, from, name, &l)
	if err != nil {
		return err
	}
	if collected.level != tokenLevel && c.least > 0 {
		return misuse("-min-answer-length wants token-level ground truth, and that of %s is %s-level", name, collected.level)
	}
	if to == formGolden && collected.level == chunkLevel && !isGoldenFile(args[1]) {
		return misuse("OUT is %s: want a name that ends in .jsonl or .jsonl.gz, or -, for chunk-level ground truth", args[1])
	}
	collected.dropShort(c.least, &l)
	if err := c.draw(collected, to, &l); err != nil {
		return err
	}
	fitted, err := fit(collected, to, &l)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.write(e, fitted, to, args[1], &l)
}

// draw leaves a sample of those queries that the form of OUT has a place for.
func (c *conversion) draw(collected *collection, to form, l *ledger) error {
	if c.sample.N == 0 {
		return nil
	}
	fitting, err := fit(collected, to, new(ledger))
	if err != nil {
		return err
	}
	l.lose(collected.size()-fitting.size(), "query", "queries", fmt.Sprintf("left out before sampling, for the form %s has no place for them: convert without -sample to learn why", to))
	before := fitting.size()
	fitting.sample(c.sample)
	collected.keep(fitting.ids())
	l.note(collected.size(), "query", "queries", fmt.Sprintf("sampled of %d, with the seed %d", before, c.sample.Seed))
	return nil
}

// write writes the collection and then what is to know about it.
func (c *conversion) write(e *env, fitted *collection, to form, path string, l *ledger) error {
	const prefix = "ragtest convert: "
	output, err := fitted.output(to, path, l)
	if err != nil {
		l.print(e.stderr, prefix)
		return err
	}
	if c.strict && l.lost {
		l.print(e.stderr, prefix)
		fmt.Fprintf(e.stderr, "%snothing is written, for -strict allows no loss\n", prefix)
		return errFound
	}
	err = output(e)
	l.print(e.stderr, prefix)
	return err
}
