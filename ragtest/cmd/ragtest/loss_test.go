package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// randomCollection makes a small token-level collection with whatever forms have no place
// for, each now and then.
func randomCollection(r *rand.Rand) *collection {
	seldom := func() bool { return r.IntN(8) == 0 }
	var docs []*spans.Document
	ids := []string{"a.md", "sub/b.md", "context_1", "c d.txt", "e"}
	if r.IntN(2) == 0 {
		ids = []string{"context_000000000001", "context_000000000002", "context_000000000003"} // as SQuAD names them
	}
	for _, id := range ids[:1+r.IntN(len(ids))] {
		text := strings.Repeat("é word, ", 1+r.IntN(3)) + id
		switch {
		case seldom():
			text = ""
		case seldom():
			text = "copy"
		case seldom():
			text = "T\n" + text
		}
		metadata := map[string]string{}
		if seldom() {
			metadata["title"] = "T"
		}
		if seldom() {
			metadata["url"] = "u"
		}
		doc, err := spans.NewDocument(spans.DocumentID(id), text, metadata)
		if err != nil {
			panic(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		panic(err)
	}
	answer := func() (list []spans.Span) {
		for range 1 + r.IntN(8)/7 {
			doc := docs[r.IntN(len(docs))]
			if doc.Len() == 0 {
				doc = docs[0]
			}
			start := r.IntN(doc.Len() + 1)
			list = append(list, spans.Span{Doc: doc.ID(), Start: start, End: start + r.IntN(doc.Len()-start+1)})
		}
		return list
	}
	c := &collection{level: tokenLevel, corpus: corpus}
	for i := range 1 + r.IntN(4) {
		q := ragtest.TokenQuery{Query: ragtest.Query{Text: fmt.Sprintf("question %d?", r.IntN(12)), Metadata: map[string]string{}}}
		switch {
		case seldom():
			q.ID = ragtest.QueryID(fmt.Sprintf("#%d", i))
		case seldom():
			q.ID = ragtest.QueryID(fmt.Sprintf("id %d", i))
		case seldom():
			q.Text += "\r\n?"
			fallthrough
		case seldom():
			q.ID = ragtest.QueryID(fmt.Sprintf("q%d", i))
		default:
			q.ID = ragtest.NewQueryID(q.Text)
		}
		if slices.ContainsFunc(c.tokens, func(other ragtest.TokenQuery) bool { return other.ID == q.ID }) {
			continue
		}
		if seldom() {
			q.Metadata["difficulty"] = "hard"
		}
		if r.IntN(2) == 0 {
			q.Metadata[fixtures.ContextKey] = string(docs[r.IntN(len(docs))].ID())
		}
		if !seldom() {
			q.Relevant = answer()
			for seldom() {
				q.Alternatives = append(q.Alternatives, answer())
			}
		}
		c.tokens = append(c.tokens, q)
	}
	return c
}

// survivors returns what of a collection must survive where nothing is said to be lost:
// all but the names of documents, of which the queries' context is one, the order of
// queries and answers that repeat another.
func survivors(c *collection) []string {
	var lines []string
	text := func(id spans.DocumentID) string {
		if c.corpus == nil {
			return string(id)
		}
		doc, _ := c.corpus.Document(id)
		return doc.Text()
	}
	for _, q := range c.tokens {
		metadata := maps.Clone(q.Metadata)
		delete(metadata, fixtures.ContextKey)
		line := fmt.Sprintf("query %q %q %v", q.ID, q.Text, metadata)
		var answers []string
		for _, a := range answersOf(q) {
			answer := ""
			for _, s := range a {
				answer += fmt.Sprintf(" %q[%d:%d]", text(s.Doc), s.Start, s.End)
			}
			if !slices.Contains(answers, answer) {
				answers = append(answers, answer)
			}
		}
		lines = append(lines, line+strings.Join(answers, " or"))
	}
	for _, q := range c.docs {
		var judged []string
		for id, grade := range q.Relevant {
			judged = append(judged, fmt.Sprintf("%q %d", id, grade))
		}
		slices.Sort(judged)
		lines = append(lines, fmt.Sprintf("query %q %q %v", q.ID, q.Text, judged))
	}
	if c.corpus != nil {
		texts := make(map[string]bool)
		for doc := range c.corpus.All() {
			texts[fmt.Sprintf("document %q %v", doc.Text(), doc.Metadata())] = true
		}
		lines = append(lines, slices.Collect(maps.Keys(texts))...)
	}
	slices.Sort(lines)
	return lines
}

// TestLossesAreTold: what is converted can be written, unless that is refused for a reason
// that is told, and if no loss is told, what is read back is what there was.
func TestLossesAreTold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lossless := make(map[form]int)
	in := &inputs{ctx: t.Context()}
	dir := t.TempDir()
	for i := range 60 {
		c := randomCollection(r)
		for _, f := range []form{formGolden, formLangSmith, formSQuAD, formSQuAD1, formSQuADFlat, formChroma, formBEIR, formTREC} {
			path := filepath.Join(dir, fmt.Sprintf("%d-%s", i, f))
			if f == formLangSmith {
				path += ".jsonl"
			}
			var l ledger
			out, err := fit(c, f, &l)
			var write func(*env) error
			if err == nil {
				write, err = out.output(f, path, &l)
			}
			if err == nil {
				err = write(&env{stdout: io.Discard, stderr: io.Discard})
			}
			if err != nil {
				if !isTold(err) {
					t.Fatalf("writing %s: %v\n%q", f, err, survivors(c))
				}
				continue
			}
			if f == formLangSmith {
				continue // has no documents: TestScripts compares it
			}
			again, _, err := reader{html: htmlAuto}.readTold(in, f, path)
			if err != nil {
				t.Fatalf("reading %s: %v\n%q", f, err, survivors(c))
			}
			if l.lost {
				continue
			}
			lossless[f]++
			if diff := cmp.Diff(survivors(c), survivors(again)); diff != "" {
				t.Fatalf("form %s, notes %q (-was +is)\n%s", f, l.notes, diff)
			}
		}
	}
	for _, f := range []form{formGolden, formSQuAD, formSQuAD1, formSQuADFlat, formChroma} {
		if lossless[f] == 0 {
			t.Errorf("form %s: every conversion lost something: the test checks little", f)
		}
	}
	if lossless[formBEIR]+lossless[formTREC] > 0 {
		t.Errorf("documents as ground truth lost nothing: %v", lossless)
	}
	t.Log(lossless)
}

// isTold reports whether an error says what a user can do about a collection that a form
// has no place for.
func isTold(err error) bool {
	return slices.ContainsFunc([]string{"no query is left to be written", "is empty, and a query is about it", "no document is left to be written"}, func(s string) bool {
		return strings.Contains(err.Error(), s)
	})
}
