package ragtest_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func at(doc spans.DocumentID, start, end int) spans.Span {
	return spans.Span{Doc: doc, Start: start, End: end}
}

func score(t *testing.T, r *ragtest.Result, metric string) float64 {
	t.Helper()
	got, ok := r.Score(metric)
	if !ok {
		t.Fatalf("no score by %s", metric)
	}
	return got
}

func TestAlternatives(t *testing.T) {
	e := fruit(t)
	e.K = 2
	e.Queries = []ragtest.TokenQuery{tokenQuery("bananas", at("a.md", 0, 5), at("b.md", 0, 4))}
	e.Queries[0].Alternatives = [][]spans.Span{{at("a.md", 0, 5), at("a.md", 6, 13)}, {at("a.md", 6, 13)}}
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanMRR}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := r.Queries[0]
	if q.Alternative != 2 || score(t, r, "span_recall") != 1 || len(q.Missed) != 0 || len(q.Relevant) != 1 {
		t.Errorf("got alternative %d, recall %v, missed %v, want the last alternative, found completely", q.Alternative, score(t, r, "span_recall"), q.Missed)
	}
	if left := ragtest.SpanRecall.Of(ragtest.TokenOutcome{Relevant: []spans.Span{q.Relevant[0].Span}, Retrieved: []spans.Span{q.Hits[0].Span, q.Hits[1].Span}}); left != 1 {
		t.Errorf("got %v", left)
	}

	// Of equal recall, the answer with the higher IoU counts.
	e.Queries[0].Relevant = []spans.Span{at("a.md", 6, 8)}
	e.Queries[0].Alternatives = [][]spans.Span{{at("a.md", 6, 13)}}
	if r, err = e.Evaluate(t.Context()); err != nil || r.Queries[0].Alternative != 1 {
		t.Errorf("got alternative %d (%v), want 1", r.Queries[0].Alternative, err)
	}

	for _, tc := range []struct {
		relevant     []spans.Span
		alternatives [][]spans.Span
		want         string
	}{
		{nil, [][]spans.Span{{at("a.md", 0, 1)}}, "Relevant is empty: with Alternatives it must not be"},
		{[]spans.Span{at("a.md", 0, 1)}, [][]spans.Span{{at("a.md", 0, 1)}, {}}, "alternative 1 is empty"},
		{[]spans.Span{at("a.md", 0, 1)}, [][]spans.Span{{at("a.md", 0, 999)}}, "alternative 0: span 0: a.md[0:999]: want"},
	} {
		e.Queries[0].Relevant, e.Queries[0].Alternatives = tc.relevant, tc.alternatives
		if _, err := e.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got error %v, want %q", err, tc.want)
		}
	}
}

// With alternatives, every metric scores as with the answer by which it scores
// highest, and losses and recall add up to 1.
func TestAlternativesScoreAsTheBest(t *testing.T) {
	e := fruit(t)
	e.K = 2
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanNDCG, ragtest.SpanMAP, ragtest.SpanMRR.At(1)}
	answers := [][]spans.Span{{at("a.md", 0, 13)}, {at("b.md", 0, 9)}, {at("a.md", 7, 8)}, {at("b.md", 2, 6), at("a.md", 2, 3)}}
	for _, query := range []string{"bananas", "pfel", "cherries"} {
		want := make([]float64, len(e.Metrics))
		ceilings := map[string]float64{}
		for _, a := range answers {
			e.Queries = []ragtest.TokenQuery{tokenQuery(query, a...)}
			r, err := e.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range r.Metrics {
				want[i] = max(want[i], m.Value)
			}
			for _, c := range r.Ceilings {
				ceilings[c.Metric] = max(ceilings[c.Metric], c.Value)
			}
		}
		e.Queries = []ragtest.TokenQuery{tokenQuery(query, answers[0]...)}
		e.Queries[0].Alternatives = answers[1:]
		r, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := score(t, r, "span_recall")
		for _, l := range r.RecallLosses {
			sum += l.Amount
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: recall and losses add up to %v", query, sum)
		}
		for i, m := range r.Metrics {
			if m.Value != want[i] {
				t.Errorf("%s: got %s %v, want the best, %v", query, m.Metric, m.Value, want[i])
			}
		}
		for _, c := range r.Ceilings {
			if c.Value != ceilings[c.Metric] {
				t.Errorf("%s: got the ceiling %v, want %v", query, c, ceilings[c.Metric])
			}
		}
	}
}

