package chromem

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/philippgille/chromem-go"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/spans"
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

const (
	chunkKind              = "chunk"
	positionAwareChunkKind = "position-aware chunk"
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
	own := map[string]string{zeroKey: strconv.FormatBool(zero)}
	var users map[string]string
	switch c := any(chunk).(type) {
	case chunkers.Chunk:
		own[kindKey], own[idKey], own[docKey] = chunkKind, c.ID.String(), string(c.Doc)
		users = c.Metadata
	case chunkers.PositionAwareChunk:
		own[kindKey], own[idKey], own[docKey] = positionAwareChunkKind, c.ID.String(), string(c.Span.Doc)
		own[startKey], own[endKey] = strconv.Itoa(c.Span.Start), strconv.Itoa(c.Span.End)
		users = c.Metadata
	}
	for key, value := range users {
		if strings.HasPrefix(key, reserved) {
			key = escape + key
		}
		own[key] = value
	}
	return chromem.Document{ID: id, Metadata: own, Embedding: embedding, Content: chunk.IndexText()}
}

// decode returns the chunk that encode was given. Metadata that was empty is
// nil.
func decode[C chunkers.Indexed](doc chromem.Document) (chunk C, err error) {
	var users map[string]string
	for key, value := range doc.Metadata {
		if rest, ok := strings.CutPrefix(key, escape); ok {
			key = rest
		} else if strings.HasPrefix(key, reserved) {
			continue
		}
		if users == nil {
			users = make(map[string]string)
		}
		users[key] = value
	}
	kind := doc.Metadata[kindKey]
	switch c := any(&chunk).(type) {
	case *chunkers.Chunk:
		if kind != chunkKind {
			return chunk, fmt.Errorf("document %q: %s is %q, want %q", doc.ID, kindKey, kind, chunkKind)
		}
		c.Doc, c.Text, c.Metadata = spans.DocumentID(doc.Metadata[docKey]), doc.Content, users
		err = c.ID.UnmarshalText([]byte(doc.Metadata[idKey]))
	case *chunkers.PositionAwareChunk:
		if kind != positionAwareChunkKind {
			return chunk, fmt.Errorf("document %q: %s is %q, want %q", doc.ID, kindKey, kind, positionAwareChunkKind)
		}
		c.Text, c.Metadata = doc.Content, users
		c.Span.Doc = spans.DocumentID(doc.Metadata[docKey])
		if c.Span.Start, err = strconv.Atoi(doc.Metadata[startKey]); err != nil {
			return chunk, fmt.Errorf("document %q: parsing %s: %w", doc.ID, startKey, err)
		}
		if c.Span.End, err = strconv.Atoi(doc.Metadata[endKey]); err != nil {
			return chunk, fmt.Errorf("document %q: parsing %s: %w", doc.ID, endKey, err)
		}
		err = c.ID.UnmarshalText([]byte(doc.Metadata[idKey]))
	}
	if err != nil {
		return chunk, fmt.Errorf("document %q: parsing %s: %w", doc.ID, idKey, err)
	}
	return chunk, nil
}
