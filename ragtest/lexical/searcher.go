package lexical

import (
	"cmp"
	"slices"
)

// searcher scores chunks for one query after the other.
type searcher struct {
	lexicon *lexicon
	scores  []float64 // of each chunk; 0 between queries
	matches []int32   // the chunks whose score is not 0
	best    []ranked  // a heap, the worst on top, until it is sorted
}

type ranked struct {
	chunk int32
	score float64
}

// compare orders the better of two first.
func (a ranked) compare(b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.chunk, b.chunk))
}

// search returns the k best chunks, best first; with fill, also chunks that
// match no term, if k leaves room. The result is valid until the next search.
func (s *searcher) search(query string, terms map[string]int32, starts []int, postings []posting, k int, fill bool) []ranked {
	s.lexicon.count(query)
	for _, local := range s.lexicon.distinct {
		term, ok := terms[s.lexicon.terms[local]]
		if !ok {
			continue
		}
		n := float64(s.lexicon.counts[local])
		for _, p := range postings[starts[term]:starts[term+1]] {
			if s.scores[p.chunk] == 0 {
				s.matches = append(s.matches, p.chunk)
			}
			s.scores[p.chunk] += float64(n * float64(p.score))
		}
	}

	s.best = s.best[:0]
	for _, chunk := range s.matches {
		s.push(ranked{chunk, s.scores[chunk]}, k)
	}
	slices.SortFunc(s.best, ranked.compare)
	if fill {
		for chunk := 0; chunk < len(s.scores) && len(s.best) < k; chunk++ {
			if s.scores[chunk] == 0 {
				s.best = append(s.best, ranked{chunk: int32(chunk)})
			}
		}
	}

	for _, chunk := range s.matches {
		s.scores[chunk] = 0
	}
	s.matches = s.matches[:0]
	return s.best
}

// push adds x to the heap of the k best.
func (s *searcher) push(x ranked, k int) {
	if len(s.best) < k {
		s.best = append(s.best, x)
		for i := len(s.best) - 1; i > 0; {
			parent := (i - 1) / 2
			if s.best[i].compare(s.best[parent]) <= 0 {
				return
			}
			s.best[i], s.best[parent] = s.best[parent], s.best[i]
			i = parent
		}
		return
	}
	if k == 0 || x.compare(s.best[0]) >= 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= k {
			break
		}
		if child+1 < k && s.best[child+1].compare(s.best[child]) > 0 {
			child++
		}
		if x.compare(s.best[child]) >= 0 {
			break
		}
		s.best[i] = s.best[child]
		i = child
	}
	s.best[i] = x
}
