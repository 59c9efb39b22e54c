package chromem

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/philippgille/chromem-go"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/internal/stored"
)

// Keys of a document's metadata. Those of the chunk's own metadata that begin
// with reserved are stored with escape before them.
const (
	reserved = "ragtest."
	escape   = "ragtest.metadata."

	kindKey  = "ragtest.kind"
	idKey    = "ragtest.id"
	docKey   = "ragtest.doc"
	startKey = "ragtest.start" // in characters, as in [spans.Span]
	endKey   = "ragtest.end"
	zeroKey  = "ragtest.zero_vector"
)

func isZero(doc chromem.Document) bool { return doc.Metadata[zeroKey] == "true" }

func zeroVector(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// encode returns the document of a chunk, which shares nothing with the
// arguments. In place of a zero vector, which chromem-go cannot search, it has
// the first unit vector, and a mark.
func encode[C chunkers.Indexed](id string, chunk C, vector []float32) chromem.Document {
	embedding := make([]float32, len(vector))
	exact.Normalize(embedding, vector)
	zero := zeroVector(embedding)
	if zero {
		embedding[0] = 1
	}
	f, kind := stored.Of(chunk), stored.KindOf[C]()
	own := map[string]string{zeroKey: strconv.FormatBool(zero), kindKey: kind, idKey: f.ID, docKey: f.Doc}
	if kind == stored.PositionAware {
		own[startKey], own[endKey] = strconv.Itoa(f.Start), strconv.Itoa(f.End)
	}
	for key, value := range f.Metadata {
		if strings.HasPrefix(key, reserved) {
			key = escape + key
		}
		own[key] = value
	}
	return chromem.Document{ID: id, Metadata: own, Embedding: embedding, Content: f.Text}
}

// decode returns the chunk that encode was given. Metadata that was empty is
// nil.
func decode[C chunkers.Indexed](doc chromem.Document) (chunk C, err error) {
	f := stored.Fields{ID: doc.Metadata[idKey], Doc: doc.Metadata[docKey], Text: doc.Content}
	for key, value := range doc.Metadata {
		if rest, ok := strings.CutPrefix(key, escape); ok {
			key = rest
		} else if strings.HasPrefix(key, reserved) {
			continue
		}
		if f.Metadata == nil {
			f.Metadata = make(map[string]string)
		}
		f.Metadata[key] = value
	}
	kind := stored.KindOf[C]()
	if got := doc.Metadata[kindKey]; got != kind {
		return chunk, fmt.Errorf("document %q: %s is %q, want %q", doc.ID, kindKey, got, kind)
	}
	if kind == stored.PositionAware {
		if f.Start, err = strconv.Atoi(doc.Metadata[startKey]); err != nil {
			return chunk, fmt.Errorf("document %q: parsing %s: %w", doc.ID, startKey, err)
		}
		if f.End, err = strconv.Atoi(doc.Metadata[endKey]); err != nil {
			return chunk, fmt.Errorf("document %q: parsing %s: %w", doc.ID, endKey, err)
		}
	}
	if chunk, err = stored.Chunk[C](f); err != nil {
		return chunk, fmt.Errorf("document %q: parsing %s: %w", doc.ID, idKey, err)
	}
	return chunk, nil
}
