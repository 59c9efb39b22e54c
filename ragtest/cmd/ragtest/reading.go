package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/fixtures/webpage"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/trec"
	"github.com/rageval/rageval/spans"
)

// reader says how to read a collection.
type reader struct {
	corpus   string   // folder of the documents of a golden file
	patterns []string // of the documents; none: what documentPatterns says
	splits   []string // of BEIR

	long          bool // of Natural Questions
	html          string
	dropUnlocated bool
	trustOffsets  bool
}

// The values of -preprocess-html.
const (
	htmlAuto = "auto"
	htmlOn   = "on"
	htmlOff  = "off"
)

// read reads a collection; what is worth knowing about it goes to the ledger.
func (r reader) read(in *inputs, f form, name string, l *ledger) (*collection, error) {
	c, told, err := r.readTold(in, f, name)
	if err != nil {
		return nil, err
	}
	l.truth(told.truth)
	l.naturalQuestions(told.questions)
	l.lose(told.unjudged, "query", "queries", "left out, for they have no judgments in "+cmp.Or(strings.Join(r.splits, ", "), "test"))
	return c, nil
}

// told is what reading tells beside the collection.
type told struct {
	truth     fixtures.LoadReport
	questions fixtures.NaturalQuestionsReport
	unjudged  int // queries of BEIR
}

// readTold reads a collection.
func (r reader) readTold(in *inputs, f form, name string) (*collection, told, error) {
	var t told
	c, err := r.readInto(in, f, name, &t)
	return c, t, err
}

func (r reader) readInto(in *inputs, f form, name string, t *told) (*collection, error) {
	wantsFolder := f == formChroma || f == formBEIR
	if folder := name != stdinName && isFolder(name); wantsFolder != folder && (wantsFolder || f != formGolden) {
		if wantsFolder {
			return nil, misuse("%s: want a folder, for a collection of the form %s is one", name, f)
		}
		return nil, misuse("%s: want a file, for a collection of the form %s is one", name, f)
	}
	switch f {
	case formGolden, formLangSmith:
		return r.readTruth(in, name, t)
	case formSQuAD, formSQuAD1, formSQuADFlat:
		c, err := fixtures.ReadSQuAD(in, name)
		if err != nil {
			return nil, err
		}
		return &collection{level: tokenLevel, corpus: c.Corpus, tokens: slices.Concat(c.Queries, c.Unanswerable)}, nil
	case formNQ:
		return r.readNaturalQuestions(in, name, t)
	case formChroma:
		c, err := fixtures.ReadChroma(in.folder(name))
		if err != nil {
			return nil, err
		}
		return &collection{level: tokenLevel, corpus: c.Corpus, tokens: c.Queries}, nil
	case formBEIR:
		c, err := fixtures.ReadBEIR(in.folder(name), r.splits...)
		if err != nil {
			return nil, err
		}
		all, err := countBEIRQueries(in.folder(name))
		if err != nil {
			return nil, err
		}
		t.unjudged = all - len(c.Queries)
		return &collection{level: documentLevel, corpus: c.Corpus, docs: c.Queries}, nil
	case formTREC:
		return readQrels(in, name)
	}
	return nil, fmt.Errorf("the form %s cannot be read", f)
}

