package ragtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// thinned keeps some of what another chunker makes, and loses the place of some.
type thinned struct{ chunkers.PositionAwareChunker }

func (c thinned) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	pieces, err := c.PositionAwareChunker.ChunkWithPositions(ctx, doc)
	for i := range pieces {
		switch len(pieces[i].Text) % 11 {
		case 0:
			pieces[i].Start, pieces[i].End = -1, -1
		case 1:
			pieces[i] = chunkers.Piece{}
		}
	}
	return pieces, err
}

// nested makes chunks of two sizes, so that some lie within others.
type nested struct{ small, large chunkers.FixedSize }

func (c nested) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	a, err := c.small.ChunkWithPositions(ctx, doc)
	if err != nil {
		return nil, err
	}
	b, err := c.large.ChunkWithPositions(ctx, doc)
	return append(a, b...), err
}

// randomEvaluation makes an evaluation of which many chunks have equal texts and scores.
func randomEvaluation(t *testing.T, r *rand.Rand, inOrder bool) ragtest.TokenLevel {
	t.Helper()
	words := strings.Fields("red apple pear plum öl über cherry\nlime fig date\n kiwi")
	var list []string
	for i := range 1 + r.IntN(30) {
		id := fmt.Sprintf("%03d", i)
		if !inOrder {
			id = fmt.Sprintf("%x-%d", r.Uint32(), i)
		}
		var text []string
		for range 1 + r.IntN(60) {
			text = append(text, words[r.IntN(len(words))])
		}
		list = append(list, id, strings.Join(text, " ")+"\n")
	}
	if r.IntN(2) == 0 {
		list = append(list, "zz-copy", list[1]) // a document that is there twice, as far as texts go
	}
	e := ragtest.TokenLevel{Corpus: corpus(t, list...), Embedder: letters{}, Name: "random", MaxUnlocated: 1 << 20, EquivalentText: r.IntN(2) == 0}
	docs := slices.Collect(e.Corpus.All())
	answer := func() (spansOf []spans.Span) {
		for range 1 + r.IntN(3) {
			d := docs[r.IntN(len(docs))]
			start := r.IntN(d.Len())
			spansOf = append(spansOf, spans.Span{Doc: d.ID(), Start: start, End: min(d.Len(), start+1+r.IntN(40))})
		}
		return spansOf
	}
	for i := range 1 + r.IntN(6) {
		q := ragtest.TokenQuery{Query: ragtest.Query{Text: fmt.Sprint(words[r.IntN(len(words))], " ", i)}}
		if r.IntN(5) > 0 {
			q.Relevant = answer()
			for range r.IntN(3) {
				q.Alternatives = append(q.Alternatives, answer())
			}
		}
		e.Queries = append(e.Queries, q)
	}
	size := 5 + r.IntN(40)
	e.Chunker = []chunkers.PositionAwareChunker{
		chunkers.FixedSize{Size: size}, chunkers.FixedSize{Size: size, Overlap: size / 3}, placedLines{}, chunkers.WithPositions(lines),
		thinned{chunkers.FixedSize{Size: size, Overlap: 2}}, nested{chunkers.FixedSize{Size: size}, chunkers.FixedSize{Size: 3 * size}},
		chunkers.RecursiveCharacter{Size: size},
	}[r.IntN(7)]
	e.K = 1 + r.IntN(6)
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanNDCG, ragtest.SpanMAP, ragtest.SpanMRR}
	if r.IntN(3) == 0 {
		e.Tokens, e.TokenBudget = chunkers.Length{Name: "bytes", Of: func(text string) int { return len(text) }}, 20+r.IntN(200)
	}
	if r.IntN(2) == 0 {
		e.Reranker, e.FetchK = backwards{}, e.K+r.IntN(8)
	}
	return e
}

