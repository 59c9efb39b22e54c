package ragtest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/fingerprint"
	"github.com/rageval/rageval/spans"
)

// EvaluateStream is [TokenLevel.Evaluate] for documents that, with their vectors, need
// not fit into memory: e.Corpus is nil, and docs yields the documents in the order of the
// corpus. The result equals that of Evaluate for the corpus of the same documents, byte
// for byte, with these exceptions:
//
//   - CorpusFingerprint is that of [spans.Corpus.Fingerprint] if the documents come in
//     ascending order of ID, as file systems list them; it then costs no memory. Of other
//     orders it is "unordered-" and a hash that does not depend on the order.
//   - Diagnostics.Usage counts texts again that are embedded again: a text is embedded
//     once for each 16,384 chunks in a row that have it, and once more if it holds
//     relevant text. An embedding cache avoids that.
//
// docs is iterated three times, and must yield the same documents each time: first for
// the documents that the ground truth names, then for places that have their texts, and
// then to chunk, embed and rank. An error that it yields ends the evaluation.
//
// In memory are the documents that hold relevant text; 16,384 chunks with their vectors
// at a time, as [MemoryStore] and the embedder hold them; a few MB of documents; FetchK
// chunks for each query; 20 to 40 bytes for each distinct text of a chunk, and as much
// for each document, to count them. With EquivalentText, all documents that have the text
// count as holding relevant text. Store must be nil, and Retriever too.
func (e TokenLevel) EvaluateStream(ctx context.Context, docs iter.Seq2[*spans.Document, error]) (*Result, error) {
	s, err := e.openStream(ctx, docs, nil)
	if err != nil {
		return nil, err
	}
	run, err := s.engine(nil)
	if err != nil {
		return nil, err
	}
	return run.evaluate(ctx)
}

// RunTokenLevelStream evaluates e as [TokenLevel.EvaluateStream] does, within a test as
// [RunTokenLevel] has it. The documents that its Baseline names stay in memory, too. In a
// benchmark it fails: there is no index that could be searched again and again.
func RunTokenLevelStream(tb testing.TB, e TokenLevel, docs iter.Seq2[*spans.Document, error], thresholds ...TokenThreshold) *Result {
	tb.Helper()
	if _, ok := tb.(bencher); ok {
		tb.Fatal("ragtest: RunTokenLevelStream keeps no index that a benchmark could search: call it in a test")
		return nil
	}
	ctx, cancel := withDeadline(tb)
	defer cancel()
	name := e.Name
	e.Name = cmp.Or(e.Name, tb.Name())
	s, err := e.openStream(ctx, docs, baselineDocuments(tb, e.Baseline))
	g := gate{path: e.Baseline, margin: e.Margin, budgets: e.Budgets, tokens: e.Tokens, severities: e.Severities}
	if err == nil {
		g.corpus, g.streamed = s.given.Corpus, s.sum.fingerprint()
	}
	return run(tb, name, g, e.Reporters, thresholds, func() (*engine[chunkers.PositionAwareChunk], error) {
		if err != nil {
			return nil, err
		}
		return s.engine(thresholds)
	})
}

// PlanStream is [TokenLevel.Plan] for documents that need not fit into memory: e.Corpus
// is nil, and docs is iterated twice. See [TokenLevel.EvaluateStream].
func (e TokenLevel) PlanStream(ctx context.Context, depth int, docs iter.Seq2[*spans.Document, error]) (*TokenPlan, error) {
	s, err := e.openStream(ctx, docs, nil)
	if err != nil {
		return nil, err
	}
	return s.plan(ctx, depth, nil)
}

// documentStream is an evaluation of documents that were read once.
type documentStream struct {
	given TokenLevel // its Corpus has the documents that the ground truth names, or the first
	docs  iter.Seq2[*spans.Document, error]
	named map[spans.DocumentID]bool
	sum   streamSum
}

// unreadError says that a stream could not be read.
type unreadError struct{ error }

func (e unreadError) Unwrap() error { return e.error }

// openStream reads the documents for those that the ground truth names, and others that
// are to be kept.
func (e TokenLevel) openStream(ctx context.Context, docs iter.Seq2[*spans.Document, error], others []spans.DocumentID) (*documentStream, error) {
	if e.Corpus != nil {
		return nil, errors.New("field Corpus: it is set, but the documents are streamed: want nil")
	}
	s := &documentStream{given: e, docs: docs, named: e.holding(nil), sum: streamSum{countsIDs: true}}
	for _, id := range others {
		s.named[id] = true
	}
	var kept []*spans.Document
	err := eachDocument(ctx, s.sum.of(docs), func(number int, doc *spans.Document) error {
		if number == 0 || s.named[doc.ID()] { // a corpus has at least one
			kept = append(kept, doc)
		}
		return nil
	})
	if err != nil {
		return nil, unreadError{err}
	}
	if s.sum.documents == 0 {
		return nil, errors.New("the stream has no document, want at least one")
	}
	if n := s.sum.distinct(); n != s.sum.documents {
		return nil, fmt.Errorf("the %d documents of the stream have %d different IDs: each must be there once", s.sum.documents, n)
	}
	s.given.Corpus, err = spans.NewCorpus(kept...)
	return s, err
}

