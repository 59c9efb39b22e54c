package chroma

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/invalid"
	"github.com/rageval/rageval/internal/stored"
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
	f := stored.Of(chunk)
	if err := validText("the document ID", f.Doc); err != nil {
		return record{}, err
	}
	if err := validText("the text", f.Text); err != nil {
		return record{}, err
	}
	kind := stored.KindOf[C]()
	own := map[string]any{kindKey: kind, idKey: f.ID, docKey: f.Doc}
	if kind == stored.PositionAware {
		own[startKey], own[endKey] = f.Start, f.End
	}
	for key, value := range f.Metadata {
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
	return record{f.Text, own}, nil
}

func validText(what, s string) error {
	if at := invalid.UTF8(s); at >= 0 {
		return fmt.Errorf("%s is not UTF-8 at byte %d, %#02x: Chroma cannot hold it", what, at, s[at])
	}
	return nil
}

// decode returns the chunk that encode was given. Metadata that was empty is
// nil.
func decode[C chunkers.Indexed](r record) (chunk C, err error) {
	f := stored.Fields{Text: r.document}
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
		if f.Metadata == nil {
			f.Metadata = make(map[string]string)
		}
		f.Metadata[key] = s
	}
	var ok bool
	if f.Doc, ok = r.metadata[docKey].(string); !ok {
		return chunk, fmt.Errorf("%s is %v, want a string", docKey, r.metadata[docKey])
	}
	if f.ID, ok = r.metadata[idKey].(string); !ok {
		return chunk, fmt.Errorf("%s is %v, want a string", idKey, r.metadata[idKey])
	}
	kind := stored.KindOf[C]()
	if got := r.metadata[kindKey]; got != kind {
		return chunk, fmt.Errorf("%s is %v, want %q", kindKey, got, kind)
	}
	if kind == stored.PositionAware {
		if f.Start, err = integer(r.metadata, startKey); err != nil {
			return chunk, err
		}
		if f.End, err = integer(r.metadata, endKey); err != nil {
			return chunk, err
		}
	}
	if chunk, err = stored.Chunk[C](f); err != nil {
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
