package lexical

import "github.com/kljensen/snowball/english"

// lexicon numbers the terms that it meets, from 0 in the order in which it
// meets them: what the tokens of texts become without stop words and after
// stemming. It remembers the stem of every token, so that no token is stemmed
// twice. It is not safe for concurrent use.
type lexicon struct {
	plain   bool // tokens are terms as they are
	scanner *scanner
	byToken map[string]int32 // -1: a stop word
	byTerm  map[string]int32
	terms   []string
	visit   func(term int32)

	// The terms of one text, in order of their first occurrence, and how often
	// each term occurs in it.
	distinct []int32
	counts   []int32
	tally    func(term int32) // countTerm, bound once
}

func newLexicon() *lexicon {
	l := &lexicon{byToken: make(map[string]int32), byTerm: make(map[string]int32)}
	l.scanner = newScanner(func(token []byte) {
		if term := l.term(token); term >= 0 {
			l.visit(term)
		}
	})
	l.tally = l.countTerm
	return l
}

// scan calls visit for each term of text, in order.
func (l *lexicon) scan(text string, visit func(term int32)) {
	l.visit = visit
	l.scanner.scan(text)
}

// count sets distinct and counts to the terms of text, and returns how many
// there are, counting repetitions.
func (l *lexicon) count(text string) int {
	for _, term := range l.distinct {
		l.counts[term] = 0
	}
	l.distinct = l.distinct[:0]
	total := 0
	l.scan(text, l.tally)
	for _, term := range l.distinct {
		total += int(l.counts[term])
	}
	return total
}

func (l *lexicon) countTerm(term int32) {
	if l.counts[term] == 0 {
		l.distinct = append(l.distinct, term)
	}
	l.counts[term]++
}

func (l *lexicon) term(token []byte) int32 {
	if term, ok := l.byToken[string(token)]; ok {
		return term
	}
	t := string(token)
	term := int32(-1)
	switch {
	case l.plain:
		term = l.number(t)
	case !stopWords[t]:
		term = l.number(stem(t))
	}
	l.byToken[t] = term
	return term
}

func (l *lexicon) number(text string) int32 {
	term, ok := l.byTerm[text]
	if !ok {
		term = int32(len(l.terms))
		l.byTerm[text] = term
		l.terms = append(l.terms, text)
		l.counts = append(l.counts, 0)
	}
	return term
}

// stem stems tokens of the letters a to z by the English Snowball stemmer, and
// leaves all others as they are.
func stem(token string) string {
	for i := range len(token) {
		if c := token[i]; (c < 'a' || c > 'z') && c != '\'' {
			return token
		}
	}
	return english.Stem(token, true)
}
