package ragtest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/invalid"
	"github.com/rageval/rageval/spans"
)

const defaultK = 5

// setup is what an evaluation of either level is given. Once settled it is valid
// and complete.
type setup[C chunkers.Indexed] struct {
	name         string
	corpus       *spans.Corpus
	queries      []Query
	chunker      any // nil: nothing is chunked or indexed
	embedder     Embedder
	store        VectorStore[C]
	retriever    Retriever[C]
	reranker     Reranker[C]
	k, fetchK    int
	maxUnlocated int
	slices       []conditions  // what the result has means of, beside all queries
	tokens       *tokenCounter // of retrieved chunks
	tokenBudget  int           // of those that are judged together; 0: none
	times        int           // that all queries are run; 0: 1
}

// settle validates the fields, and fills in what may be left out.
func (s *setup[C]) settle() error {
	if err := s.checkComponents(); err != nil {
		return err
	}
	switch {
	case s.corpus == nil:
		return errors.New("field Corpus: nil, want a corpus of at least one document")
	case s.corpus.Len() == 0:
		return errors.New("field Corpus: no document, want at least one")
	case len(s.queries) == 0:
		return errors.New("field Queries: no query, want at least one")
	case s.embedder == nil && s.retriever == nil:
		return errors.New("fields Embedder and Retriever: both are nil, want one of them set")
	case s.embedder != nil && s.retriever != nil:
		return errors.New("fields Embedder and Retriever: both are set, want one of them")
	case s.store != nil && s.retriever != nil:
		return errors.New("fields Store and Retriever: both are set; a Retriever brings its own store")
	case s.chunker == nil && s.retriever == nil:
		return errors.New("field Chunker: nil, which only a Retriever that is indexed already allows")
	case s.k < 0:
		return fmt.Errorf("field K: got %d, want at least 1, or 0 for %d", s.k, defaultK)
	case s.maxUnlocated < 0:
		return fmt.Errorf("field MaxUnlocated: got %d, want at least 0", s.maxUnlocated)
	case s.tokens.length.Of == nil && s.tokens.length.Name != "":
		return fmt.Errorf("field Tokens: %s has no function that counts", s.tokens.length.Name)
	case s.tokens.length.Of != nil && s.tokens.length.Name == "":
		return errors.New("field Tokens: has no name, which results tell counts apart by")
	case s.tokenBudget < 0:
		return fmt.Errorf("field TokenBudget: got %d, want at least 1, or 0 for none", s.tokenBudget)
	case s.tokenBudget > 0 && s.tokens.length.Of == nil:
		return errors.New("field TokenBudget: set without Tokens, which say how to count them")
	case s.times < 0:
		return fmt.Errorf("field Repeat: got %d, want at least 1, or 0 for 1", s.times)
	}
	if s.k == 0 {
		s.k = defaultK
	}
	switch {
	case s.fetchK == 0 && s.reranker != nil:
		s.fetchK = max(s.k, 4*min(s.k, math.MaxInt/4))
	case s.fetchK == 0:
		s.fetchK = s.k
	case s.fetchK < s.k:
		return fmt.Errorf("field FetchK: got %d, want at least K = %d, or 0", s.fetchK, s.k)
	}
	if s.retriever == nil {
		s.retriever = newDense(s.embedder, s.store)
	}
	return s.nameQueries()
}

// checkComponents returns an error for a component that holds a nil pointer, and
// that of one that says itself that it is not valid.
func (s *setup[C]) checkComponents() error {
	for _, c := range []struct {
		field     string
		component any
	}{
		{"Chunker", s.chunker}, {"Embedder", s.embedder}, {"Store", s.store}, {"Retriever", s.retriever}, {"Reranker", s.reranker},
	} {
		if holdsNil(c.component) {
			return fmt.Errorf("field %s: holds a nil %T, want one that is set, or the field left out", c.field, c.component)
		}
		if v, ok := c.component.(chunkers.Validator); ok {
			if err := v.Validate(); err != nil {
				return fmt.Errorf("field %s: %w", c.field, err)
			}
		}
	}
	return nil
}

// holdsNil reports whether component is not nil itself, but a nil pointer or
// function.
func holdsNil(component any) bool {
	switch v := reflect.ValueOf(component); v.Kind() {
	case reflect.Pointer, reflect.Func:
		return v.IsNil()
	}
	return false
}

// nameQueries gives IDs to the queries that have none.
func (s *setup[C]) nameQueries() error {
	s.queries = slices.Clone(s.queries)
	first := make(map[QueryID]int, len(s.queries))
	for i := range s.queries {
		q := &s.queries[i]
		if q.Text == "" {
			return fmt.Errorf("query %d (ID %q): the text is empty", i, q.ID)
		}
		if at := invalid.UTF8(q.Text); at >= 0 {
			return fmt.Errorf("query %d (ID %q): the text is not valid UTF-8 at byte %d", i, q.ID, at)
		}
		if q.ID == "" {
			q.ID = NewQueryID(q.Text)
		}
		if j, ok := first[q.ID]; ok {
			return fmt.Errorf("queries %d (%q) and %d (%q) have the same ID %s", j, abbreviate(s.queries[j].Text, 60), i, abbreviate(q.Text, 60), q.ID)
		}
		first[q.ID] = i
	}
	return nil
}

// validText returns s with a replacement character for what is not valid UTF-8,
// as JSON would have it.
func validText(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

// query names query i in an error.
func (s *setup[C]) query(i int) string {
	return fmt.Sprintf("query %s (%q)", s.queries[i].ID, abbreviate(s.queries[i].Text, 60))
}

func (s *setup[C]) texts() []string {
	texts := make([]string, len(s.queries))
	for i, q := range s.queries {
		texts[i] = q.Text
	}
	return texts
}

func (s *setup[C]) components() Components {
	c := Components{Chunker: nameOf(s.chunker), Reranker: nameOf(s.reranker)}
	if d, ok := s.retriever.(*dense[C]); ok {
		c.Embedder, c.Store = nameOf(d.embedder), nameOf(d.store)
	} else {
		c.Retriever = nameOf(s.retriever)
	}
	return c
}