// engine returns the engine that reads the stream when it prepares.
func (s *documentStream) engine(thresholds []TokenThreshold) (*engine[chunkers.PositionAwareChunk], error) {
	run, err := s.given.engine(thresholds)
	if err != nil {
		return nil, err
	}
	if _, err := s.given.planner(run.fetchK); err != nil {
		return nil, err
	}
	run.takeWhole = func(ctx context.Context) error {
		run.trace.expect("chunk", s.sum.documents)
		plan, err := s.plan(ctx, run.fetchK, run.trace)
		if err != nil {
			return err
		}
		var again streamSum
		part, err := plan.part(ctx, 0, again.of(s.docs), run.trace)
		if err != nil {
			return err
		}
		if err := again.equals(&s.sum); err != nil {
			return err
		}
		run.usage.counts = slices.Concat(plan.usage, part.Usage)
		run.corpus, run.level.(*tokenLevel).corpus = plan.given.Corpus, plan.given.Corpus
		return plan.restore(run, part)
	}
	return run, nil
}

// plan reads the documents for places that have the texts of the ground truth. A nil
// trace is of no consequence.
func (s *documentStream) plan(ctx context.Context, depth int, trace *tracer) (*TokenPlan, error) {
	run, err := s.given.planner(depth)
	if err != nil {
		return nil, err
	}
	texts, err := run.level.(*tokenLevel).statedTexts()
	if err != nil {
		return nil, err
	}
	f := newFinder(texts)
	found := survey{places: map[string][]spans.Span{}, count: s.sum.documents, fingerprint: s.sum.fingerprint()}
	var again streamSum
	err = eachDocument(ctx, again.of(s.docs), func(number int, doc *spans.Document) error {
		list, err := f.in(doc)
		if err != nil {
			return err
		}
		for _, o := range list {
			found.places[o.text] = append(found.places[o.text], o.at)
		}
		if number == 0 || s.named[doc.ID()] || s.given.EquivalentText && len(list) > 0 {
			found.numbers, found.documents = append(found.numbers, number), append(found.documents, doc)
		}
		return nil
	})
	if err == nil {
		err = again.equals(&s.sum)
	}
	if err != nil {
		return nil, err
	}
	e := s.given
	if e.Corpus, err = spans.NewCorpus(found.documents...); err != nil {
		return nil, err
	}
	if run, err = e.planner(depth); err != nil {
		return nil, err
	}
	run.trace = trace
	return e.plan(ctx, run, depth, found)
}

// eachDocument calls f for each document with its number.
func eachDocument(ctx context.Context, docs iter.Seq2[*spans.Document, error], f func(number int, doc *spans.Document) error) error {
	number := 0
	for doc, err := range docs {
		if err == nil && doc == nil {
			err = errors.New("the document is nil")
		}
		if err != nil {
			return fmt.Errorf("reading document number %d: %w", number, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f(number, doc); err != nil {
			return fmt.Errorf("document %s: %w", doc.ID(), err)
		}
		number++
	}
	return nil
}

// streamSum is what the documents of a stream add up to. Distinct documents are counted
// by the hashes of their IDs.
type streamSum struct {
	countsIDs bool // whether distinct is known in the end
	documents int
	last      spans.DocumentID
	unordered bool
	ordered   fingerprint.Hash
	sum       big.Int  // of the documents' own hashes
	ids       []string // that are not in sets yet
	sets      hashRuns
}

// of adds up the documents of a stream as they are read.
func (s *streamSum) of(docs iter.Seq2[*spans.Document, error]) iter.Seq2[*spans.Document, error] {
	return func(yield func(*spans.Document, error) bool) {
		for doc, err := range docs {
			if err == nil && doc != nil {
				s.add(doc)
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

func (s *streamSum) add(doc *spans.Document) {
	s.unordered = s.unordered || s.documents > 0 && doc.ID() <= s.last
	s.documents, s.last = s.documents+1, doc.ID()
	if !s.unordered {
		s.ordered.Add(string(doc.ID()), doc.Text())
	}
	var own fingerprint.Hash
	own.Add(string(doc.ID()), doc.Text())
	var n big.Int
	s.sum.Add(&s.sum, n.SetBytes(own.Sum()))
	if !s.countsIDs {
		return
	}
	if s.ids = append(s.ids, string(doc.ID())); len(s.ids) == 1<<14 {
		s.collect()
	}
}

func (s *streamSum) collect() {
	// Sets with entries always join.
	_ = s.sets.add(hashSetOf(len(s.ids), func(i int) string { return s.ids[i] }))
	s.ids = s.ids[:0]
}

// distinct returns the number of different IDs, and forgets them.
func (s *streamSum) distinct() int {
	s.collect()
	n := s.sets.set().Texts
	s.sets = hashRuns{}
	return n
}

func (s *streamSum) fingerprint() string {
	if !s.unordered {
		return s.ordered.String()
	}
	sum := sha256.Sum256(s.sum.Bytes())
	return "unordered-" + hex.EncodeToString(sum[:])
}

// equals returns an error unless both streams had the same documents.
func (s *streamSum) equals(first *streamSum) error {
	if s.documents == first.documents && s.fingerprint() == first.fingerprint() {
		return nil
	}
	return fmt.Errorf("the stream had %d documents with the fingerprint %s at first, and then %d with %s: every iteration must yield the same",
		first.documents, first.fingerprint(), s.documents, s.fingerprint())
}