func streamOf(c *spans.Corpus) iter.Seq2[*spans.Document, error] {
	return func(yield func(*spans.Document, error) bool) {
		for doc := range c.All() {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

func TestStreamAndPartsGiveTheResultOfEvaluate(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		inOrder := r.IntN(4) > 0
		e := randomEvaluation(t, r, inOrder)
		evaluated, err := e.Evaluate(t.Context())
		if err != nil {
			if !strings.Contains(err.Error(), "produced no chunk") {
				t.Fatal(err)
			}
			continue
		}
		want := encode(t, evaluated)

		streaming := e
		streaming.Corpus = nil
		streamed, err := streaming.EvaluateStream(t.Context(), streamOf(e.Corpus))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !inOrder && strings.HasPrefix(streamed.CorpusFingerprint, "unordered-") {
			streamed.CorpusFingerprint = evaluated.CorpusFingerprint
		}
		if diff := cmp.Diff(encode(t, streamed), want); diff != "" {
			t.Fatalf("seed %d, chunker %v: (-stream +evaluate)\n%s", seed, e.Chunker, diff)
		}

		depth := max(e.K, e.FetchK) + r.IntN(5)
		plan, err := e.Plan(t.Context(), depth)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for name, parts := range map[string][]*ragtest.TokenPart{"shards": shards(t, r, plan), "scattered": scattered(t, r, e, plan)} {
			merged := mergeAtRandom(t, r, parts)
			prepared, err := plan.Prepare(merged)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			fetchK := max(e.FetchK, e.K)
			if e.Reranker != nil && e.FetchK == 0 {
				fetchK = 4 * e.K
			}
			ranking, err := prepared.Rank(t.Context(), e.Reranker, fetchK)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ranking.Judge(t.Context(), e.Name, e.K)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(encode(t, got), want); diff != "" {
				t.Fatalf("seed %d, chunker %v, %s: (-parts +evaluate)\n%s", seed, e.Chunker, name, diff)
			}
		}
	}
}

// uneven cuts each document in its own way.
type uneven struct{}

func (uneven) String() string { return "uneven" }

func (uneven) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	n := doc.Len()
	switch last := doc.ID()[len(doc.ID())-1]; last {
	case 'n':
		return nested{chunkers.FixedSize{Size: 1 + n/3}, chunkers.FixedSize{Size: n}}.ChunkWithPositions(ctx, doc)
	case 'o':
		return chunkers.FixedSize{Size: 2 + n/3, Overlap: 1 + n/9}.ChunkWithPositions(ctx, doc)
	}
	return chunkers.FixedSize{Size: 3 + n/4}.ChunkWithPositions(ctx, doc)
}

// What the best choice of chunks is worth depends on those of other documents: on the
// shortest, and on whether any overlap or lie within others.
func TestStreamKnowsWhatCeilingsNeed(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		var list []string
		ways := []string{"", "", "n", "o", "no"}[r.IntN(5)]
		for i := range 4 + r.IntN(30) {
			id := fmt.Sprintf("%03d-", i)
			if r.IntN(8) == 0 && ways != "" {
				id += string(ways[r.IntN(len(ways))])
			}
			list = append(list, id, strings.Repeat("red plum ", 1+r.IntN(12))[r.IntN(8):])
		}
		e := ragtest.TokenLevel{Name: "ceilings", Corpus: corpus(t, list...), Chunker: uneven{}, Embedder: letters{}, K: 1 + r.IntN(4),
			Metrics: []ragtest.TokenMetric{ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanNDCG}}
		first, _ := e.Corpus.Document(spans.DocumentID(list[0]))
		start := r.IntN(first.Len())
		e.Queries = []ragtest.TokenQuery{{Query: ragtest.Query{Text: "plum"}, Relevant: []spans.Span{{Doc: first.ID(), Start: start, End: start + 1 + r.IntN(first.Len()-start)}}}}
		want, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		docs := streamOf(e.Corpus)
		e.Corpus = nil
		got, err := e.EvaluateStream(t.Context(), docs)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(encode(t, got), encode(t, want)); diff != "" {
			t.Fatalf("seed %d: (-stream +evaluate)\n%s", seed, diff)
		}
	}
}

