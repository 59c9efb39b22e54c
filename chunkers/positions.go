package chunkers

import (
	"context"
	"errors"

	"github.com/rageval/rageval/internal/align"
	"github.com/rageval/rageval/spans"
)

// WithPositions makes a chunker position-aware that only returns texts. A
// chunker that is position-aware already is returned as it is.
//
// A chunk's text alone does not tell its place, for texts repeat: headings,
// tables, disclaimers, whole passages. The adapter therefore calls
// c.Chunk(ctx, doc.Text()) and finds the places of all chunks together:
//
//  1. It lists where each chunk occurs exactly. If some chunk occurs nowhere,
//     it also lists where each occurs up to white space: there a run of Unicode
//     white space in either matches any run in the other, and at the ends of
//     the chunk none at all.
//  2. It chooses places with strictly increasing starts that leave the fewest
//     characters, not counting white space, uncovered before, between and after
//     the chunks. Among those it leaves out the fewest chunks, prefers exact
//     occurrences, and prefers overlaps close to the median overlap of
//     neighbouring chunks that occur once each.
//  3. A chunk that fits no increasing sequence, because the chunker reordered or
//     repeated its chunks, goes to its first occurrence that overlaps no chunk
//     placed already.
//  4. A chunk that has no place by then has Start and End -1. So has a chunk
//     that is empty or not valid UTF-8.
//
// Text of each piece is the chunk as c made it; Start and End are the bytes it
// stands for, which are equal to the text up to white space.
//
// A chunk that occurs more than 32 times is tried only at the 32 places nearest
// to where the lengths of the chunks around it say that it should be, at most
// 8 times its own length away. This bounds time and memory, both proportional
// to the text and the chunks together, for text that repeats itself without
// end. The text must be smaller than 2 GiB.
//
// The adapter implements [Chunker], by passing the call on, [Rewriter],
// [Validator], by asking c, and fmt.Stringer: c's own name, or its type, and
// /positions=aligned. It is safe for concurrent use if c is.
//
// Note: looking for each chunk after the end of the one before misplaces 15 to
// 23 % of overlapping windows over real text, because an overlapping chunk
// begins earlier and its text is then found in a later repetition or not at
// all; after the start of the one before, 0.2 % of a text that repeats long
// passages.
func WithPositions(c Chunker) PositionAwareChunker {
	if p, ok := c.(PositionAwareChunker); ok {
		return p
	}
	return aligned{c}
}

// IsAdapted reports whether c was made by [WithPositions] from a chunker that
// only returns texts, so that its places were found, not told. A chunker that
// [WithContext] decorates is adapted if the one within is.
func IsAdapted(c PositionAwareChunker) bool {
	if decorated, ok := c.(inContext); ok {
		return IsAdapted(decorated.chunker)
	}
	_, ok := c.(aligned)
	return ok
}

// aligned is the adapter that WithPositions returns.
type aligned struct{ chunker Chunker }

// Equal reports whether both adapt the same chunker.
func (a aligned) Equal(b aligned) bool { return same(a.chunker, b.chunker) }

func (a aligned) Chunk(ctx context.Context, text string) ([]string, error) {
	if err := a.notNil(); err != nil {
		return nil, err
	}
	return a.chunker.Chunk(ctx, text)
}

func (a aligned) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]Piece, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	chunks, err := a.Chunk(ctx, doc.Text())
	if err != nil {
		return nil, err
	}
	places, err := align.Align(ctx, doc.Text(), chunks)
	if err != nil {
		return nil, err
	}
	pieces := make([]Piece, len(chunks))
	for i, p := range places {
		pieces[i] = Piece{Text: chunks[i], Start: p.Start, End: p.End}
	}
	return pieces, nil
}

func (a aligned) RewritesText() bool { return true }

func (a aligned) Validate() error {
	if err := a.notNil(); err != nil {
		return err
	}
	if v, ok := a.chunker.(Validator); ok {
		return v.Validate()
	}
	return nil
}

func (a aligned) notNil() error {
	if f, ok := a.chunker.(Func); a.chunker == nil || ok && f == nil {
		return errors.New("chunker given to WithPositions is nil: want a Chunker")
	}
	return nil
}

func (a aligned) String() string { return nameOf(a.chunker) + "/positions=aligned" }
