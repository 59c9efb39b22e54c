// Package percontext evaluates retrieval within known documents: each question
// searches only the chunks of its own context, and a hit is a chunk that contains an
// answer as a substring.
//
// That is how some tools compare chunkers on SQuAD and Natural Questions (rag-chunk-eval
// among them), so that figures can be compared with theirs. It is an easy task: a
// paragraph makes few chunks, and whichever is retrieved tends to hold the answer. Where
// nearly every configuration reaches 1, the measure cannot tell them apart, which
// [Result.Warnings] and [Saturation] say. To compare chunkers, prefer
// [ragtest.TokenLevel], over all documents at once.
package percontext

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Question is a question about one document.
type Question struct {
	ragtest.Query
	Context spans.DocumentID
	Answers []string // alternatives
}

// FromSpans returns the questions of queries whose relevant spans are in one document:
// the answers are the texts of the spans in answers, or, where answers has none for a
// query, of those that are relevant or in alternatives. Queries of fixtures.SQuAD need
// no answers: pass nil. Queries without relevant spans are left out; several spans of
// one query are alternatives.
func FromSpans(corpus *spans.Corpus, queries []ragtest.TokenQuery, answers map[ragtest.QueryID][]spans.Span) ([]Question, error) {
	if corpus == nil {
		return nil, errors.New("making questions: the corpus is nil")
	}
	var questions []Question
	for _, q := range queries {
		list := answers[q.ID]
		if len(list) == 0 {
			list = slices.Concat(append([][]spans.Span{q.Relevant}, q.Alternatives...)...)
		}
		if len(list) == 0 {
			continue
		}
		question := Question{Query: q.Query, Context: list[0].Doc}
		for _, s := range list {
			doc, ok := corpus.Document(s.Doc)
			if !ok {
				return nil, fmt.Errorf("making questions: query %s: document %s is not in the corpus", q.ID, s.Doc)
			}
			if s.Doc != question.Context {
				return nil, fmt.Errorf("making questions: query %s: the spans %v and %v are in two documents", q.ID, list[0], s)
			}
			text, err := doc.Slice(s)
			if err != nil {
				return nil, fmt.Errorf("making questions: query %s: %w", q.ID, err)
			}
			if !slices.Contains(question.Answers, text) {
				question.Answers = append(question.Answers, text)
			}
		}
		questions = append(questions, question)
	}
	return questions, nil
}

// Evaluation is an evaluation within contexts. Corpus, Questions, Chunker and either
// Embedder or Retriever are required.
type Evaluation struct {
	Name      string // "": the chunker's
	Corpus    *spans.Corpus
	Questions []Question // at least one; their IDs differ
	Chunker   chunkers.Chunker

	// Embedder ranks chunks by cosine similarity, ties by order. Each distinct text is
	// embedded once.
	Embedder ragtest.Embedder
	// Retriever makes a retriever for each context; it is called from several
	// goroutines at once.
	Retriever func() ragtest.Retriever[chunkers.Chunk]

	Ks []int // cut-offs of the hit rate; nil: 1, 3, 5

	// MinAnswerLength is how many characters an answer must have, for short ones are
	// found by chance: "may", "1998". Questions without an answer of that length are
	// left out; 0: 8.
	MinAnswerLength int
}

const (
	defaultMinAnswerLength = 8
	embedBatch             = 256
	callsAtOnce            = 4
)

// contextOf is a document with the questions about it.
type contextOf struct {
	doc       *spans.Document
	questions []int // of asked
	chunks    []chunkers.Chunk
}

