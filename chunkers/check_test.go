package chunkers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// lineChunker is a correct chunker, which cuts at line ends, save for the methods that
// a test replaces.
type lineChunker struct {
	chunk      func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error)
	edit       func(doc *spans.Document, pieces []chunkers.Piece) []chunkers.Piece
	texts      func(text string) []string
	validate   func() error
	name       func() string
	rewrites   bool
	ignoresCtx bool
}

func (f *lineChunker) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	if f.chunk != nil {
		return f.chunk(ctx, doc)
	}
	if err := ctx.Err(); err != nil && !f.ignoresCtx {
		return nil, err
	}
	pieces := byLine(doc.Text())
	if f.edit != nil {
		pieces = f.edit(doc, pieces)
	}
	return pieces, nil
}

func (f *lineChunker) Chunk(_ context.Context, text string) ([]string, error) {
	if f.texts != nil {
		return f.texts(text), nil
	}
	return textsOf(byLine(text)), nil
}

func (f *lineChunker) Validate() error {
	if f.validate != nil {
		return f.validate()
	}
	return nil
}

func (f *lineChunker) String() string {
	if f.name != nil {
		return f.name()
	}
	return "lines"
}

func (f *lineChunker) RewritesText() bool { return f.rewrites }

// byLine cuts a text after each line end.
func byLine(text string) []chunkers.Piece {
	var pieces []chunkers.Piece
	start := 0
	for line := range strings.Lines(text) {
		pieces = append(pieces, chunkers.Piece{Text: line, Start: start, End: start + len(line)})
		start += len(line)
	}
	return pieces
}

// positionsOnly hides all methods of a lineChunker but the one that every chunker has.
type positionsOnly struct{ f *lineChunker }

func (p positionsOnly) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	return p.f.ChunkWithPositions(ctx, doc)
}

func TestCheckAccepts(t *testing.T) {
	doc := documentOf(t, "handbook.md", "Première ligne.\nSecond line.\n")
	tests := map[string]chunkers.PositionAwareChunker{
		"every method":    &lineChunker{},
		"one method only": positionsOnly{&lineChunker{}},
		"no pieces":       positionsOnly{&lineChunker{edit: func(*spans.Document, []chunkers.Piece) []chunkers.Piece { return nil }}},
		"metadata": positionsOnly{&lineChunker{edit: func(_ *spans.Document, ps []chunkers.Piece) []chunkers.Piece {
			for i := range ps {
				ps[i].Metadata = map[string]string{"line": fmt.Sprint(i)}
			}
			return ps
		}}},
		"a rewriter": positionsOnlyRewriter{positionsOnly{&lineChunker{edit: func(_ *spans.Document, ps []chunkers.Piece) []chunkers.Piece {
			for i := range ps {
				ps[i].Text = "Heading: " + ps[i].Text
				if i%2 == 1 {
					ps[i].Start, ps[i].End = -1, -1
				}
			}
			return ps
		}}}},
		"the position adapter": chunkers.WithPositions(chunkers.Func(func(_ context.Context, text string) ([]string, error) {
			return textsOf(slidingWindows(text, 200, 50)), nil
		})),
		"the position adapter on trimmed texts": chunkers.WithPositions(chunkers.Func(func(_ context.Context, text string) ([]string, error) {
			var sentences []string
			for s := range strings.SplitSeq(text, ".") {
				if s = strings.Join(strings.Fields(s), " "); s != "" {
					sentences = append(sentences, s)
				}
			}
			return sentences, nil
		})),
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if err := chunkers.Check(t.Context(), c, doc); err != nil {
				t.Errorf("got %v, want no violation", err)
			}
		})
	}
}

type positionsOnlyRewriter struct{ positionsOnly }

func (positionsOnlyRewriter) RewritesText() bool { return true }

// onDocument edits the pieces of the test's own document only.
func onDocument(edit func(doc *spans.Document, ps []chunkers.Piece) []chunkers.Piece) func(*spans.Document, []chunkers.Piece) []chunkers.Piece {
	return func(doc *spans.Document, ps []chunkers.Piece) []chunkers.Piece {
		if doc.ID() != "handbook.md" {
			return ps
		}
		return edit(doc, ps)
	}
}

