package pgvector

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/spans"
)

// row is a chunk as the columns of the table hold it.
type row struct {
	id, doc    string
	start, end *int64 // in characters, as in [spans.Span]; nil for chunks without a place
	text       string
	metadata   *string // a JSON object of strings; nil if there is none

	// quoted says that doc, text, and the keys and values of metadata are Go
	// string literals, because one of them holds a NUL or is not valid UTF-8,
	// which PostgreSQL stores neither as text nor in JSON.
	quoted bool
}

func needsQuoting(s string) bool { return strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) }

// encode returns the row of a chunk.
func encode[C chunkers.Indexed](chunk C) row {
	var r row
	var metadata map[string]string
	switch c := any(chunk).(type) {
	case chunkers.Chunk:
		r = row{id: c.ID.String(), doc: string(c.Doc), text: c.Text}
		metadata = c.Metadata
	case chunkers.PositionAwareChunk:
		start, end := int64(c.Span.Start), int64(c.Span.End)
		r = row{id: c.ID.String(), doc: string(c.Span.Doc), start: &start, end: &end, text: c.Text}
		metadata = c.Metadata
	}
	r.quoted = needsQuoting(r.doc) || needsQuoting(r.text)
	for key, value := range metadata {
		r.quoted = r.quoted || needsQuoting(key) || needsQuoting(value)
	}
	if r.quoted {
		r.doc, r.text = strconv.Quote(r.doc), strconv.Quote(r.text)
		literals := make(map[string]string, len(metadata))
		for key, value := range metadata {
			literals[strconv.Quote(key)] = strconv.Quote(value)
		}
		metadata = literals
	}
	if len(metadata) > 0 {
		object, err := json.Marshal(metadata)
		if err != nil {
			panic(err) // a map of strings can be marshalled
		}
		r.metadata = new(string(object))
	}
	return r
}

// decode returns the chunk that encode was given. Metadata that was empty is
// nil.
func decode[C chunkers.Indexed](r row) (chunk C, err error) {
	var metadata map[string]string
	if r.metadata != nil {
		if err := json.Unmarshal([]byte(*r.metadata), &metadata); err != nil {
			return chunk, fmt.Errorf("column metadata: %w", err)
		}
	}
	if r.quoted {
		u := unquoter{}
		r.doc, r.text = u.unquote("doc", r.doc), u.unquote("text", r.text)
		plain := make(map[string]string, len(metadata))
		for key, value := range metadata {
			plain[u.unquote("metadata", key)] = u.unquote("metadata", value)
		}
		if u.err != nil {
			return chunk, u.err
		}
		if len(plain) > 0 {
			metadata = plain
		}
	}
	switch c := any(&chunk).(type) {
	case *chunkers.Chunk:
		c.Doc, c.Text, c.Metadata = spans.DocumentID(r.doc), r.text, metadata
		err = c.ID.UnmarshalText([]byte(r.id))
	case *chunkers.PositionAwareChunk:
		if r.start == nil || r.end == nil {
			return chunk, fmt.Errorf("columns start_char and end_char: NULL, want a place")
		}
		c.Span = spans.Span{Doc: spans.DocumentID(r.doc), Start: int(*r.start), End: int(*r.end)}
		c.Text, c.Metadata = r.text, metadata
		err = c.ID.UnmarshalText([]byte(r.id))
	}
	if err != nil {
		return chunk, fmt.Errorf("column chunk_id: %w", err)
	}
	return chunk, nil
}

// unquoter keeps the first error.
type unquoter struct{ err error }

func (u *unquoter) unquote(column, literal string) string {
	s, err := strconv.Unquote(literal)
	if err != nil && u.err == nil {
		u.err = fmt.Errorf("column %s: %q is not a Go string literal: %w", column, literal, err)
	}
	return s
}

// unitVector returns the vector scaled to length 1, and nil for the zero vector,
// whose cosine pgvector has no answer for. pgvector adds up in float32, where
// the squares of components like 1e30 or 1e-30 have no room.
func unitVector(v []float32) []float32 {
	unit := make([]float32, len(v))
	exact.Normalize(unit, v)
	for _, x := range unit {
		if x != 0 {
			return unit
		}
	}
	return nil
}

// vectorText returns pgvector's text form of a vector, which reads back as the
// same bits; nil (NULL) for none.
func vectorText(v []float32) *string {
	if v == nil {
		return nil
	}
	text := make([]byte, 0, 12*len(v)+2)
	text = append(text, '[')
	for i, x := range v {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, float64(x), 'g', -1, 32)
	}
	return new(string(append(text, ']')))
}

// vectorBinary returns pgvector's binary form of a vector: the number of
// components and a zero, in 16 bits each, and the components, all big-endian;
// nil (NULL) for none.
//
// Note: these few lines are all that a store would use of
// github.com/pgvector/pgvector-go, which brings in a type and a registration on
// every connection.
func vectorBinary(v []float32) []byte {
	if v == nil {
		return nil
	}
	data := make([]byte, 0, 4+4*len(v))
	data = binary.BigEndian.AppendUint16(data, uint16(len(v)))
	data = binary.BigEndian.AppendUint16(data, 0)
	for _, x := range v {
		data = binary.BigEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}
