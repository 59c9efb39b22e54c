package chunkers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rageval/rageval/spans"
)

// Check verifies a chunker against the contract of [PositionAwareChunker], on
// the given documents and on inputs of its own that chunkers stumble over: the
// empty text, one character, nothing but separators or white space, U+FFFD
// where a JSON decoder met lone surrogates, combining marks, emoji, CRLF, NUL
// bytes, byte order marks, repetition, a megabyte without a separator.
// It returns all violations, joined, or nil. What it verifies:
//
//   - Validate, if c has it, returns nil.
//   - String, if c has it, is not empty, has no white space and stays the same.
//   - Every document is chunked without an error or a panic.
//   - Every piece has 0 <= Start < End <= len(doc.Text()), both at the boundary
//     of a UTF-8 sequence, and a text that is valid UTF-8 and not empty.
//   - The text of a piece is doc.Text()[Start:End], unless c is a [Rewriter].
//     Only then may Start be -1, for a piece that has no place.
//   - Starts do not decrease.
//   - The same pieces come a second time, and when called concurrently (run
//     with -race to see more of that), and Chunk, if c has it, returns their
//     texts.
//   - The document is the same afterwards.
//   - A cancelled context leads to an error that is context.Canceled, within ten
//     seconds; an empty document may do without.
//
// Of one kind of violation by the pieces of one document, the first ten are
// listed and the others counted. A cancelled ctx ends the check early.
//
// Every document is chunked about eight times. A chunker that is slow or costs
// money should be given small limits, or a fake of what is slow.
func Check(ctx context.Context, c PositionAwareChunker, docs ...*spans.Document) error {
	if c == nil {
		return errors.New("checking a chunker: chunker is nil")
	}
	hostile, err := hostileDocuments()
	if err != nil {
		return err
	}
	k := &checker{chunker: c}
	if r, ok := c.(Rewriter); ok {
		k.rewrites = r.RewritesText()
	}
	if v, ok := c.(Validator); ok {
		if err := v.Validate(); err != nil {
			k.report("Validate returns an error: %w", err)
		}
	}
	name := k.name()
	for i, doc := range docs {
		if doc == nil {
			k.report("document %d given to Check is nil", i)
			continue
		}
		k.checkDocument(ctx, doc)
	}
	for _, doc := range hostile {
		k.checkDocument(ctx, doc)
	}
	if again := k.name(); again != name {
		k.report("String is %q at first and %q later: want a name that stays the same", name, again)
	}
	if err := ctx.Err(); err != nil {
		k.report("checking ended early: %w", err)
	}
	return errors.Join(k.violations...)
}

// checker collects what is wrong with a chunker.
type checker struct {
	chunker    PositionAwareChunker
	rewrites   bool
	violations []error
}

func (k *checker) report(format string, args ...any) {
	k.violations = append(k.violations, fmt.Errorf(format, args...))
}

func (k *checker) name() string {
	s, ok := k.chunker.(fmt.Stringer)
	if !ok {
		return ""
	}
	name := s.String()
	switch {
	case name == "":
		k.report("String is empty: want a name")
	case strings.ContainsFunc(name, unicode.IsSpace):
		k.report("String is %q: want a name without white space", name)
	}
	return name
}

const (
	concurrentCalls = 4
	cancelLimit     = 10 * time.Second
)

func (k *checker) checkDocument(ctx context.Context, doc *spans.Document) {
	if ctx.Err() != nil {
		return
	}
	found := len(k.violations)
	defer func() {
		if ctx.Err() != nil { // and what was found since may be due to that
			k.violations = k.violations[:found]
		}
	}()
	id := doc.ID()
	before, err := spans.NewDocument(id, strings.Clone(doc.Text()), doc.Metadata())
	if err != nil {
		k.report("document %s: %w", id, err)
		return
	}
	defer func() {
		if !doc.Equal(before) {
			k.report("document %s: it has been modified: ID %s, text %s, metadata %v, want text %s, metadata %v",
				id, doc.ID(), abbreviate(doc.Text()), doc.Metadata(), abbreviate(before.Text()), before.Metadata())
		}
	}()

	pieces, err := k.chunk(ctx, doc)
	if err != nil {
		k.report("document %s: chunking: %w", id, err)
		return
	}
	k.checkPieces(before, pieces)

	if again, err := k.chunk(ctx, doc); err != nil {
		k.report("document %s: chunking a second time: %w", id, err)
	} else if diff := difference(again, pieces); diff != "" {
		k.report("document %s: chunking a second time: %s", id, diff)
	}
	k.checkConcurrently(ctx, doc, pieces)
	k.checkTexts(ctx, doc, pieces)
	if doc.Text() != "" {
		k.checkCancelled(ctx, doc)
	}
}

func (k *checker) chunk(ctx context.Context, doc *spans.Document) (pieces []Piece, err error) {
	defer recoverInto(&err)
	return k.chunker.ChunkWithPositions(ctx, doc)
}

func recoverInto(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
}