func TestCheckRejects(t *testing.T) {
	type doc = *spans.Document
	type pieces = []chunkers.Piece
	var calls atomic.Int64
	var once sync.Once
	onPieces := func(edit func(ps pieces)) func(doc, pieces) pieces {
		return onDocument(func(_ doc, ps pieces) pieces { edit(ps); return ps })
	}
	tests := []struct {
		name string
		c    chunkers.PositionAwareChunker
		want []string // of the error
	}{
		{"nil", nil, []string{"chunker is nil"}},
		{"validate", &lineChunker{validate: func() error { return errors.New("size 0: want at least 1") }}, []string{"Validate returns an error: size 0: want at least 1"}},
		{"no name", &lineChunker{name: func() string { return "" }}, []string{"String is empty"}},
		{"name with white space", &lineChunker{name: func() string { return "by line" }}, []string{`String is "by line": want a name without white space`}},
		{"unstable name", &lineChunker{name: func() string { return fmt.Sprint("lines", calls.Add(1)) }}, []string{"want a name that stays the same"}},
		{"error", &lineChunker{chunk: func(_ context.Context, d doc) (pieces, error) {
			return nil, errors.New("out of tokens")
		}}, []string{"document handbook.md: chunking: out of tokens", "document hostile/empty: chunking: out of tokens"}},
		{"panic", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { _ = ps[len(ps)] })}},
			[]string{"document handbook.md: chunking: panic: runtime error: index out of range [3] with length 3"}},
		{"panic in Chunk", &lineChunker{texts: func(text string) []string { return []string{text[:1]} }}, []string{"document hostile/empty: Chunk: panic:"}},
		{"empty piece", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[1].Text, ps[1].End = "", ps[1].Start })}},
			[]string{"document handbook.md: piece 1: text is empty", "document handbook.md: piece 1: bytes [17:17]: want 0 <= start < end <= 37"}},
		{"text that is not UTF-8", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[0].Text = "Premi\xc3" })}},
			[]string{`document handbook.md: piece 0: text "Premi\xc3" is not valid UTF-8`}},
		{"end beyond the text", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[2].End++ })}},
			[]string{"document handbook.md: piece 2: bytes [30:38]: want 0 <= start < end <= 37"}},
		{"start below zero", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[0].Start = -2 })}},
			[]string{"document handbook.md: piece 0: bytes [-2:17]"}},
		{"end before start", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[1].End = 3 })}},
			[]string{"document handbook.md: piece 1: bytes [17:3]"}},
		{"no place", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[1].Start = -1 })}},
			[]string{`document handbook.md: piece 1: start is -1: want a place, unless RewritesText is true; text "Second line.\n"`}},
		{"inside a character", positionsOnlyRewriter{positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[0].End = 6 })}}},
			[]string{"document handbook.md: piece 0: bytes [0:6]: byte 6 is inside a UTF-8 sequence"}},
		{"characters instead of bytes", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[1].Start, ps[1].End = ps[1].Start-1, ps[1].End-1 })}},
			[]string{`document handbook.md: piece 1: text "Second line.\n", want that of bytes [16:29], "\nSecond line."`}},
		{"unannounced rewriting", &lineChunker{edit: onPieces(func(ps pieces) { ps[2].Text = strings.ToUpper(ps[2].Text) })},
			[]string{`piece 2: text "THIRD.\n", want that of bytes [30:37], "Third.\n"`, `Chunk: text 2 is "Third.\n", want that of the piece, "THIRD.\n"`}},
		{"order", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[0], ps[1] = ps[1], ps[0] })}},
			[]string{"document handbook.md: piece 1: starts at byte 0, before piece 0, which starts at 17"}},
		{"another result the second time", positionsOnly{&lineChunker{edit: onDocument(func(_ doc, ps pieces) pieces {
			return ps[:len(ps)-int(calls.Add(1)%2)]
		})}}, []string{"document handbook.md: chunking a second time: "}},
		{"other metadata the second time", positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) {
			ps[1].Metadata = map[string]string{"call": fmt.Sprint(calls.Add(1))}
		})}}, []string{"document handbook.md: chunking a second time: piece 1 is [17:30] \"Second line.\\n\" map[call:"}},
		{"another result when called concurrently", &meeting{}, []string{"document handbook.md: chunking in 4 goroutines at once: 0 pieces, want 3 as the first time"}},
		{"modified text", positionsOnly{&lineChunker{edit: onDocument(func(d doc, ps pieces) pieces {
			once.Do(func() { unsafe.Slice(unsafe.StringData(d.Text()), 1)[0] = 'p' })
			return ps
		})}}, []string{"document handbook.md: it has been modified", `text "première`}},
		{"replaced document", positionsOnly{&lineChunker{edit: onDocument(func(d doc, ps pieces) pieces {
			*d = *documentOf(t, "other.md", d.Text())
			return ps
		})}}, []string{"document handbook.md: it has been modified: ID other.md"}},
		{"deaf to the context", &lineChunker{ignoresCtx: true},
			[]string{"document handbook.md: with a cancelled context, chunking returns error <nil>, want context.Canceled", "document hostile/crlf: with a cancelled context"}},
		{"another error for the context", &lineChunker{chunk: func(ctx context.Context, d doc) (pieces, error) {
			if ctx.Err() != nil {
				return nil, errors.New("interrupted")
			}
			return byLine(d.Text()), nil
		}}, []string{"document handbook.md: with a cancelled context, chunking returns error interrupted, want context.Canceled"}},
		{"texts other than the pieces'", &lineChunker{texts: strings.Fields}, []string{"document handbook.md: Chunk returns 5 texts, want 3, those of the pieces"}},
		{"rewriter out of bounds", positionsOnlyRewriter{positionsOnly{&lineChunker{edit: onPieces(func(ps pieces) { ps[2].End = 99 })}}},
			[]string{"document handbook.md: piece 2: bytes [30:99]"}},
		{"fails on hostile input only", positionsOnly{&lineChunker{edit: func(d doc, ps pieces) pieces {
			if d.Text() == "" {
				return pieces{{}}
			}
			return ps
		}}}, []string{"document hostile/empty: piece 0: text is empty"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// In memory that may be written to, for the test that does.
			text := string([]byte("Première ligne.\nSecond line.\nThird.\n"))
			doc, err := spans.NewDocument("handbook.md", text, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = chunkers.Check(t.Context(), tt.c, doc)
			if err == nil {
				t.Fatal("got no violation")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got:\n%v\nwant a line with: %s", err, want)
				}
			}
		})
	}
}