// shards makes the shards of a plan.
func shards(t *testing.T, r *rand.Rand, plan *ragtest.TokenPlan) (parts []*ragtest.TokenPart) {
	t.Helper()
	count := 1 + r.IntN(5)
	for i := range count {
		p, err := plan.Shard(t.Context(), i, count)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return parts
}

// scattered chunks each document by itself and ranks all chunks in random groups, as
// other processes do, which have the search alone.
func scattered(t *testing.T, r *rand.Rand, e ragtest.TokenLevel, plan *ragtest.TokenPlan) (parts []*ragtest.TokenPart) {
	t.Helper()
	search := roundTrip(t, plan.Search())
	var chunks []ragtest.PlacedChunk
	number := 0
	for doc := range e.Corpus.All() {
		of, p, err := search.Chunk(t.Context(), e.Chunker, number, doc)
		if err != nil {
			t.Fatal(err)
		}
		parts, chunks = append(parts, p), append(chunks, of...)
		number++
	}
	r.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
	for len(chunks) > 0 {
		n := 1 + r.IntN(len(chunks))
		var texts []string
		for _, c := range chunks[:n] {
			texts = append(texts, c.Chunk.Text)
		}
		vectors, err := e.Embedder.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		p, err := search.Rank(t.Context(), chunks[:n], vectors)
		if err != nil {
			t.Fatal(err)
		}
		parts, chunks = append(parts, p), chunks[n:]
	}
	return parts
}

// mergeAtRandom merges parts in a random order and grouping, through their JSON form.
func mergeAtRandom(t *testing.T, r *rand.Rand, parts []*ragtest.TokenPart) *ragtest.TokenPart {
	t.Helper()
	merge := func(parts ...*ragtest.TokenPart) *ragtest.TokenPart {
		p, err := ragtest.MergeTokenParts(parts...)
		if err != nil {
			t.Fatal(err)
		}
		return roundTrip(t, p)
	}
	atOnce := merge(parts...)
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for len(parts) > 1 {
		n := 2 + r.IntN(len(parts)-1)
		parts = append(slices.Clone(parts[n:]), merge(parts[:n]...))
	}
	one := merge(parts...)
	if diff := cmp.Diff(one, atOnce); diff != "" {
		t.Fatalf("merged in another order (-other +this):\n%s", diff)
	}
	return one
}

func roundTrip[T any](t *testing.T, value T) T {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var read T
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read, value); diff != "" {
		t.Fatalf("read back (-read +written):\n%s", diff)
	}
	return read
}