// checkPieces checks each piece by itself, and their order.
func (k *checker) checkPieces(doc *spans.Document, pieces []Piece) {
	const maxListed = 10
	text := doc.Text()
	seen := map[string]int{}
	var kinds []string // in order of appearance
	violation := func(kind string, i int, format string, args ...any) {
		if seen[kind]++; seen[kind] == 1 {
			kinds = append(kinds, kind)
		}
		if seen[kind] <= maxListed {
			k.report("document %s: piece %d: "+format, append([]any{doc.ID(), i}, args...)...)
		}
	}
	lastStart, last := 0, -1
	for i, p := range pieces {
		switch {
		case p.Text == "":
			violation("have an empty text", i, "text is empty: want at least one character")
		case !utf8.ValidString(p.Text):
			violation("have a text that is not valid UTF-8", i, "text %s is not valid UTF-8", abbreviate(p.Text))
		}
		if p.Start == -1 && k.rewrites {
			continue
		}
		if p.Start == -1 {
			violation("have no place", i, "start is -1: want a place, unless RewritesText is true; text %s", abbreviate(p.Text))
			continue
		}
		if p.Start < 0 || p.End <= p.Start || p.End > len(text) {
			violation("are out of bounds", i, "bytes [%d:%d]: want 0 <= start < end <= %d; text %s", p.Start, p.End, len(text), abbreviate(p.Text))
			continue
		}
		if last >= 0 && p.Start < lastStart {
			violation("start before the piece before them", i, "starts at byte %d, before piece %d, which starts at %d: want starts that do not decrease", p.Start, last, lastStart)
		}
		lastStart, last = p.Start, i
		for _, b := range [2]int{p.Start, p.End} {
			if b < len(text) && !utf8.RuneStart(text[b]) {
				violation("begin or end inside a UTF-8 sequence", i, "bytes [%d:%d]: byte %d is inside a UTF-8 sequence", p.Start, p.End, b)
			}
		}
		if want := text[p.Start:p.End]; p.Text != want && !k.rewrites {
			violation("have another text than their place", i, "text %s, want that of bytes [%d:%d], %s", abbreviate(p.Text), p.Start, p.End, abbreviate(want))
		}
	}
	for _, kind := range kinds {
		if more := seen[kind] - maxListed; more > 0 {
			k.report("document %s: %d more pieces %s", doc.ID(), more, kind)
		}
	}
}

// difference says how pieces differ from those that came first, or nothing.
func difference(got, want []Piece) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d pieces, want %d as the first time", len(got), len(want))
	}
	for i, p := range want {
		if q := got[i]; p.Text != q.Text || p.Start != q.Start || p.End != q.End || !maps.Equal(p.Metadata, q.Metadata) {
			return fmt.Sprintf("piece %d is %s, want %s as the first time", i, describe(q), describe(p))
		}
	}
	return ""
}

func describe(p Piece) string {
	s := fmt.Sprintf("[%d:%d] %s", p.Start, p.End, abbreviate(p.Text))
	if len(p.Metadata) > 0 {
		s += fmt.Sprintf(" %v", p.Metadata)
	}
	return s
}

func (k *checker) checkConcurrently(ctx context.Context, doc *spans.Document, want []Piece) {
	var diffs [concurrentCalls]string
	var errs [concurrentCalls]error
	var wg sync.WaitGroup
	for i := range concurrentCalls {
		wg.Go(func() {
			got, err := k.chunk(ctx, doc)
			if err != nil {
				errs[i] = err
				return
			}
			diffs[i] = difference(got, want)
		})
	}
	wg.Wait()
	for i := range concurrentCalls {
		if errs[i] != nil {
			k.report("document %s: chunking in %d goroutines at once: %w", doc.ID(), concurrentCalls, errs[i])
			return
		}
		if diffs[i] != "" {
			k.report("document %s: chunking in %d goroutines at once: %s", doc.ID(), concurrentCalls, diffs[i])
			return
		}
	}
}

// checkTexts checks that Chunk returns the texts of the pieces.
func (k *checker) checkTexts(ctx context.Context, doc *spans.Document, pieces []Piece) {
	c, ok := k.chunker.(Chunker)
	if !ok {
		return
	}
	texts, err := func() (texts []string, err error) {
		defer recoverInto(&err)
		return c.Chunk(ctx, doc.Text())
	}()
	if err != nil {
		k.report("document %s: Chunk: %w", doc.ID(), err)
		return
	}
	if len(texts) != len(pieces) {
		k.report("document %s: Chunk returns %d texts, want %d, those of the pieces", doc.ID(), len(texts), len(pieces))
		return
	}
	for i, text := range texts {
		if text != pieces[i].Text {
			k.report("document %s: Chunk: text %d is %s, want that of the piece, %s", doc.ID(), i, abbreviate(text), abbreviate(pieces[i].Text))
			return
		}
	}
}

func (k *checker) checkCancelled(ctx context.Context, doc *spans.Document) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	returned := make(chan error, 1)
	go func() {
		_, err := k.chunk(ctx, doc)
		returned <- err
	}()
	timer := time.NewTimer(cancelLimit)
	defer timer.Stop()
	select {
	case err := <-returned:
		if !errors.Is(err, context.Canceled) {
			k.report("document %s: with a cancelled context, chunking returns error %v, want context.Canceled", doc.ID(), err)
		}
	case <-timer.C:
		k.report("document %s: with a cancelled context, chunking did not return within %v", doc.ID(), cancelLimit)
	}
}
