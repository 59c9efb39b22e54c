package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// fit returns what of a collection a form can hold, and notes what it cannot.
func fit(c *collection, f form, l *ledger) (*collection, error) {
	if !f.writes(c.level) {
		return nil, misuse("%s", cannot(c.level, f))
	}
	switch f {
	case formSQuAD, formSQuAD1, formSQuADFlat:
		return fitSQuAD(c, f, l)
	case formChroma:
		return fitChroma(c, l)
	case formBEIR, formTREC:
		return fitDocuments(c, f, l)
	}
	return c, nil
}

// cannot says why ground truth of a level is not to be had in a form.
func cannot(l level, f form) string {
	switch {
	case f == formNQ:
		return "the form nq cannot be written: its answers are places in web pages"
	case l == chunkLevel:
		return fmt.Sprintf("the ground truth is chunk-level, which the form %s has no place for: chunk IDs are bound to a chunker. It can be written as %s or %s", f, formGolden, formLangSmith)
	default:
		return fmt.Sprintf("the ground truth says which documents are relevant, and the form %s wants the passages. It can be written as %s or %s", f, formBEIR, formTREC)
	}
}

// loseMetadata notes the metadata of queries that are not written, and of documents but
// for the keys that are.
func (c *collection) loseMetadata(l *ledger, f form, docKeys ...string) {
	n := 0
	for _, q := range c.tokens {
		if hasOther(q.Metadata, fixtures.ContextKey) {
			n++
		}
	}
	for _, q := range c.docs {
		if hasOther(q.Metadata, fixtures.ContextKey) {
			n++
		}
	}
	l.lose(n, "query", "queries", fmt.Sprintf("without their metadata, for which the form %s has no place", f))
	n = 0
	if c.corpus != nil {
		for doc := range c.corpus.All() {
			if hasOther(doc.Metadata(), docKeys...) {
				n++
			}
		}
	}
	l.lose(n, "document", "documents", fmt.Sprintf("without metadata such as titles, for which the form %s has no place", f))
}

// hasOther reports whether metadata have other keys than those.
func hasOther(metadata map[string]string, keys ...string) bool {
	for key := range metadata {
		if !slices.Contains(keys, key) {
			return true
		}
	}
	return false
}

// fitDocuments leaves which documents are relevant, under IDs that the form can hold.
func fitDocuments(c *collection, f form, l *ledger) (*collection, error) {
	out := &collection{level: documentLevel, corpus: c.corpus, docs: c.docs}
	if c.level == tokenLevel {
		var places, nothing, spread int
		for _, q := range c.tokens {
			d := ragtest.DocumentQuery{Query: q.Query, Relevant: make(map[spans.DocumentID]int)}
			differ := false
			for i, a := range answersOf(q) {
				places += len(a)
				for _, s := range a {
					differ = differ || i > 0 && d.Relevant[s.Doc] == 0
					d.Relevant[s.Doc] = 1
				}
			}
			if len(d.Relevant) == 0 {
				nothing++
				continue
			}
			if differ {
				spread++
			}
			out.docs = append(out.docs, d)
		}
		l.lose(places, "span", "spans", fmt.Sprintf("reduced to the document that it is in: the form %s knows no places in documents", f))
		l.lose(nothing, "query", "queries", "left out, for nothing is relevant to them")
		l.lose(spread, "query", "queries", "with alternatives in several documents, all of which now count as relevant")
	}
	good := func(id string) bool {
		if f == formTREC {
			return id != "" && !strings.ContainsFunc(id, unicode.IsSpace)
		}
		return id != "" && !strings.ContainsAny(id, "\t\r\n") && strings.TrimSpace(id) == id
	}
	var kept []ragtest.DocumentQuery
	var badID, badDocs int
	for _, q := range out.docs {
		if q.ID == "" {
			q.ID = ragtest.NewQueryID(q.Text)
		}
		if !good(string(q.ID)) || f == formTREC && q.ID[0] == '#' {
			badID++
			continue
		}
		relevant := make(map[spans.DocumentID]int, len(q.Relevant))
		for id, grade := range q.Relevant {
			if good(string(id)) {
				relevant[id] = grade
			}
		}
		badDocs += len(q.Relevant) - len(relevant)
		if q.Relevant = relevant; len(relevant) == 0 {
			badID++
			continue
		}
		kept = append(kept, q)
	}
	out.docs = kept
	l.lose(badDocs, "judgment", "judgments", fmt.Sprintf("left out, for the form %s has no place for white space in a document's ID", f))
	l.lose(badID, "query", "queries", fmt.Sprintf("left out, for the form %s has no place for white space in their IDs or those of their documents", f))
	if f == formTREC {
		withText, documents := 0, 0
		for _, q := range kept {
			if q.Text != "" {
				withText++
			}
		}
		if c.corpus != nil {
			documents = c.corpus.Len()
		}
		l.lose(withText, "query", "queries", "without their texts: the form trec has IDs only")
		l.lose(documents, "document", "documents", "left out: the form trec has their IDs only")
		return out, nil
	}
	if out.corpus == nil || slices.ContainsFunc(kept, func(q ragtest.DocumentQuery) bool { return q.Text == "" }) {
		return nil, misuse("the form %s wants the texts of queries and documents, and judgments have only their IDs", f)
	}
	return fitBEIRCorpus(out, good, l)
}

// fitBEIRCorpus leaves out documents whose ID is not good, and titles that are not part
// of their document's text.
func fitBEIRCorpus(c *collection, good func(string) bool, l *ledger) (*collection, error) {
	var docs []*spans.Document
	bad, titles := 0, 0
	for doc := range c.corpus.All() {
		if !good(string(doc.ID())) {
			bad++
			continue
		}
		if title := doc.Metadata()["title"]; title != "" && doc.Text() != title && !strings.HasPrefix(doc.Text(), title+"\n") {
			titles++
		}
		docs = append(docs, doc)
	}
	l.lose(bad, "document", "documents", "left out, for the form beir has no place for white space in their IDs")
	l.lose(titles, "document", "documents", "without their titles: the form beir has them in the text")
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		return nil, err
	}
	out := &collection{level: documentLevel, corpus: corpus, docs: c.docs}
	out.loseMetadata(l, formBEIR, "title")
	return out, nil
}