func TestPartsRefuse(t *testing.T) {
	docs := corpus(t, "a", "red apples\ngreen apples\n", "b", "red plums\n", "c", "limes\nred apples\n")
	e := ragtest.TokenLevel{Corpus: docs, Chunker: placedLines{}, Embedder: letters{}, Queries: []ragtest.TokenQuery{
		{Query: ragtest.Query{Text: "what is red"}, Relevant: []spans.Span{{Doc: "a", Start: 0, End: 10}}}}}
	plan := func(change func(*ragtest.TokenLevel), depth int) *ragtest.TokenPlan {
		changed := e
		changed.Queries = slices.Clone(e.Queries)
		if change != nil {
			change(&changed)
		}
		p, err := changed.Plan(t.Context(), depth)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	shard := func(p *ragtest.TokenPlan, i int) *ragtest.TokenPart {
		part, err := p.Shard(t.Context(), i, 3)
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	p := plan(nil, 2)
	for name, other := range map[string]*ragtest.TokenPlan{
		"depth": plan(nil, 3),
		"corpus": plan(func(e *ragtest.TokenLevel) {
			e.Corpus = corpus(t, "a", "red apples\ngreen apples\n", "b", "red plum\n", "c", "limes\nred apples\n")
		}, 2),
		"query":    plan(func(e *ragtest.TokenLevel) { e.Queries[0].Text = "what is really red" }, 2),
		"truth":    plan(func(e *ragtest.TokenLevel) { e.Queries[0].Relevant = []spans.Span{{Doc: "a", Start: 0, End: 9}} }, 2),
		"chunker":  plan(func(e *ragtest.TokenLevel) { e.Chunker = chunkers.FixedSize{Size: 9} }, 2),
		"equality": plan(func(e *ragtest.TokenLevel) { e.EquivalentText = true }, 2),
		"embedder": plan(func(e *ragtest.TokenLevel) {
			e.Embedder = embedFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
				vectors, err := letters{}.Embed(ctx, texts)
				for _, v := range vectors {
					v[25]++
				}
				return vectors, err
			})
		}, 2),
	} {
		if _, err := ragtest.MergeTokenParts(shard(p, 0), shard(other, 1)); err == nil || !strings.Contains(err.Error(), "part 1: it is of another plan") {
			t.Errorf("another %s: got error %v", name, err)
		}
		if _, err := p.Prepare(shard(other, 1)); err == nil || !strings.Contains(err.Error(), "another plan") {
			t.Errorf("preparing a part of another %s: got error %v", name, err)
		}
	}
	all, err := ragtest.MergeTokenParts(shard(p, 2), shard(p, 0), shard(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	merge := func(parts ...*ragtest.TokenPart) error { _, err := ragtest.MergeTokenParts(parts...); return err }
	prepare := func(part *ragtest.TokenPart) error { _, err := p.Prepare(part); return err }
	read := func(change func(*ragtest.TokenPart)) error {
		part := roundTrip(t, all)
		change(part)
		data, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		return json.Unmarshal(data, new(ragtest.TokenPart))
	}
	two, err := ragtest.MergeTokenParts(shard(p, 2), shard(p, 0))
	if err != nil {
		t.Fatal(err)
	}
	chunksOnly := func() *ragtest.TokenPart {
		parts := []*ragtest.TokenPart{}
		for doc := range docs.All() {
			_, part, err := p.Search().Chunk(t.Context(), e.Chunker, len(parts), doc)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part)
		}
		merged, err := ragtest.MergeTokenParts(parts...)
		if err != nil {
			t.Fatal(err)
		}
		return merged
	}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no part", merge(), "want at least one"},
		{"a nil part", merge(shard(p, 0), nil), "part 1 is nil"},
		{"a document twice", merge(shard(p, 0), shard(p, 1), shard(p, 0)), "part 2: document number 0 is in two parts"},
		{"nothing to prepare", prepare(nil), "nil"},
		{"a missing shard", prepare(two), "the part is of the documents [{0 1} {2 3}], want all 3"},
		{"no ranking", prepare(chunksOnly()), "the part has ranked 0 chunks of 5"},
		{"two chunks at one place", func() error {
			chunks, _, err := p.Search().Chunk(t.Context(), e.Chunker, 0, slices.Collect(docs.All())[0])
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Search().Rank(t.Context(), append(chunks, chunks[1]), [][]float32{make([]float32, 26), make([]float32, 26), make([]float32, 26)})
			return err
		}(), "two chunks are number 1 of document number 0"},
		{"a document that is another", func() error {
			_, err := p.Part(t.Context(), 0, streamOf(corpus(t, "b", "red plums\n")))
			return err
		}(), "document number 0 is b, which is not the document a"},
		{"an empty search", func() error {
			_, err := ragtest.TokenSearch{}.Rank(t.Context(), nil, nil)
			return err
		}(), "want that of a TokenPlan"},
		{"a search without relevant chunks", func() error {
			search := p.Search()
			search.Relevant = nil
			_, _, err := search.Chunk(t.Context(), e.Chunker, 0, slices.Collect(docs.All())[0])
			return err
		}(), "want that of a TokenPlan"},
		{"another dimension", func() error {
			_, err := p.Search().Rank(t.Context(), make([]ragtest.PlacedChunk, 1), [][]float32{{1, 2}})
			return err
		}(), "vector 0 has dimension 2, want 26"},
		{"hits out of order", read(func(p *ragtest.TokenPart) { slices.Reverse(p.Hits[0]) }), "hit 1 is not behind the one before"},
		{"too many hits", read(func(p *ragtest.TokenPart) { p.Depth = 1 }), "query 0 has 2 hits among 5 chunks, want no more than 1"},
		{"a count below zero", read(func(p *ragtest.TokenPart) { p.Chunks = -1 }), "field chunks: got -1"},
		{"a wrong count of texts", read(func(p *ragtest.TokenPart) { p.Texts.Texts++ }), "field texts: got the counts 5"},
		{"half an entry", read(func(p *ragtest.TokenPart) { p.IDs.Entries = p.IDs.Entries[1:] }), "want a multiple of 20"},
		{"ranges that overlap", read(func(p *ragtest.TokenPart) { p.Documents = append(p.Documents, p.Documents...) }), "range 1 is [0, 3)"},
		{"an unknown version", json.Unmarshal([]byte(`{"schemaVersion":9}`), new(ragtest.TokenPart)), "schemaVersion: got 9, want 1"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.name, test.err, test.want)
		}
	}
}