// Evaluate runs the evaluation. Its result is the same at every GOMAXPROCS.
func (e Evaluation) Evaluate(ctx context.Context) (*Result, error) {
	asked, contexts, err := e.settle()
	if err != nil {
		return nil, err
	}
	r := &Result{Name: e.Name, Skipped: len(e.Questions) - len(asked), Contexts: len(contexts), Questions: make([]QuestionResult, len(asked))}
	if r.Name == "" {
		r.Name = fmt.Sprint(e.Chunker)
	}
	if err := e.chunk(ctx, contexts); err != nil {
		return nil, err
	}
	vectors, err := e.embed(ctx, asked, contexts)
	if err != nil {
		return nil, err
	}
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(contexts), func(ctx context.Context, i int) error {
		c := contexts[i]
		lists, err := e.search(ctx, c, asked, vectors)
		if err != nil {
			return fmt.Errorf("searching context %s: %w", c.doc.ID(), err)
		}
		for j, q := range c.questions {
			r.Questions[q] = judge(asked[q], c.chunks, lists[j])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range contexts {
		r.Chunks += len(c.chunks)
	}
	r.summarise(e.ks())
	return r, nil
}

func (e Evaluation) ks() []int {
	if e.Ks == nil {
		return []int{1, 3, 5}
	}
	return e.Ks
}

// settle validates the fields, and returns the questions with an answer that is long
// enough, without the others, and their contexts in the order of the corpus.
func (e Evaluation) settle() ([]Question, []*contextOf, error) {
	switch {
	case e.Corpus == nil:
		return nil, nil, errors.New("field Corpus: nil, want a corpus of at least one document")
	case len(e.Questions) == 0:
		return nil, nil, errors.New("field Questions: no question, want at least one")
	case e.Chunker == nil:
		return nil, nil, errors.New("field Chunker: nil, want a chunker")
	case e.Embedder == nil && e.Retriever == nil:
		return nil, nil, errors.New("fields Embedder and Retriever: both are nil, want one of them set")
	case e.Embedder != nil && e.Retriever != nil:
		return nil, nil, errors.New("fields Embedder and Retriever: both are set, want one of them")
	case e.MinAnswerLength < 0:
		return nil, nil, fmt.Errorf("field MinAnswerLength: got %d, want at least 1, or 0 for %d", e.MinAnswerLength, defaultMinAnswerLength)
	}
	for i, k := range e.ks() {
		if k < 1 || slices.Contains(e.ks()[:i], k) {
			return nil, nil, fmt.Errorf("field Ks: got %v, want different cut-offs of at least 1", e.Ks)
		}
	}
	if v, ok := e.Chunker.(chunkers.Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, nil, fmt.Errorf("field Chunker: %w", err)
		}
	}
	least := e.MinAnswerLength
	if least == 0 {
		least = defaultMinAnswerLength
	}
	var asked []Question
	byID := make(map[ragtest.QueryID]int)
	byContext := make(map[spans.DocumentID][]int)
	for i, q := range e.Questions {
		if q.Text == "" {
			return nil, nil, fmt.Errorf("question %d (ID %q): the text is empty", i, q.ID)
		}
		if q.ID == "" {
			q.ID = ragtest.NewQueryID(q.Text)
		}
		if other, ok := byID[q.ID]; ok {
			return nil, nil, fmt.Errorf("questions %d and %d have the same ID %s", other, i, q.ID)
		}
		byID[q.ID] = i
		if _, ok := e.Corpus.Document(q.Context); !ok {
			return nil, nil, fmt.Errorf("question %s: the corpus has no document %q", q.ID, q.Context)
		}
		q.Answers = slices.DeleteFunc(slices.Clone(q.Answers), func(a string) bool { return utf8.RuneCountInString(a) < least })
		if len(q.Answers) > 0 {
			byContext[q.Context] = append(byContext[q.Context], len(asked))
			asked = append(asked, q)
		}
	}
	if len(asked) == 0 {
		return nil, nil, fmt.Errorf("field Questions: none of the %d questions has an answer of at least %d characters (MinAnswerLength)", len(e.Questions), least)
	}
	var contexts []*contextOf
	for doc := range e.Corpus.All() {
		if questions := byContext[doc.ID()]; len(questions) > 0 {
			contexts = append(contexts, &contextOf{doc: doc, questions: questions})
		}
	}
	return asked, contexts, nil
}

func (e Evaluation) chunk(ctx context.Context, contexts []*contextOf) error {
	return parallel.Do(ctx, runtime.GOMAXPROCS(0), len(contexts), func(ctx context.Context, i int) error {
		c := contexts[i]
		texts, err := e.Chunker.Chunk(ctx, c.doc.Text())
		if err != nil {
			return fmt.Errorf("chunking %s: %w", c.doc.ID(), err)
		}
		for _, text := range texts {
			if text != "" {
				c.chunks = append(c.chunks, chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: c.doc.ID(), Text: text})
			}
		}
		return nil
	})
}

