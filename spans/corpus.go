package spans

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rageval/rageval/internal/fingerprint"
)

// Corpus is an ordered collection of documents with distinct IDs. It is
// immutable. Corpora are made by [NewCorpus] and compared with Equal.
type Corpus struct {
	docs     []*Document
	byID     map[DocumentID]*Document
	metadata map[string]string

	hashing     sync.Once
	fingerprint string
}

// NewCorpus returns the corpus of the given documents in the given order.
// Two documents with one ID, or a nil document, are an error. A corpus may be
// empty, though no evaluation accepts one that is.
func NewCorpus(docs ...*Document) (*Corpus, error) { return NewCorpusWith(nil, docs...) }

// NewCorpusWith is [NewCorpus] with metadata about the corpus as a whole,
// such as where it was read from. The metadata is copied.
func NewCorpusWith(metadata map[string]string, docs ...*Document) (*Corpus, error) {
	c := &Corpus{
		docs:     slices.Clone(docs),
		byID:     make(map[DocumentID]*Document, len(docs)),
		metadata: maps.Clone(metadata),
	}
	for i, d := range docs {
		if d == nil {
			return nil, fmt.Errorf("document %d of the corpus is nil", i)
		}
		if _, ok := c.byID[d.id]; ok {
			return nil, fmt.Errorf("two documents of the corpus have the ID %s", d.id)
		}
		c.byID[d.id] = d
	}
	return c, nil
}

// Document returns the document with the given ID and whether there is one.
func (c *Corpus) Document(id DocumentID) (*Document, bool) {
	d, ok := c.byID[id]
	return d, ok
}

// Len returns the number of documents.
func (c *Corpus) Len() int { return len(c.docs) }

// All yields the documents in the order in which they were given.
func (c *Corpus) All() iter.Seq[*Document] { return slices.Values(c.docs) }

// Metadata returns a copy of the corpus's metadata: nil if none was given.
func (c *Corpus) Metadata() map[string]string { return maps.Clone(c.metadata) }

// Equal reports whether both corpora hold equal documents in the same order
// and equal metadata. A nil corpus equals only nil.
func (c *Corpus) Equal(d *Corpus) bool {
	if c == nil || d == nil {
		return c == d
	}
	return maps.Equal(c.metadata, d.metadata) &&
		slices.EqualFunc(c.docs, d.docs, (*Document).Equal)
}

// Fingerprint identifies the texts of the corpus: the SHA-256, in hexadecimal,
// over the ID and the text of each document in order of ID, each preceded by
// its length in bytes as a big-endian 64-bit integer. Metadata and the order of
// the documents are not part of it. It is computed once, in time linear in the
// texts.
func (c *Corpus) Fingerprint() string {
	c.hashing.Do(func() { c.fingerprint = c.hash() })
	return c.fingerprint
}

func (c *Corpus) hash() string {
	docs := slices.SortedFunc(c.All(), func(a, b *Document) int { return strings.Compare(string(a.id), string(b.id)) })
	var h fingerprint.Hash
	for _, d := range docs {
		h.Add(string(d.id), d.text)
	}
	return h.String()
}
