package ragtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/internal/stats"
	"github.com/rageval/rageval/spans"
)

// answer is one of the acceptable answers of a query at token level.
type answer struct {
	stated  []spans.Span
	set     spans.Set
	aliases []coverage.Alias // of its texts
}

// counted returns the aliases that count: none unless equivalent text does.
func (l *tokenLevel) counted(a *answer) []coverage.Alias {
	if l.equivalent {
		return a.aliases
	}
	return nil
}

// answer returns the answer of a query that is scored: after a round, the one that
// the retrieved chunks hold most of.
func (l *tokenLevel) answer(query int) *answer { return &l.answers[query][l.chosen[query]] }

// prepare finds the aliases of all answers.
func (l *tokenLevel) prepare(ctx context.Context) error {
	if l.prepared {
		return nil
	}
	var texts []string
	seen := map[spans.Span]string{}
	for _, of := range l.answers {
		for _, a := range of {
			for _, s := range a.stated {
				if _, ok := seen[s]; ok || s.Len() == 0 {
					continue
				}
				text, err := l.slice(s)
				if err != nil {
					return err
				}
				seen[s] = text
				texts = append(texts, text)
			}
		}
	}
	places, err := occurrences(ctx, l.corpus, texts)
	if err != nil {
		return err
	}
	l.recurring = 0
	for _, of := range l.answers {
		for i := range of {
			a := &of[i]
			before := l.recurring
			for _, s := range a.stated {
				if len(places[seen[s]]) > 1 {
					l.recurring++
				}
			}
			if l.recurring > before {
				a.aliases = aliases(a.stated, a.set, func(s spans.Span) string { return seen[s] }, places)
			}
		}
	}
	return nil
}

// recallOf returns the recall of the given chunks by the answer that they hold
// most of, with or without equivalent text.
func (l *tokenLevel) recallOf(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], equivalently bool) float64 {
	best := 0.0
	for i := range l.answers[query] {
		a := &l.answers[query][i]
		var counted []coverage.Alias
		if equivalently {
			counted = a.aliases
		}
		best = max(best, spans.Recall(spans.Union(l.canonical(hits, counted)...), a.set))
	}
	return best
}

// describe fills in what the texts and the chunks say by themselves.
func (l *tokenLevel) describe(hits [][]ScoredChunk[chunkers.PositionAwareChunk], r *Result) {
	d := &r.Diagnostics
	changes := make([]float64, len(hits))
	for i := range hits {
		if slices.ContainsFunc(l.answers[i], func(a answer) bool { return len(a.aliases) > 0 }) {
			changes[i] = l.recallOf(i, hits[i], true) - l.recallOf(i, hits[i], false)
		}
	}
	r.LossBounds, l.bounded = l.bounded, false
	if l.recurring > 0 {
		d.EquivalentText = &EquivalentText{l.recurring, stats.Mean(changes)}
	}
	if l.places == nil {
		return
	}
	strict, edges := make([]float64, len(hits)), make([]float64, len(hits))
	for i := range hits {
		set := l.answer(i).set
		strict[i], edges[i] = omega(l.touching(set), set), omega(l.touching(withEdges(set)), set)
	}
	d.PrecisionOmega, d.PrecisionOmegaEdges = new(stats.Mean(strict)), new(stats.Mean(edges))
}

// touching returns the spans of the indexed chunks that hold part of a set. They are
// valid until the next call.
func (l *tokenLevel) touching(set spans.Set) []spans.Span {
	l.scratch = l.scratch[:0]
	for _, row := range l.rowsOf(set, nil) {
		l.scratch = append(l.scratch, l.spanOf[row])
	}
	return l.scratch
}

// rowsOf returns the indexed chunks that hold part of a set, by insertion order.
func (l *tokenLevel) rowsOf(set spans.Set, counted []coverage.Alias) []int {
	var rows []int
	for s := range set.All() {
		for _, source := range sources(s, counted) {
			rows = l.places.touching(rows, source)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// sources returns the places whose text counts as part of s: s itself and, of the
// aliases, what stands for part of it.
func sources(s spans.Span, aliases []coverage.Alias) []spans.Span {
	list := []spans.Span{s}
	for _, a := range aliases {
		if part := (spans.Span{Doc: a.To.Doc, Start: max(s.Start, a.To.Start), End: min(s.End, a.To.End)}); part.Doc == s.Doc && part.Start < part.End {
			shift := a.From.Start - a.To.Start
			list = append(list, spans.Span{Doc: a.From.Doc, Start: part.Start + shift, End: part.End + shift})
		}
	}
	return list
}

// bestAnswer is the answer of the highest recall; of equal ones, of the highest
// IoU; of those, the first.
type bestAnswer struct {
	chosen      int
	recall, iou float64
}

func (b *bestAnswer) offer(i int, recall, iou float64) {
	if i == 0 || cmp.Or(cmp.Compare(recall, b.recall), cmp.Compare(iou, b.iou)) > 0 {
		*b = bestAnswer{i, recall, iou}
	}
}

// emptyAnswer says that answer i of several is empty.
func emptyAnswer(i int) string {
	if i == 0 {
		return "Relevant is empty: with Alternatives it must not be"
	}
	return fmt.Sprintf("alternative %d is empty: nothing retrieved would suffice", i-1)
}
