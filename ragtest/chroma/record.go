package chroma

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// Keys of a record's metadata. A key of the chunk's own metadata that Chroma or
// this package would take for one of its own is stored with escape before it.
const (
	reserved = "ragtest."
	escape   = "ragtest.metadata."

	kindKey  = "ragtest.kind"
	idKey    = "ragtest.id"
	docKey   = "ragtest.doc"
	startKey = "ragtest.start" // in characters, as in [spans.Span]
	endKey   = "ragtest.end"
)

const (
	chunkKind              = "chunk"
	positionAwareChunkKind = "position-aware chunk"
)

// plainKey reports whether Chroma stores a key as it is. It drops "chroma:…", and
// the signs with which its query language begins are better left alone.
func plainKey(key string) bool {
	first, _ := utf8.DecodeRuneInString(key)
	return (unicode.IsLetter(first) || unicode.IsDigit(first) || first == '_') &&
		!strings.HasPrefix(key, reserved) && !strings.HasPrefix(strings.ToLower(key), "chroma:")
}

// encode returns what is stored of a chunk beside its vector. It shares nothing
// with the chunk.
func encode[C chunkers.Indexed](chunk C) (record, error) {
	own := map[string]any{}
	var users map[string]string
	switch c := any(chunk).(type) {
	case chunkers.Chunk:
		own[kindKey], own[idKey], own[docKey] = chunkKind, c.ID.String(), string(c.Doc)
		users = c.Metadata
	case chunkers.PositionAwareChunk:
		own[kindKey], own[idKey], own[docKey] = positionAwareChunkKind, c.ID.String(), string(c.Span.Doc)
		own[startKey], own[endKey] = c.Span.Start, c.Span.End
		users = c.Metadata
	}
	if err := validText("the document ID", own[docKey].(string)); err != nil {
		return record{}, err
	}
	text := chunk.IndexText()
	if err := validText("the text", text); err != nil {
		return record{}, err
	}
	for key, value := range users {
		if err := validText("a metadata key", key); err != nil {
			return record{}, err
		}
		if err := validText(fmt.Sprintf("metadata %q", key), value); err != nil {
			return record{}, err
		}
		if !plainKey(key) {
			key = escape + key
		}
		own[key] = value
	}
	return record{text, own}, nil
}

func validText(what, s string) error {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return fmt.Errorf("%s is not UTF-8 at byte %d, %#02x: Chroma cannot hold it", what, i, s[i])
			}
		}
	}
	return nil
}

// decode returns the chunk that encode was given. Metadata that was empty is
// nil.
func decode[C chunkers.Indexed](r record) (chunk C, err error) {
	var users map[string]string
	for key, value := range r.metadata {
		if rest, ok := strings.CutPrefix(key, escape); ok {
			key = rest
		} else if strings.HasPrefix(key, reserved) {
			continue
		}
		s, ok := value.(string)
		if !ok {
			return chunk, fmt.Errorf("metadata %q is %v, want a string", key, value)
		}
		if users == nil {
			users = make(map[string]string)
		}
		users[key] = s
	}
	doc, ok := r.metadata[docKey].(string)
	if !ok {
		return chunk, fmt.Errorf("%s is %v, want a string", docKey, r.metadata[docKey])
	}
	id, ok := r.metadata[idKey].(string)
	if !ok {
		return chunk, fmt.Errorf("%s is %v, want a string", idKey, r.metadata[idKey])
	}
	kind := r.metadata[kindKey]
	switch c := any(&chunk).(type) {
	case *chunkers.Chunk:
		if kind != chunkKind {
			return chunk, fmt.Errorf("%s is %v, want %q", kindKey, kind, chunkKind)
		}
		c.Doc, c.Text, c.Metadata = spans.DocumentID(doc), r.document, users
		err = c.ID.UnmarshalText([]byte(id))
	case *chunkers.PositionAwareChunk:
		if kind != positionAwareChunkKind {
			return chunk, fmt.Errorf("%s is %v, want %q", kindKey, kind, positionAwareChunkKind)
		}
		c.Text, c.Metadata = r.document, users
		c.Span.Doc = spans.DocumentID(doc)
		if c.Span.Start, err = integer(r.metadata, startKey); err != nil {
			return chunk, err
		}
		if c.Span.End, err = integer(r.metadata, endKey); err != nil {
			return chunk, err
		}
		err = c.ID.UnmarshalText([]byte(id))
	}
	if err != nil {
		return chunk, fmt.Errorf("parsing %s: %w", idKey, err)
	}
	return chunk, nil
}

func integer(metadata map[string]any, key string) (int, error) {
	number, ok := metadata[key].(json.Number)
	n, err := strconv.Atoi(number.String())
	if !ok || err != nil {
		return 0, fmt.Errorf("%s is %v, want an integer", key, metadata[key])
	}
	return n, nil
}