// embedded are the vectors of chunks and of questions.
type embedded struct {
	chunks    map[string][]float32
	questions [][]float32
}

func (e Evaluation) embed(ctx context.Context, asked []Question, contexts []*contextOf) (*embedded, error) {
	if e.Embedder == nil {
		return nil, nil
	}
	vectors := &embedded{chunks: make(map[string][]float32)}
	var texts []string
	for _, c := range contexts {
		for _, chunk := range c.chunks {
			if _, ok := vectors.chunks[chunk.Text]; !ok {
				vectors.chunks[chunk.Text] = nil
				texts = append(texts, chunk.Text)
			}
		}
	}
	found, err := embedAll(ctx, e.Embedder.Embed, texts)
	if err != nil {
		return nil, fmt.Errorf("embedding chunks: %w", err)
	}
	for i, text := range texts {
		vectors.chunks[text] = found[i]
	}
	call := e.Embedder.Embed
	if q, ok := e.Embedder.(ragtest.QueryEmbedder); ok {
		call = q.EmbedQueries
	}
	questions := make([]string, len(asked))
	for i, q := range asked {
		questions[i] = q.Text
	}
	if vectors.questions, err = embedAll(ctx, call, questions); err != nil {
		return nil, fmt.Errorf("embedding questions: %w", err)
	}
	return vectors, nil
}

func embedAll(ctx context.Context, call func(context.Context, []string) ([][]float32, error), texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	batches := (len(texts) + embedBatch - 1) / embedBatch
	err := parallel.Do(ctx, callsAtOnce, batches, func(ctx context.Context, b int) error {
		batch := texts[b*embedBatch : min((b+1)*embedBatch, len(texts))]
		got, err := call(ctx, slices.Clone(batch))
		if err != nil {
			return err
		}
		if len(got) != len(batch) {
			return fmt.Errorf("got %d vectors for %d texts", len(got), len(batch))
		}
		copy(vectors[b*embedBatch:], got)
		return nil
	})
	return vectors, err
}

// search ranks all chunks of a context for each of its questions.
func (e Evaluation) search(ctx context.Context, c *contextOf, asked []Question, vectors *embedded) ([][]ragtest.ScoredChunk[chunkers.Chunk], error) {
	if len(c.chunks) == 0 {
		return make([][]ragtest.ScoredChunk[chunkers.Chunk], len(c.questions)), nil
	}
	if e.Embedder == nil {
		r := e.Retriever()
		if r == nil {
			return nil, errors.New("field Retriever: the function returned nil")
		}
		if err := r.Index(ctx, slices.Clone(c.chunks)); err != nil {
			return nil, err
		}
		texts := make([]string, len(c.questions))
		for i, q := range c.questions {
			texts[i] = asked[q].Text
		}
		lists, err := r.Retrieve(ctx, texts, len(c.chunks))
		if err == nil && len(lists) != len(texts) {
			err = fmt.Errorf("got %d lists of chunks for %d questions", len(lists), len(texts))
		}
		return lists, err
	}
	store := ragtest.NewMemoryStore[chunkers.Chunk]()
	added := make([][]float32, len(c.chunks))
	for i, chunk := range c.chunks {
		added[i] = vectors.chunks[chunk.Text]
	}
	if err := store.Add(ctx, c.chunks, added); err != nil {
		return nil, err
	}
	queries := make([][]float32, len(c.questions))
	for i, q := range c.questions {
		queries[i] = vectors.questions[q]
	}
	return store.SearchBatch(ctx, queries, len(c.chunks))
}

// judge finds the first chunk that contains an answer.
func judge(q Question, chunks []chunkers.Chunk, ranked []ragtest.ScoredChunk[chunkers.Chunk]) QuestionResult {
	holds := func(text string) bool {
		return slices.ContainsFunc(q.Answers, func(a string) bool { return strings.Contains(text, a) })
	}
	r := QuestionResult{ID: q.ID, Context: q.Context, Chunks: len(chunks)}
	for _, c := range chunks {
		if holds(c.Text) {
			r.Holding++
		}
	}
	r.Rank = slices.IndexFunc(ranked, func(h ragtest.ScoredChunk[chunkers.Chunk]) bool { return holds(h.Chunk.Text) }) + 1
	return r
}
