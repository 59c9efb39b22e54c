// Package llm lets a language model decide where a text is cut: the LLM chunker
// of Smith & Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma
// technical report, July 2024.
//
// It costs requests and time, and what it gives is as reproducible as the
// client. For evaluations in tests, wrap the client in one that records answers.
package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/units"
	"github.com/rageval/rageval/ragtest/llm"
	"github.com/rageval/rageval/spans"
)

// LLM is a chunker that asks a language model which neighbouring units of a text
// belong together:
//
//  1. The text is cut into units of at most UnitSize, as by
//     [chunkers.RecursiveCharacter] at "\n\n", "\n", ".", "?", "!", " " and "";
//     but one mark ".", "?" or "!" at the beginning of a unit is moved to the
//     unit before.
//  2. As many units as fit in WindowSize, but at least two, are sent with a mark
//     before and after each: <|start_chunk_1|> … <|end_chunk_1|>. If the text
//     itself has such marks, those of the request hold a hash in addition that
//     does not occur in the text, so that they cannot be forged.
//  3. The model names the units after which a new theme begins. The answer is
//     valid if it says split_after once, and then lists whole numbers (or none),
//     in increasing order, each that of a unit of the window but its last. An
//     answer that ended for its length is never valid.
//  4. After an invalid answer the request is sent again with a complaint that
//     says what was wrong, up to Attempts times in all. If none is valid, the
//     window is cut by RecursiveCharacter into chunks of FallbackSize, and each
//     of those has the metadata [FallbackReason].
//  5. The chunks end where the model said. What follows the last split of a
//     window is looked at again at the beginning of the next one; where the
//     model splits nowhere, the window is a chunk. So no chunk is longer than
//     WindowSize, unless two units alone are, with the white space around them.
//
// The chunks do not overlap and lose nothing: joined, they are the text. White
// space between two units belongs to the first. A text of white space alone has
// no chunk, and one unit alone is a chunk without a request.
//
// Nothing but numbers is taken from a valid answer, so whatever a document says
// to the model, it can change no more than where the document is cut. The reason
// for a fallback may quote the beginning of the answer.
//
// An error of the client is returned, not repeated: that is for the client to
// do. Every window advances by at least one unit, so a text of n units needs at
// most Attempts·(n-1) requests, one after the other; where the model splits near
// the ends of windows, it is hardly more than the text's length divided by
// WindowSize. Besides the requests, time is linear in the text of all windows.
//
// The zero value of every field but Client is ready for use. LLM is safe for
// concurrent use if its client is.
//
// Note: the report's code repeats without end, demands at least one split in
// every window, leaves the last four units of a text unasked, and numbers units
// through the text; here windows count from 1, so that equal windows have equal
// requests, which a recording client answers alike. Its windows have a little
// more than 800 tokens, its units 50.
type LLM struct {
	Client llm.Client // must not be nil

	Model       string   // "": the client's default
	Temperature *float64 // nil: the service's default; the report has 0.2
	Seed        *int64   // nil: none
	MaxTokens   int      // of an answer; 0: the client's default. The report has 200

	UnitSize     int // most that a unit may measure, by Length; 0: 200
	WindowSize   int // most that the units of a request may measure together; at least twice UnitSize; 0: 3200
	FallbackSize int // size of the chunks of a window without a valid answer; 0: a quarter of WindowSize
	Attempts     int // requests for a window before it falls back; 0: 3

	// Length measures sizes. The zero value counts characters, of which about
	// four are a token in English: the sizes that 0 stands for are those of the
	// report. The length of a window is the sum of those of its units.
	Length chunkers.Length
}

// FallbackReason is the metadata key of chunks that were not cut by the model.
// Its value says why the last answer could not be used. Other chunks have no
// metadata.
const FallbackReason = "llm_fallback_reason"

const (
	defaultUnitSize   = 200
	defaultWindowSize = 3200
	defaultAttempts   = 3
)

