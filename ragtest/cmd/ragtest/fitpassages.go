package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// fitSQuAD leaves one span an answer and one document a query.
func fitSQuAD(c *collection, f form, l *ledger) (*collection, error) {
	out := *c
	out.tokens = nil
	var answers, queries, noContext, unanswerable int
	asked := make(map[spans.DocumentID]bool)
	for _, q := range c.tokens {
		list := answersOf(q)
		context := spans.DocumentID(q.Metadata[fixtures.ContextKey])
		if len(list) == 0 {
			if f == formSQuAD1 {
				unanswerable++
				continue
			}
			if doc, ok := c.corpus.Document(context); !ok || doc.Text() == "" {
				noContext++
				continue
			}
			asked[context] = true
			out.tokens = append(out.tokens, q)
			continue
		}
		var kept [][]spans.Span
		for _, a := range list {
			if len(a) != 1 || a[0].Len() == 0 || len(kept) > 0 && a[0].Doc != context {
				continue
			}
			context = a[0].Doc
			kept = append(kept, a)
		}
		if len(kept) == 0 {
			queries++
			continue
		}
		answers += len(list) - len(kept)
		asked[context] = true
		out.tokens = append(out.tokens, withAnswers(q, kept))
	}
	l.lose(queries, "query", "queries", "left out, for none of their answers is one span, which is all that SQuAD has room for")
	l.lose(answers, "answer", "answers", "left out, for they are several spans, or none, or in another document than the first")
	l.lose(unanswerable, "query", "queries", "left out, for SQuAD 1.1 has no unanswerable questions")
	l.lose(noContext, "query", "queries", "left out, for nothing is relevant and no document is said to be what they are asked about")
	return &out, out.fitContexts(f, asked, l)
}

// contextID is what IDs look like that were made of the text of a context: reading SQuAD
// makes them again.
var contextID = regexp.MustCompile(`^context_[0-9a-f]{12}$`)

// fitContexts leaves the documents that SQuAD has a place for, and notes what of them it
// has none for. Those in asked are needed.
func (c *collection) fitContexts(f form, asked map[spans.DocumentID]bool, l *ledger) error {
	var docs []*spans.Document
	notAsked, copies, ids := 0, 0, 0
	texts := make(map[string]bool)
	for doc := range c.corpus.All() {
		switch needed := asked[doc.ID()]; {
		case !needed && f == formSQuADFlat:
			notAsked++
			continue
		case !needed && (doc.Text() == "" || texts[doc.Text()]):
			copies++
			continue
		}
		texts[doc.Text()] = true
		if !contextID.MatchString(string(doc.ID())) {
			ids++
		}
		docs = append(docs, doc)
	}
	l.lose(notAsked, "document", "documents", "left out, for the flat form has only those that a query is about")
	l.lose(copies, "document", "documents", "left out, for they are empty, or copies of others that no query is about")
	l.lose(ids, "document", "documents", "without their IDs: SQuAD has none")
	var err error
	if c.corpus, err = spans.NewCorpus(docs...); err != nil {
		return err
	}
	if f == formSQuADFlat {
		c.loseMetadata(l, f)
	} else {
		c.loseMetadata(l, f, "title")
	}
	return nil
}

// fitChroma leaves one answer and one document a query, and names documents ….md.
func fitChroma(c *collection, l *ledger) (*collection, error) {
	out, err := c.renamed(func(id spans.DocumentID) (string, bool) {
		name := string(id)
		if !strings.HasSuffix(name, ".md") {
			name += ".md"
		}
		return name, fs.ValidPath(name)
	}, l)
	if err != nil {
		return nil, err
	}
	var kept []ragtest.TokenQuery
	var alternatives, several, noContext, same, returns, ids int
	seen := make(map[string]bool)
	for _, q := range out.tokens {
		context := spans.DocumentID(q.Metadata[fixtures.ContextKey])
		if len(q.Relevant) > 0 {
			context = q.Relevant[0].Doc
		}
		_, ok := out.corpus.Document(context)
		switch {
		case !ok:
			noContext++
			continue
		case slices.ContainsFunc(q.Relevant, func(s spans.Span) bool { return s.Doc != context }):
			several++
			continue
		case seen[q.Text]:
			same++
			continue
		case strings.Contains(q.Text, "\r"):
			returns++
			continue
		}
		seen[q.Text] = true
		alternatives += len(q.Alternatives)
		if q.ID != "" && q.ID != ragtest.NewQueryID(q.Text) {
			ids++
		}
		kept = append(kept, withAnswers(q, [][]spans.Span{q.Relevant}))
	}
	out.tokens = kept
	l.lose(noContext, "query", "queries", "left out, for nothing is relevant and no document is said to be what they are asked about")
	l.lose(several, "query", "queries", "left out, for their spans are in several documents, and Chroma asks about one")
	l.lose(same, "query", "queries", "left out, for another has the same text")
	l.lose(returns, "query", "queries", "left out, for there is a carriage return in the text")
	l.lose(alternatives, "alternative answer", "alternative answers", "left out: Chroma has room for one answer")
	l.lose(ids, "query", "queries", "without their IDs: Chroma has none")
	out.loseMetadata(l, formChroma)
	return out, nil
}