func TestTokenPartFile(t *testing.T) {
	e := randomEvaluation(t, rand.New(rand.NewPCG(1, 2)), true)
	e.Chunker = placedLines{}
	plan, err := e.Plan(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	part, err := plan.Shard(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "part.json")
	if err := part.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := ragtest.ReadTokenPart(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read, part); diff != "" {
		t.Errorf("(-read +written):\n%s", diff)
	}
	if _, err := ragtest.ReadTokenPart(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("reading no file is no error")
	}
}

func TestStreamRefuses(t *testing.T) {
	docs := corpus(t, "b", "red plums\n", "a", "red apples\ngreen apples\n", "c", "limes\n")
	cause := errors.New("disk on fire")
	e := ragtest.TokenLevel{Chunker: placedLines{}, Embedder: letters{}, Queries: []ragtest.TokenQuery{
		{Query: ragtest.Query{Text: "what is red"}, Relevant: []spans.Span{{Doc: "a", Start: 0, End: 10}}}}}
	list := slices.Collect(docs.All())
	// stream yields what of says for each iteration and document.
	stream := func(of func(time, i int) (*spans.Document, error)) iter.Seq2[*spans.Document, error] {
		times := 0
		return func(yield func(*spans.Document, error) bool) {
			time := times
			times++
			for i := range list {
				if doc, err := of(time, i); (doc != nil || err != nil) && !yield(doc, err) {
					return
				}
			}
		}
	}
	for _, test := range []struct {
		name string
		e    func(e *ragtest.TokenLevel)
		of   func(time, i int) (*spans.Document, error)
		want string
	}{
		{"a corpus", func(e *ragtest.TokenLevel) { e.Corpus = docs }, nil, "field Corpus: it is set"},
		{"a store", func(e *ragtest.TokenLevel) { e.Store = ragtest.NewMemoryStore[chunkers.PositionAwareChunk]() }, nil, "field Store: it is set"},
		{"a retriever", func(e *ragtest.TokenLevel) {
			e.Embedder, e.Retriever = nil, ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(context.Context, string, int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
				return nil, nil
			})
		}, nil, "field Retriever: it is set"},
		{"no chunker", func(e *ragtest.TokenLevel) { e.Chunker = nil }, nil, "field Chunker: nil"},
		{"an unknown document", func(e *ragtest.TokenLevel) {
			e.Queries = []ragtest.TokenQuery{{Query: ragtest.Query{Text: "q"}, Relevant: []spans.Span{{Doc: "x", End: 1}}}}
		}, nil, `no document "x"`},
		{"nothing", nil, func(int, int) (*spans.Document, error) { return nil, nil }, "no document"},
		{"an error", nil, func(time, i int) (*spans.Document, error) {
			if time == 2 && i == 1 {
				return nil, cause
			}
			return list[i], nil
		}, "reading document number 1: disk on fire"},
		{"a document twice", nil, func(_, i int) (*spans.Document, error) { return list[i%2], nil }, "3 documents of the stream have 2 different IDs"},
		{"fewer later", nil, func(time, i int) (*spans.Document, error) {
			if time == 1 && i == 2 {
				return nil, nil
			}
			return list[i], nil
		}, "every iteration must yield the same"},
		{"others last", nil, func(time, i int) (*spans.Document, error) {
			if time == 2 && i == 2 {
				return spans.NewDocument("c", "lemons\n", nil)
			}
			return list[i], nil
		}, "every iteration must yield the same"},
	} {
		changed := e
		if test.e != nil {
			test.e(&changed)
		}
		of := test.of
		if of == nil {
			of = func(_, i int) (*spans.Document, error) { return list[i], nil }
		}
		if _, err := changed.EvaluateStream(t.Context(), stream(of)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestRunTokenLevelStream(t *testing.T) {
	e := fruit(t)
	docs := streamOf(e.Corpus)
	whole := e
	whole.Name = "fruit"
	want, err := whole.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.Corpus, e.Name = nil, "fruit"
	var got *ragtest.Result
	said := record(t, new(recorder), func(tb testing.TB) {
		got = ragtest.RunTokenLevelStream(tb, e, docs, ragtest.SpanRecall.AtLeast(1), ragtest.SpanMRR.AtLeast(0))
	})
	recall, _ := want.Score("span_recall")
	if failed := slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "error: ragtest: span_recall") }); failed != (recall < 1) {
		t.Errorf("with a recall of %v: said %q", recall, said)
	}
	if s, ok := got.Score("span_mrr"); !ok || len(got.Thresholds) != 2 {
		t.Errorf("got the metric of a threshold: %v, %t; and %d thresholds", s, ok, len(got.Thresholds))
	}
	if diff := cmp.Diff(got.Queries[0].Hits, want.Queries[0].Hits); diff != "" {
		t.Errorf("hits (-stream +corpus):\n%s", diff)
	}
	for what, r := range map[string]string{"a bad field": "ragtest: field K: got -1", "no documents": "no document"} {
		bad, stream := e, docs
		if what == "a bad field" {
			bad.K = -1
		} else {
			stream = func(func(*spans.Document, error) bool) {}
		}
		said := record(t, new(recorder), func(tb testing.TB) { ragtest.RunTokenLevelStream(tb, bad, stream) })
		if len(said) == 0 || !strings.HasPrefix(said[0], "fatal: ") || !strings.Contains(said[0], r) {
			t.Errorf("%s: said %q, want %q", what, said, r)
		}
	}
}