// meeting is a chunker with a fault that shows only when two calls overlap.
type meeting struct {
	mu   sync.Mutex
	last chan struct{}
	n    int
}

func (m *meeting) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if doc.ID() != "handbook.md" {
		return byLine(doc.Text()), nil
	}
	m.mu.Lock()
	m.n++
	call := m.n
	if m.last == nil {
		m.last = make(chan struct{})
	}
	last := m.last
	m.mu.Unlock()
	// The first two calls come one after the other; the third waits for the
	// fourth, which must therefore be made at the same time.
	switch call {
	case 3:
		<-last
		return nil, nil
	case 4:
		close(last)
	}
	return byLine(doc.Text()), nil
}

func TestCheckReportsEveryViolation(t *testing.T) {
	c := &lineChunker{
		validate: func() error { return errors.New("no") },
		name:     func() string { return "by line" },
		edit: onDocument(func(_ *spans.Document, ps []chunkers.Piece) []chunkers.Piece {
			ps[0].End, ps[2].Text = 99, "3"
			return ps
		}),
		ignoresCtx: true,
	}
	doc := documentOf(t, "handbook.md", "One.\nTwo.\nThree.\n")
	err := chunkers.Check(t.Context(), c, doc)
	for _, want := range []string{"Validate", "String", "piece 0: bytes [0:99]", `piece 2: text "3"`, "cancelled context", "Chunk: text 2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got:\n%v\nwant a line with: %s", err, want)
		}
	}
}

func TestCheckCountsWhatItDoesNotList(t *testing.T) {
	c := positionsOnly{&lineChunker{edit: onDocument(func(_ *spans.Document, ps []chunkers.Piece) []chunkers.Piece {
		for i := range ps {
			ps[i].Text = "?"
		}
		return ps
	})}}
	err := chunkers.Check(t.Context(), c, documentOf(t, "handbook.md", strings.Repeat("line\n", 200)))
	if err == nil {
		t.Fatal("got no violation")
	}
	listed := strings.Count(err.Error(), `text "?", want`)
	if want := "document handbook.md: 190 more pieces have another text than their place"; listed != 10 || !strings.Contains(err.Error(), want) {
		t.Errorf("got %d listed:\n%v\nwant 10 listed and: %s", listed, err, want)
	}
}

func TestCheckDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := positionsOnly{&lineChunker{chunk: func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
			if ctx.Err() != nil {
				<-release
			}
			return byLine(doc.Text()), nil
		}}}
		err := chunkers.Check(t.Context(), c)
		close(release)
		if want := "document hostile/crlf: with a cancelled context, chunking did not return within 10s"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got:\n%v\nwant a line with: %s", err, want)
		}
	})
}

func TestCheckEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := chunkers.Check(ctx, &lineChunker{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}