// renamed returns a token-level collection whose documents have other names, which are
// paths of files. Documents without a name are left out if no query is about them.
func (c *collection) renamed(name func(spans.DocumentID) (string, bool), l *ledger) (*collection, error) {
	needed := make(map[spans.DocumentID]bool)
	for _, q := range c.tokens {
		needed[spans.DocumentID(q.Metadata[fixtures.ContextKey])] = true
		for _, a := range answersOf(q) {
			for _, s := range a {
				needed[s.Doc] = true
			}
		}
	}
	names := make(map[spans.DocumentID]spans.DocumentID)
	owners := make(map[string]spans.DocumentID)
	var docs []*spans.Document
	changed, empty := 0, 0
	for doc := range c.corpus.All() {
		if doc.Text() == "" {
			if needed[doc.ID()] {
				return nil, fmt.Errorf("document %q is empty, and a query is about it: files of a corpus are not empty", doc.ID())
			}
			empty++
			continue
		}
		to, ok := name(doc.ID())
		if !ok {
			return nil, fmt.Errorf("document %q: its ID cannot be the name of a file", doc.ID())
		}
		if other, ok := owners[to]; ok {
			return nil, fmt.Errorf("documents %q and %q: both would be the file %s", other, doc.ID(), to)
		}
		owners[to] = doc.ID()
		renamed, err := spans.NewDocument(spans.DocumentID(to), doc.Text(), doc.Metadata())
		if err != nil {
			return nil, err
		}
		if renamed.ID() != doc.ID() {
			changed++
		}
		names[doc.ID()] = renamed.ID()
		docs = append(docs, renamed)
	}
	if len(docs) == 0 {
		return nil, errors.New("no document is left to be written: all are empty")
	}
	l.lose(empty, "document", "documents", "left out, for they are empty")
	l.note(changed, "document", "documents", "given other IDs, to be names of files: "+extensionsOf(names))
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		return nil, err
	}
	out := &collection{level: c.level, corpus: corpus}
	rename := func(list []spans.Span) []spans.Span {
		list = slices.Clone(list)
		for i := range list {
			list[i].Doc = names[list[i].Doc]
		}
		return list
	}
	for _, q := range c.tokens {
		if to, ok := names[spans.DocumentID(q.Metadata[fixtures.ContextKey])]; ok {
			metadata := make(map[string]string, len(q.Metadata))
			for key, value := range q.Metadata {
				metadata[key] = value
			}
			metadata[fixtures.ContextKey] = string(to)
			q.Metadata = metadata
		}
		q.Relevant = rename(q.Relevant)
		alternatives := q.Alternatives
		q.Alternatives = nil
		for _, a := range alternatives {
			q.Alternatives = append(q.Alternatives, rename(a))
		}
		out.tokens = append(out.tokens, q)
	}
	return out, nil
}

// extensionsOf says what was added to the first name, in their order, that is another.
func extensionsOf(names map[spans.DocumentID]spans.DocumentID) string {
	var first spans.DocumentID
	for from, to := range names {
		if from != to && (first == "" || from < first) {
			first = from
		}
	}
	return fmt.Sprintf("%s is %s", first, names[first])
}

// asFile returns the name of the file that a document is written to: its ID, or that
// and .md, so that it is read where text files are.
func asFile(id spans.DocumentID) (string, bool) {
	name := string(id)
	if !slices.Contains(textExtensions, strings.ToLower(path.Ext(name))) {
		name += ".md"
	}
	return name, fs.ValidPath(name)
}
