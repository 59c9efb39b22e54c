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
// Note: Chroma's own code also counts a chunk that begins where a relevant span
// ends, or ends where one begins, and shares nothing with it. That moves the
// figure down, for some of the published rows by one percentage point.
//
// It takes O(n log r) time for n chunks and r relevant spans.
func PrecisionOmega(chunks, relevant []spans.Span) float64 {
	set := spans.Union(relevant...)
	merged, _ := omegas(touching(chunks, set), set)
	return merged
}

// PrecisionOmegaRedundant is [PrecisionOmega] with the redundancy of
// [SpanPrecisionRedundant]: characters that several chunks hold count once above the
// line and once for each chunk below it, so that overlapping chunks score less.
//
//	|touching ∩ relevant| / (Σ |chunk| + |relevant \ touching|)
func PrecisionOmegaRedundant(chunks, relevant []spans.Span) float64 {
	set := spans.Union(relevant...)
	_, redundant := omegas(touching(chunks, set), set)
	return redundant
}

func touching(chunks []spans.Span, set spans.Set) []spans.Span {
	t := truth(nil).reset(set)
	var touching []spans.Span
	for _, c := range chunks {
		if t.charsIn(c.Doc, c.Start, c.End) > 0 {
			touching = append(touching, c)
		}
	}
	return touching
}

// omegas returns both variants for the chunks that touch a relevant set.
func omegas(touching []spans.Span, relevant spans.Set) (merged, redundant float64) {
	if relevant.Empty() {
		return 0, 0
	}
	union := spans.Union(touching...)
	summed := 0
	for _, c := range touching {
		summed += c.Len()
	}
	covered := spans.OverlapLen(union, relevant)
	missed := relevant.Len() - covered
	return float64(covered) / float64(union.Len()+missed), float64(covered) / float64(summed+missed)
}
