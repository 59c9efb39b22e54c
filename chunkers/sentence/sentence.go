package sentence

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// Sentence makes chunks of whole sentences, those of [Bounds]:
//
//  1. A chunk takes sentences while all of it, from the start of the first
//     sentence to the end of the last, is at most MaxSize characters long.
//  2. The next chunk begins with the last Overlap sentences of the one before,
//     or with as many of those as leave room within MaxSize for the sentence
//     that did not fit. So each chunk has a sentence that the one before has
//     not, and none is longer than MaxSize.
//  3. A sentence longer than MaxSize is cut by [chunkers.RecursiveCharacter] at
//     line ends, spaces and last between characters. Its pieces are chunks by
//     themselves, which share no text with others.
//
// The zero value makes each sentence a chunk, however long.
//
// White space between the sentences of a chunk belongs to it; white space
// between chunks, and at both ends of the text, is left out. Everything else is in
// some chunk. Starts and ends increase from chunk to chunk.
//
// It takes time linear in the text, and besides the result two ints for each
// chunk. Pieces share the text's memory. It is safe for concurrent use.
type Sentence struct {
	MaxSize int // most characters of a chunk; 0: each sentence is a chunk
	Overlap int // most sentences that a chunk shares with the one before; 0 if MaxSize is
}

// Validate returns an error unless MaxSize and Overlap are at least 0, and
// Overlap is 0 if MaxSize is.
func (c Sentence) Validate() error {
	if err := validateNotNegative("sentence chunker", field{"MaxSize", c.MaxSize}, field{"Overlap", c.Overlap}); err != nil {
		return err
	}
	if c.MaxSize == 0 && c.Overlap > 0 {
		return fmt.Errorf("sentence chunker: Overlap is %d: want 0 where MaxSize is 0, which makes each sentence a chunk", c.Overlap)
	}
	return nil
}

// String returns a name such as sentence/maxsize=400/overlap=1.
func (c Sentence) String() string {
	return nameOf("sentence", field{"MaxSize", c.MaxSize}, field{"Overlap", c.Overlap})
}

// Chunk returns the texts of the chunks. Errors are those of
// [Sentence.Validate] and the cause of ctx being done.
func (c Sentence) Chunk(ctx context.Context, text string) ([]string, error) {
	chunks, err := c.cut(ctx, text, utf8.RuneCountInString(text))
	return textsOf(text, chunks), err
}

// ChunkWithPositions returns the chunks with their positions. Errors are as for
// [Sentence.Chunk].
func (c Sentence) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	chunks, err := c.cut(ctx, doc.Text(), doc.Len())
	return piecesOf(doc.Text(), chunks), err
}

// cut cuts a text of n characters.
func (c Sentence) cut(ctx context.Context, text string, n int) ([]byteRange, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.cutPart(ctx, nil, text, 0, len(text), n == len(text))
}

// cutPart appends the chunks of text[from:to].
func (c Sentence) cutPart(ctx context.Context, chunks []byteRange, text string, from, to int, ascii bool) ([]byteRange, error) {
	m := merger{ctx: ctx, text: text, size: c.MaxSize, overlap: c.Overlap, chunks: chunks}
	m.chars = charCounter{text: text, ascii: ascii, byte: from}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for start, end := range Bounds(text[from:to]) {
		if !m.add(from+start, from+end) {
			return nil, m.err
		}
	}
	m.flush()
	return m.chunks, nil
}

// merger makes chunks of sentences.
type merger struct {
	ctx           context.Context
	err           error
	ticks         uint
	text          string
	size, overlap int
	chars         charCounter
	chunks        []byteRange

	// The chunk under construction, if open: its bounds, and where its last
	// sentences begin, those that the next chunk may begin with, from tail[head]
	// on.
	open  bool
	chunk byteRange
	start int // in characters
	tail  []place
	head  int
}

// place is where a sentence begins, in bytes and in characters.
type place struct{ byte, char int }

// add adds a sentence. It returns false if the work must stop.
func (m *merger) add(start, end int) bool {
	if m.ticks++; m.ticks%256 == 0 && m.ctx.Err() != nil {
		m.err = context.Cause(m.ctx)
		return false
	}
	if m.size == 0 {
		m.chunks = append(m.chunks, byteRange{start, end})
		return true
	}
	first := place{start, m.chars.before(start)}
	endChar := m.chars.before(end)
	if endChar-first.char > m.size {
		m.flush()
		m.chunks, m.err = cutLong(m.ctx, m.chunks, m.text, start, end, m.size)
		return m.err == nil
	}
	if m.open && endChar-m.start > m.size {
		m.chunks = append(m.chunks, m.chunk)
		m.open = false
		for m.head < len(m.tail) && endChar-m.tail[m.head].char > m.size {
			m.head++
		}
		if m.head < len(m.tail) {
			m.begin(m.tail[m.head])
		}
	}
	if !m.open {
		m.begin(first)
	}
	m.chunk.end = end
	m.remember(first)
	return true
}

func (m *merger) begin(p place) { m.open, m.chunk.start, m.start = true, p.byte, p.char }

// remember adds to the tail the place of the last sentence.
func (m *merger) remember(p place) {
	if m.overlap == 0 {
		return
	}
	if m.head > len(m.tail)/2 { // at most one move for each place that was left
		m.tail, m.head = m.tail[:copy(m.tail, m.tail[m.head:])], 0
	}
	m.tail = append(m.tail, p)
	if len(m.tail)-m.head > m.overlap {
		m.head++
	}
}

// flush ends the chunk under construction, and lets nothing overlap with it.
func (m *merger) flush() {
	if m.open {
		m.chunks = append(m.chunks, m.chunk)
	}
	m.open = false
	m.tail, m.head = m.tail[:0], 0
}