// countBEIRQueries returns how many queries a collection has, with judgments or without.
func countBEIRQueries(fsys fs.FS) (int, error) {
	file, err := fsys.Open("queries.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		file, err = fsys.Open("queries.jsonl.gz")
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	r, err := unpacked(file)
	if err != nil {
		return 0, err
	}
	data, err := io.ReadAll(r)
	n := 0
	for line := range bytes.Lines(trimMark(data)) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n, err
}

// corpusError says that the documents which a golden file names cannot be read: that is
// not its fault.
type corpusError struct{ error }

func (e corpusError) Unwrap() error { return e.error }

// readTruth reads a golden file of either level, or the folder of one.
func (r reader) readTruth(in *inputs, name string, t *told) (*collection, error) {
	patterns := r.patterns
	dir := r.corpus
	if name != stdinName && isFolder(name) {
		file, corpus, err := goldenFiles(name)
		if err != nil {
			return nil, err
		}
		name = file
		if dir == "" {
			if dir = corpus; patterns == nil {
				patterns = []string{"**"}
			}
		}
	}
	truth := fixtures.TruthReader{DropUnlocated: r.dropUnlocated, TrustOffsets: r.trustOffsets}
	var corpus *spans.Corpus
	if dir != "" {
		var err error
		if corpus, err = readCorpus(in, dir, patterns); err != nil {
			return nil, corpusError{err}
		}
	}
	chunks, report, err := truth.Chunk(in, name, corpus)
	if err == nil {
		t.truth = report
		return &collection{level: chunkLevel, corpus: corpus, chunks: chunks}, nil
	}
	if corpus == nil {
		if errors.Is(err, fixtures.ErrWrongLevel) {
			return nil, misuse("%s: its spans can be verified in their documents only: name their folder with -corpus", name)
		}
		return nil, err
	}
	tokens, report, tokenErr := truth.Token(in, name, corpus)
	if errors.Is(tokenErr, fixtures.ErrWrongLevel) {
		return nil, err
	}
	if tokenErr != nil {
		return nil, tokenErr
	}
	t.truth = report
	return &collection{level: tokenLevel, corpus: corpus, tokens: tokens}, nil
}

func (r reader) readNaturalQuestions(in *inputs, name string, t *told) (*collection, error) {
	convert := map[string]func(string) (string, error){
		htmlOn:   webpage.Markdown,
		htmlOff:  func(page string) (string, error) { return page, nil },
		htmlAuto: markdownOfHTML,
	}[r.html]
	c, err := fixtures.NaturalQuestionsReader{Convert: convert, Long: r.long}.Read(in, name)
	if err != nil {
		return nil, err
	}
	t.questions = c.Report
	if c.Corpus.Len() == 0 {
		return nil, fmt.Errorf("%s: no page of it could be converted", name)
	}
	return &collection{level: tokenLevel, corpus: c.Corpus, tokens: slices.Concat(c.Queries, c.Unanswerable)}, nil
}

// markdownOfHTML converts a page, unless it has no tag: then its line ends are its own.
func markdownOfHTML(page string) (string, error) {
	for i, c := range page {
		if c == '<' && i+1 < len(page) && strings.ContainsRune("/!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", rune(page[i+1])) {
			return webpage.Markdown(page)
		}
	}
	return page, nil
}

func readQrels(in *inputs, name string) (*collection, error) {
	judgments, err := fixtures.ReadQrels(in, name)
	if err != nil {
		return nil, err
	}
	return &collection{level: documentLevel, docs: queriesOf(judgments)}, nil
}

// queriesOf returns the queries of judgments, without texts.
func queriesOf(judgments trec.Judgments) []ragtest.DocumentQuery {
	var queries []ragtest.DocumentQuery
	for _, judged := range judgments {
		q := ragtest.DocumentQuery{Query: ragtest.Query{ID: judged.ID}, Relevant: make(map[spans.DocumentID]int)}
		for _, j := range judged.Judged {
			q.Relevant[j.Doc] = j.Grade
		}
		queries = append(queries, q)
	}
	return queries
}

// textExtensions are those of files that hold text as it is.
var textExtensions = []string{".adoc", ".asciidoc", ".htm", ".html", ".markdown", ".md", ".mdx", ".org", ".rst", ".text", ".txt"}

// survey counts the files of a folder by extension, in lower case, those that begin
// with a dot and what is in such folders excepted.
func survey(in *inputs, dir string) (map[string]int, error) {
	counts := make(map[string]int)
	err := fs.WalkDir(in.folder(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(entry.Name(), ".") && path != "."; hidden {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.IsDir() {
			counts[filepath.Ext(entry.Name())]++
		}
		return nil
	})
	return counts, err
}

// documentPatterns returns the patterns that match the text files among those that a
// survey counted, by their extensions.
func documentPatterns(counts map[string]int) []string {
	var patterns []string
	for _, ext := range slices.Sorted(maps.Keys(counts)) {
		if slices.Contains(textExtensions, strings.ToLower(ext)) {
			patterns = append(patterns, "**/*"+ext)
		}
	}
	return patterns
}

// readCorpus reads the documents in a folder that match the patterns, or all text files.
func readCorpus(in *inputs, dir string, patterns []string) (*spans.Corpus, error) {
	if !isFolder(dir) {
		return nil, fmt.Errorf("%s: want a folder of documents: %w", dir, errOr(dir))
	}
	if patterns == nil {
		counts, err := survey(in, dir)
		if err != nil {
			return nil, fmt.Errorf("reading folder %s: %w", dir, err)
		}
		if patterns = documentPatterns(counts); len(patterns) == 0 {
			return nil, fmt.Errorf("folder %s holds no file that ends in %s", dir, strings.Join(textExtensions, ", "))
		}
	}
	corpus, err := fixtures.ReadCorpus(in.folder(dir), patterns...)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", dir, err)
	}
	return corpus, nil
}

// errOr returns why there is no folder at path.
func errOr(path string) error {
	if _, err := os.Stat(path); err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			return cause.Err
		}
		return err
	}
	return errors.New("it is a file")
}