func (c LLM) withDefaults() LLM {
	if c.UnitSize == 0 {
		c.UnitSize = defaultUnitSize
	}
	if c.WindowSize == 0 {
		c.WindowSize = defaultWindowSize
	}
	if c.FallbackSize == 0 {
		c.FallbackSize = max(1, c.WindowSize/4)
	}
	if c.Attempts == 0 {
		c.Attempts = defaultAttempts
	}
	return c
}

// Validate returns an error if Client is nil, a size or number is negative,
// WindowSize is less than twice UnitSize, or Temperature is negative, NaN or
// infinite.
func (c LLM) Validate() error {
	if c.Client == nil {
		return errors.New("llm chunker: Client is nil: want a Client")
	}
	for _, field := range []struct {
		name  string
		value int
	}{{"MaxTokens", c.MaxTokens}, {"UnitSize", c.UnitSize}, {"WindowSize", c.WindowSize}, {"FallbackSize", c.FallbackSize}, {"Attempts", c.Attempts}} {
		if field.value < 0 {
			return fmt.Errorf("llm chunker: %s is %d: want 0, which means the default, or more", field.name, field.value)
		}
	}
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= math.MaxFloat64) {
		return fmt.Errorf("llm chunker: Temperature is %v: want 0 or more", *t)
	}
	if d := c.withDefaults(); d.WindowSize/2 < d.UnitSize {
		return fmt.Errorf("llm chunker: WindowSize is %d: want at least twice UnitSize, which is %d", d.WindowSize, d.UnitSize)
	}
	return nil
}

// String returns a name such as llm/model=small/seed=1/client=*acme.Client,
// with every field that differs from its zero value. Client goes by its String,
// or by its type.
func (c LLM) String() string {
	var b strings.Builder
	b.WriteString("llm")
	field := func(name string, value any) {
		word := strings.Join(strings.Fields(fmt.Sprint(value)), "_")
		fmt.Fprintf(&b, "/%s=%s", name, strings.ReplaceAll(word, "/", ","))
	}
	if c.Model != "" {
		field("model", c.Model)
	}
	if c.Temperature != nil {
		field("temperature", *c.Temperature)
	}
	if c.Seed != nil {
		field("seed", *c.Seed)
	}
	for _, number := range []struct {
		name  string
		value int
	}{{"maxtokens", c.MaxTokens}, {"unitsize", c.UnitSize}, {"windowsize", c.WindowSize}, {"fallbacksize", c.FallbackSize}, {"attempts", c.Attempts}} {
		if number.value != 0 {
			field(number.name, number.value)
		}
	}
	if c.Length.Name != "" || c.Length.Of != nil {
		field("length", c.Length.Name)
	}
	if s, ok := c.Client.(fmt.Stringer); ok {
		field("client", s)
	} else if c.Client != nil {
		field("client", fmt.Sprintf("%T", c.Client))
	}
	return b.String()
}

// Chunk returns the texts of the chunks. The text must be valid UTF-8. Errors
// are those of [LLM.Validate] and of the client, and the cause of ctx being
// done.
func (c LLM) Chunk(ctx context.Context, text string) ([]string, error) {
	doc, err := spans.NewDocument("text", text, nil)
	if err != nil {
		return nil, err
	}
	pieces, err := c.ChunkWithPositions(ctx, doc)
	if err != nil || len(pieces) == 0 {
		return nil, err
	}
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Text
	}
	return texts, nil
}