func TestChunkAlternatives(t *testing.T) {
	id := chunkers.NewChunkID
	e := ragtest.ChunkLevel{Corpus: corpus(t, "a.md", "äpfel\nbananas\n", "b.md", "cherries and dates\n"), Chunker: lines, Embedder: letters{}, K: 1}
	e.Queries = []ragtest.ChunkQuery{{Query: ragtest.Query{Text: "bananas"}, Relevant: []chunkers.ChunkID{id("äpfel")},
		Alternatives: [][]chunkers.ChunkID{{id("äpfel"), id("bananas")}, {id("bananas")}}}}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries[0].Alternative != 2 || score(t, r, "chunk_f1") != 1 {
		t.Errorf("got alternative %d with F1 %v, want the last and 1", r.Queries[0].Alternative, score(t, r, "chunk_f1"))
	}
	e.Queries[0].Alternatives = [][]chunkers.ChunkID{{id("plums")}}
	if _, err := e.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), "the ground truth names 2 chunks, of which the chunker") {
		t.Errorf("got error %v, want one about a chunk that does not exist", err)
	}
}

func TestEquivalentText(t *testing.T) {
	doc := "one: apply within ten days\ntwo: nothing of note here\nsix: apply within ten days\n"
	const text = "apply within ten days"
	first, second := strings.Index(doc, text), strings.LastIndex(doc, text)
	e := ragtest.TokenLevel{
		Corpus:   corpus(t, "a.md", doc),
		Queries:  []ragtest.TokenQuery{tokenQuery("six: apply within ten days", at("a.md", first, first+len(text)))},
		Chunker:  placedLines{},
		Embedder: letters{},
		K:        1,
	}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &ragtest.EquivalentText{Passages: 1, RecallChange: 1}
	if diff := cmp.Diff(want, r.Diagnostics.EquivalentText); diff != "" || score(t, r, "span_recall") != 0 {
		t.Errorf("recall %v, and (-want +got):\n%s", score(t, r, "span_recall"), diff)
	}
	if table := r.String(); !strings.Contains(table, "the text of 1 relevant passage is elsewhere too: to count it (EquivalentText) makes +1.0000 of span_recall") {
		t.Errorf("got table %s", table)
	}

	e.EquivalentText = true
	if r, err = e.Evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := r.Queries[0]
	if diff := cmp.Diff(want, r.Diagnostics.EquivalentText); diff != "" || score(t, r, "span_recall") != 1 || !q.Hits[0].Aliased || len(q.Missed) > 0 {
		t.Errorf("recall %v, hits %v, missed %v, and (-want +got):\n%s", score(t, r, "span_recall"), q.Hits, q.Missed, diff)
	}
	if got, want := score(t, r, "span_precision"), float64(len(text))/float64(len("six: "+text)); got != want {
		t.Errorf("got precision %v, want %v", got, want)
	}

	// Both places are one evidence.
	e.K = 2
	e.Queries[0].Relevant = append(e.Queries[0].Relevant, at("a.md", 27, 30))
	if r, err = e.Evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	q = r.Queries[0]
	recall := float64(len(text)) / float64(len(text)+3)
	if got := score(t, r, "span_recall"); got != recall || q.Missed[0].Rank != 3 {
		t.Errorf("got recall %v, want %v; missed %v", got, recall, q.Missed)
	}
	if got, want := score(t, r, "span_precision"), float64(len(text))/float64(len(text)+10); got != want {
		t.Errorf("got precision %v, want %v: the text counts once", got, want)
	}
	if q.Hits[0].Aliased == q.Hits[1].Aliased {
		t.Errorf("got hits %v, want one aliased", q.Hits)
	}
	_ = second
}

