package beam

import (
	"context"
	"fmt"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/excerpt"
	"github.com/rageval/rageval/internal/invalid"
	"github.com/rageval/rageval/spans"
)

// cut cuts a document as [ragtest.TokenLevel] does.
func cut(ctx context.Context, c chunkers.PositionAwareChunker, doc *spans.Document) ([]chunkers.PositionAwareChunk, tally, error) {
	var t tally
	rewrites := false
	if r, ok := c.(chunkers.Rewriter); ok {
		rewrites = r.RewritesText()
	}
	pieces, err := c.ChunkWithPositions(ctx, doc)
	if err != nil {
		return nil, t, err
	}
	chunks := make([]chunkers.PositionAwareChunk, 0, len(pieces))
	for i, p := range pieces {
		if p.Text == "" {
			t.empty++
			continue
		}
		if p.Start == -1 {
			t.skipped++
			if t.first == "" {
				t.first = fmt.Sprintf("chunk %d of %s, %q", i, doc.ID(), excerpt.Line(p.Text, 80))
			}
			continue
		}
		span, err := doc.CharSpan(p.Start, p.End)
		if err != nil {
			return nil, t, fmt.Errorf("piece %d: %w", i, err)
		}
		if !rewrites && p.Text != doc.Text()[p.Start:p.End] {
			return nil, t, fmt.Errorf("piece %d: its text %q is not the document's bytes [%d:%d], %q", i, excerpt.Line(p.Text, 60), p.Start, p.End, excerpt.Line(doc.Text()[p.Start:p.End], 60))
		}
		if at := invalid.UTF8(p.Text); rewrites && at >= 0 {
			return nil, t, fmt.Errorf("piece %d: its text is not valid UTF-8 at byte %d", i, at)
		}
		chunks = append(chunks, chunkers.PositionAwareChunk{
			ID: chunkers.NewPositionAwareChunkID(p.Text), Span: span, Text: p.Text, Metadata: p.Metadata})
	}
	t.chunks = len(chunks)
	return chunks, t, nil
}

// check returns the error of a sweep in which too many chunks have no place.
func (t tally) check(maxUnlocated int) error {
	if t.skipped > maxUnlocated {
		return fmt.Errorf("%s; at most MaxUnlocated = %d may", t.skippedChunks(), maxUnlocated)
	}
	return nil
}

func (t tally) skippedChunks() string {
	return fmt.Sprintf("%d of %d chunks could not be located in their document and were skipped; the first is %s", t.skipped, t.chunks+t.skipped, t.first)
}

func (t tally) warnings() []string {
	var list []string
	if t.skipped > 0 {
		list = append(list, t.skippedChunks())
	}
	if t.empty > 0 {
		list = append(list, fmt.Sprintf("%d chunks without text were skipped", t.empty))
	}
	return list
}

func nameOf(component any) string {
	switch c := component.(type) {
	case nil:
		return ""
	case fmt.Stringer:
		return c.String()
	}
	return fmt.Sprintf("%T", component)
}