// ChunkWithPositions returns the chunks with their positions. Errors are as for
// [LLM.Chunk].
func (c LLM) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	text := doc.Text()
	all, err := c.cut(ctx, doc, c.UnitSize)
	if err != nil {
		return nil, err
	}
	var pieces []chunkers.Piece
	add := func(first, end int) {
		r := units.Covering(text, all, first, end)
		pieces = append(pieces, chunkers.Piece{Text: text[r.Start:r.End], Start: r.Start, End: r.End})
	}
	lengths := make([]int, len(all))
	for i := range all {
		r := units.Covering(text, all, i, i+1)
		lengths[i] = c.Length.Len(text[r.Start:r.End])
	}
	for first := 0; first < len(all); {
		end := c.windowEnd(lengths, first)
		if end-first == 1 {
			add(first, end)
			break
		}
		splits, invalid, err := c.ask(ctx, newWindow(text, all, first, end))
		if err != nil {
			return nil, fmt.Errorf("asking where to split units %d to %d of %d: %w", first, end-1, len(all), err)
		}
		if invalid != nil {
			fallback, err := c.fallBack(ctx, text, units.Covering(text, all, first, end), invalid)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, fallback...)
			first = end
			continue
		}
		start := first
		for _, n := range splits {
			add(start, first+n)
			start = first + n
		}
		if end == len(all) || len(splits) == 0 {
			add(start, end)
			start = end
		}
		first = start
	}
	return pieces, nil
}

var separators = []string{"\n\n", "\n", ".", "?", "!", " ", ""}

// cut cuts the document into units of at most the given size.
func (c LLM) cut(ctx context.Context, doc *spans.Document, size int) ([]units.Unit, error) {
	pieces, err := chunkers.RecursiveCharacter{Size: size, Separators: separators, Length: c.Length}.ChunkWithPositions(ctx, doc)
	if err != nil {
		return nil, fmt.Errorf("cutting into units: %w", err)
	}
	parts := make([]units.Range, len(pieces))
	for i, p := range pieces {
		parts[i] = units.Range{Start: p.Start, End: p.End}
	}
	units.Repair(doc.Text(), parts)
	return units.Of(doc.Text(), parts)
}

// windowEnd returns the unit after the last that fits in a window from the first
// one on, for units of the given lengths.
func (c LLM) windowEnd(lengths []int, first int) int {
	size := 0
	for end := first; end < len(lengths); end++ {
		if size += lengths[end]; size > c.WindowSize && end-first >= 2 {
			return end
		}
	}
	return len(lengths)
}

// fallBack cuts a part of the text without the model.
func (c LLM) fallBack(ctx context.Context, text string, part units.Range, reason error) ([]chunkers.Piece, error) {
	doc, err := spans.NewDocument("window", text[part.Start:part.End], nil)
	if err != nil {
		return nil, err
	}
	all, err := c.cut(ctx, doc, c.FallbackSize)
	if err != nil {
		return nil, err
	}
	pieces := make([]chunkers.Piece, len(all))
	for i := range all {
		r := units.Covering(doc.Text(), all, i, i+1)
		r.Start, r.End = r.Start+part.Start, r.End+part.Start
		pieces[i] = chunkers.Piece{Text: text[r.Start:r.End], Start: r.Start, End: r.End, Metadata: map[string]string{FallbackReason: reason.Error()}}
	}
	return pieces, nil
}

// ask returns the units of the window, counted from 1, after which it is to be
// split; or what was invalid about the last answer; or the error for which there
// was none.
func (c LLM) ask(ctx context.Context, w window) (splits []int, invalid, err error) {
	prompt := w.prompt()
	for range c.Attempts {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		content := prompt
		if invalid != nil {
			content += "\n\nYour last answer could not be used: " + invalid.Error() + "."
		}
		response, err := c.Client.Complete(ctx, llm.Request{
			Model:       c.Model,
			Messages:    []llm.Message{{Role: llm.RoleSystem, Content: w.instructions()}, {Role: llm.RoleUser, Content: content}},
			Temperature: c.Temperature,
			Seed:        c.Seed,
			Schema:      []byte(answerSchema),
			MaxTokens:   c.MaxTokens,
		})
		if err != nil {
			return nil, nil, err
		}
		if splits, invalid = parseAnswer(response, w.n); invalid == nil {
			return splits, nil, nil
		}
	}
	return nil, invalid, nil
}