// A character that is relevant itself stands for itself, and the longest relevant
// text wins where texts are within each other.
func TestEquivalentTextWithinOther(t *testing.T) {
	doc := "abcdefgh\nabcdefghij\nxabcdefghijx\n"
	e := ragtest.TokenLevel{
		Corpus: corpus(t, "a.md", doc),
		// The third line holds the text of both; it stands for the longer.
		Queries:        []ragtest.TokenQuery{tokenQuery("xx", at("a.md", 0, 8), at("a.md", 9, 19))},
		Chunker:        placedLines{},
		Embedder:       letters{},
		K:              1,
		EquivalentText: true,
	}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := score(t, r, "span_recall"); got != 10.0/18 {
		t.Errorf("got recall %v of %v, want 10/18", got, r.Queries[0].Hits)
	}
}

// Equivalent text never lowers recall or pushes a score beyond 1, and losses add
// up.
func TestEquivalentTextOfRepetitiveCorpora(t *testing.T) {
	for seed := range 60 {
		text := make([]byte, 80)
		state := uint32(seed + 1)
		next := func(n int) int {
			state = state*1664525 + 1013904223
			return int(state>>16) % n
		}
		for i := range text {
			text[i] = "ab"[next(2)]
		}
		e := ragtest.TokenLevel{
			Corpus:  corpus(t, "a.md", string(text[:50]), "b.md", string(text[50:])),
			Chunker: chunkers.FixedSize{Size: 4 + next(8), Overlap: next(3)}, Embedder: letters{}, K: 1 + next(4),
			Metrics: []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanNDCG, ragtest.SpanMAP, ragtest.SpanHitRate},
		}
		for i := range 3 {
			start := next(40)
			e.Queries = append(e.Queries, tokenQuery(fmt.Sprint(i, " ab"), at("a.md", start, start+1+next(9)), at("b.md", 3, 3+next(20))))
		}
		without, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e.EquivalentText = true
		with, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		change := score(t, with, "span_recall") - score(t, without, "span_recall")
		if d := with.Diagnostics.EquivalentText; d != nil && (math.Abs(d.RecallChange-change) > 1e-12 || d.RecallChange != without.Diagnostics.EquivalentText.RecallChange) || change < 0 {
			t.Fatalf("seed %d: recall changes by %v, and the diagnostics say %v", seed, change, d)
		}
		for i, q := range with.Queries {
			sum, _ := q.Score("span_recall")
			for _, l := range q.RecallLosses {
				sum += l.Amount
			}
			precision, _ := q.Score("span_precision")
			for _, l := range q.PrecisionLosses {
				precision += l.Amount
			}
			if math.Abs(sum-1) > 1e-9 || math.Abs(precision-1) > 1e-9 {
				t.Fatalf("seed %d, query %d: recall and losses %v add up to %v, precision and losses %v to %v", seed, i, q.RecallLosses, sum, q.PrecisionLosses, precision)
			}
			for _, c := range append(q.Ceilings, q.CeilingBounds...) {
				if got, _ := q.Score(c.Metric); got > c.Value {
					t.Fatalf("seed %d, query %d: %s is %v, above its ceiling %v", seed, i, c.Metric, got, c.Value)
				}
			}
		}
	}
}

func TestPositions(t *testing.T) {
	e := fruit(t)
	e.Corpus = corpus(t, "a.md", "äöü\r\nüß bananas\n\nend")
	e.Queries = []ragtest.TokenQuery{tokenQuery("bananas", at("a.md", 8, 15), at("a.md", 17, 20), at("a.md", 20, 20))}
	e.Chunker = chunkFunc(func(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
		return []chunkers.Piece{{Text: "end", Start: len(doc.Text()) - 3, End: len(doc.Text())}}, nil
	})
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := r.Queries[0]
	if p := q.Missed[0]; p.Text != "bananas" || p.Line != 2 || p.Column != 4 {
		t.Errorf("got %+v, want line 2, column 4 in characters", p)
	}
	if h := q.Hits[0]; h.Line != 4 || h.Column != 1 {
		t.Errorf("got %+v, want line 4, column 1", h)
	}
}