// FuzzTokenPart reads what may be a part, and merges it.
func FuzzTokenPart(f *testing.F) {
	docs := streamOf(corpus(f, "a", "red apples\ngreen apples\n", "b", "red plums\n"))
	e := ragtest.TokenLevel{Chunker: placedLines{}, Embedder: letters{},
		Queries: []ragtest.TokenQuery{{Query: ragtest.Query{Text: "what is red"}, Relevant: []spans.Span{{Doc: "a", Start: 0, End: 10}}}}}
	plan, err := e.PlanStream(context.Background(), 2, docs)
	if err != nil {
		f.Fatal(err)
	}
	part, err := plan.Part(context.Background(), 0, docs)
	if err != nil {
		f.Fatal(err)
	}
	data, err := json.Marshal(part)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(strings.ReplaceAll(string(data), "1", "-1")))
	f.Add([]byte(strings.ReplaceAll(string(data), `"hits":[[`, `"hits":[[],[`)))
	f.Add([]byte(strings.ReplaceAll(string(data), `"bounds":[[`, `"bounds":[[9,`)))
	f.Add([]byte(strings.ReplaceAll(string(data), `"text":"red plums"`, `"text":""`))) // of a document that the plan has not
	f.Fuzz(func(t *testing.T, data []byte) {
		var p ragtest.TokenPart
		if err := json.Unmarshal(data, &p); err != nil {
			return
		}
		if merged, err := ragtest.MergeTokenParts(&p); err == nil {
			roundTrip(t, merged)
		}
		if prepared, err := plan.Prepare(&p); err == nil {
			ranking, err := prepared.Rank(t.Context(), nil, 2)
			if err != nil {
				return
			}
			_, _ = ranking.Judge(t.Context(), "fuzz", 1)
		}
	})
}
