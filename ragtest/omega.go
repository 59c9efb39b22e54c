package ragtest

import "github.com/rageval/rageval/spans"

// PrecisionOmega is the precision Ω of Chroma's chunking evaluation (Smith &
// Troynikov 2024): the precision that the chunks would have for a retriever that
// finds exactly those which hold a relevant character. It needs no retrieval and
// no embedder: it judges where the chunks were cut. The chunks are those of the
// whole corpus, and relevant is the ground truth of one query, both in any order
// and free to overlap; the published figures are means over queries.
//
// With touching the union of the chunks that share at least one character with a
// relevant span, merged as published, it is
//
//	|touching ∩ relevant| / |touching ∪ relevant|
//
// in characters: relevant characters that no chunk holds stand below the line.
// It is 0 where nothing is relevant, and never exceeds 1.
//
// [PrecisionOmegaEdges] is the variant of Chroma's own code.
//
// It takes O(n log r) time for n chunks and r relevant spans.
func PrecisionOmega(chunks, relevant []spans.Span) float64 {
	set := spans.Union(relevant...)
	return omega(touching(chunks, set), set)
}

// PrecisionOmegaEdges is [PrecisionOmega] as Chroma's own code computes it, by which
// the published figures are: a chunk that begins where a relevant span ends, or ends
// where one begins, counts as touching though it shares nothing with it. That moves
// the figure down, for some of the published rows by one percentage point.
func PrecisionOmegaEdges(chunks, relevant []spans.Span) float64 {
	set := spans.Union(relevant...)
	return omega(touching(chunks, withEdges(set)), set)
}

// withEdges returns the set with a character more at each end of its spans.
func withEdges(set spans.Set) spans.Set {
	var list []spans.Span
	for s := range set.All() {
		list = append(list, spans.Span{Doc: s.Doc, Start: s.Start - 1, End: s.End + 1})
	}
	return spans.Union(list...)
}

func touching(chunks []spans.Span, set spans.Set) []spans.Span {
	var t truth
	t.reset(set)
	var touching []spans.Span
	for i := range chunks {
		if from, to := t.clip(&chunks[i]); from < to {
			touching = append(touching, chunks[i])
		}
	}
	return touching
}

// omega returns PrecisionΩ by the chunks that count as touching.
func omega(touching []spans.Span, relevant spans.Set) float64 {
	if relevant.Empty() {
		return 0
	}
	return spans.IoU(spans.Union(touching...), relevant)
}
