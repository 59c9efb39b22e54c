// Package stored takes chunks apart for stores that keep them outside the process,
// and puts them together again.
package stored

import (
	"fmt"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// The kinds of chunks.
const (
	Plain         = "chunk"                // chunkers.Chunk
	PositionAware = "position-aware chunk" // chunkers.PositionAwareChunk
)

// KindOf returns the kind of C.
func KindOf[C chunkers.Indexed]() string {
	var chunk C
	if _, ok := any(chunk).(chunkers.PositionAwareChunk); ok {
		return PositionAware
	}
	return Plain
}

// Fields are what a chunk of either kind consists of. Start and End, in characters
// as in [spans.Span], are those of a position-aware chunk.
type Fields struct {
	ID, Doc, Text string
	Start, End    int
	Metadata      map[string]string
}

// Of returns the fields of a chunk, which share its metadata.
func Of[C chunkers.Indexed](chunk C) Fields {
	switch c := any(chunk).(type) {
	case chunkers.Chunk:
		return Fields{ID: c.ID.String(), Doc: string(c.Doc), Text: c.Text, Metadata: c.Metadata}
	case chunkers.PositionAwareChunk:
		return Fields{ID: c.ID.String(), Doc: string(c.Span.Doc), Text: c.Text, Start: c.Span.Start, End: c.Span.End, Metadata: c.Metadata}
	}
	panic(fmt.Sprintf("stored: a chunk of type %T", chunk)) // Indexed has two members
}

// Chunk returns the chunk of the fields. The error is that of an ID of another form.
func Chunk[C chunkers.Indexed](f Fields) (chunk C, err error) {
	switch c := any(&chunk).(type) {
	case *chunkers.Chunk:
		c.Doc, c.Text, c.Metadata = spans.DocumentID(f.Doc), f.Text, f.Metadata
		err = c.ID.UnmarshalText([]byte(f.ID))
	case *chunkers.PositionAwareChunk:
		c.Span = spans.Span{Doc: spans.DocumentID(f.Doc), Start: f.Start, End: f.End}
		c.Text, c.Metadata = f.Text, f.Metadata
		err = c.ID.UnmarshalText([]byte(f.ID))
	}
	return chunk, err
}
