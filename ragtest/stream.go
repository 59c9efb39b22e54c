package ragtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"time"

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
	began := time.Now()
	if e.Corpus != nil {
		return nil, errors.New("field Corpus: it is set, but the documents are streamed: want nil")
	}
	plan, sum, err := e.planStream(ctx, docs, func(e TokenLevel) (int, error) {
		run, err := e.engine(nil)
		if err != nil {
			return 0, err
		}
		return run.fetchK, nil
	})
	if err != nil {
		return nil, err
	}
	e.Corpus = plan.given.Corpus
	run, err := e.engine(nil)
	if err != nil {
		return nil, err
	}
	var again streamSum
	part, err := plan.Part(ctx, 0, again.of(docs))
	if err == nil {
		err = again.equals(sum)
	}
	if err == nil {
		err = plan.restore(run, part)
	}
	if err != nil {
		return nil, run.stopped(ctx, err)
	}
	run.began = began
	run.usage.counts = slices.Concat(plan.usage, part.Usage)
	run.usage.mark()
	run.trace.mark()
	return run.repeat(ctx)
}

// PlanStream is [TokenLevel.Plan] for documents that need not fit into memory: e.Corpus
// is nil, and docs is iterated twice. See [TokenLevel.EvaluateStream].
func (e TokenLevel) PlanStream(ctx context.Context, depth int, docs iter.Seq2[*spans.Document, error]) (*TokenPlan, error) {
	if e.Corpus != nil {
		return nil, errors.New("field Corpus: it is set, but the documents are streamed: want nil")
	}
	plan, _, err := e.planStream(ctx, docs, func(TokenLevel) (int, error) { return depth, nil })
	return plan, err
}

// planStream plans once depthOf has said of the evaluation how deep it goes. It returns
// what the stream added up to.
func (e TokenLevel) planStream(ctx context.Context, docs iter.Seq2[*spans.Document, error], depthOf func(TokenLevel) (int, error)) (*TokenPlan, *streamSum, error) {
	s := survey{places: map[string][]spans.Span{}}
	named := e.holding(nil)
	keep := func(number int, doc *spans.Document) {
		s.numbers, s.documents = append(s.numbers, number), append(s.documents, doc)
	}
	var sum, again streamSum
	err := eachDocument(ctx, sum.of(docs), func(number int, doc *spans.Document) error {
		if number == 0 || named[doc.ID()] {
			keep(number, doc)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if s.count = sum.documents; s.count == 0 {
		return nil, nil, errors.New("the stream has no document, want at least one")
	}
	if n := sum.distinct(); n != s.count {
		return nil, nil, fmt.Errorf("the %d documents of the stream have %d different IDs: each must be there once", s.count, n)
	}
	s.fingerprint = sum.fingerprint()
	// Fields are validated against the documents that matter.
	if e.Corpus, err = spans.NewCorpus(s.documents...); err != nil {
		return nil, nil, err
	}
	depth, err := depthOf(e)
	if err != nil {
		return nil, nil, err
	}
	run, err := e.planner(depth)
	if err != nil {
		return nil, nil, err
	}
	texts, err := run.level.(*tokenLevel).statedTexts()
	if err != nil {
		return nil, nil, err
	}
	f := newFinder(texts)
	s.numbers, s.documents = nil, nil
	err = eachDocument(ctx, again.of(docs), func(number int, doc *spans.Document) error {
		found, err := f.in(doc)
		if err != nil {
			return err
		}
		for _, o := range found {
			s.places[o.text] = append(s.places[o.text], o.at)
		}
		if number == 0 || named[doc.ID()] || e.EquivalentText && len(found) > 0 {
			keep(number, doc)
		}
		return nil
	})
	if err == nil {
		err = again.equals(&sum)
	}
	if err != nil {
		return nil, nil, err
	}
	if e.Corpus, err = spans.NewCorpus(s.documents...); err != nil {
		return nil, nil, err
	}
	if run, err = e.planner(depth); err != nil {
		return nil, nil, err
	}
	p, err := e.plan(ctx, run, depth, s)
	return p, &sum, err
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
