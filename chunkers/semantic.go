package chunkers

import (
	"context"
	"errors"
	"fmt"

	"github.com/rageval/rageval/internal/units"
	"github.com/rageval/rageval/spans"
)

// Semantic cuts a text where its meaning changes, as an embedder sees it. It
// cuts the text into units, which are sentences or other small parts, embeds
// them, and lets Rule decide by their similarities which neighbours to join:
//
//   - [Threshold] cuts between neighbours that are less similar than a bound.
//   - [Percentile] cuts at the widest distances of the text (Kamradt).
//   - [TargetSize] does with as many cuts as make chunks of a given mean size
//     (Kamradt's method as the Chroma report changed it).
//   - [Cluster] chooses the chunks of bounded size that hold together best (the
//     cluster semantic chunker of the Chroma report).
//
// The report is Smith & Troynikov, "Evaluating Chunking Strategies for
// Retrieval", Chroma technical report, July 2024, with the code published as
// chunking_evaluation. Kamradt's method is level 4 of his "5 Levels of Text
// Splitting" (2023).
//
// Sentences, the units of Threshold and Percentile unless Units says otherwise,
// follow a simple rule. A sentence ends after a run of . ! ? … (or the marks of
// Arabic, Devanagari or Ethiopic) and closing quotes, brackets, * or _, if white
// space follows, and then not a lower-case letter; after a run with one of
// 。！？｡．, whatever follows; and at a blank line. So "Dr. Who" is cut, and
// "e.g. this" is not. Package chunkers/sentence has a better rule.
//
// The units of TargetSize and Cluster, unless Units says otherwise, are what
// [RecursiveCharacter] cuts at "\n\n", "\n", ".", "?", "!", " " and "", as in the
// report; but one mark ".", "?" or "!" at the beginning of a unit is moved to the
// unit before, which it ends, and so may make that longer by itself. So may white
// space at both ends of a unit.
//
// The chunks do not overlap and lose nothing: joined, they are the text. White
// space between two chunks belongs to the first. A text of white space alone
// has no chunk. What is embedded is the document's own text from the beginning
// of a unit to its end, without white space at both ends, where the published
// code joins trimmed parts with single spaces.
//
// Similarity is the cosine, rounded to a multiple of 2⁻²⁴; the zero vector has
// similarity 0 to all. The result is a pure function of the text and of the
// vectors, the same on every machine, ties included.
//
// The units of a text are embedded once, in order, in batches of 256 texts; one
// unit alone is not embedded. An error of the embedder is returned with the
// units that it concerns; vectors that are too few or too many, differ in
// dimension, are empty or have a component that is NaN or infinite are errors.
// Besides embedding, time and memory are linear in the text (for Cluster, also
// in the number of units that may form a chunk; Percentile and TargetSize sort
// one number for each unit). Of the vectors, only those still to be compared are
// kept. A Semantic is safe for concurrent use if Embedder and Units are.
type Semantic struct {
	Embedder Embedder     // of the units; must not be nil
	Rule     SemanticRule // where to cut; nil: Percentile{}

	// Units cuts the text into what is compared and joined, for instance the
	// zero value of Sentence in chunkers/sentence: parts in order that do not
	// overlap. What it leaves out between two of them belongs to the first, but
	// is not embedded. Nil: as the rule says. With Units, Chunk wants a text
	// that is valid UTF-8.
	Units PositionAwareChunker

	// Length measures the sizes that a rule has. The zero value counts
	// characters. The length of a chunk is the sum of those of its units, white
	// space included.
	Length Length
}

// SemanticRule decides where [Semantic] cuts. The rules are [Threshold],
// [Percentile], [TargetSize] and [Cluster].
type SemanticRule interface {
	Validate() error
	String() string // such as threshold=0.5

	needs() needs
	// cuts returns the units that begin a chunk, in order, but for the first.
	// There are at least two units. Lengths are there if they are needed.
	cuts(ctx context.Context, s *similarities, lengths []int) ([]int, error)
}

// needs is what a rule wants to know of the units.
type needs struct {
	buffer   int // units on each side that are embedded with a unit
	reach    int // units before a unit that it is compared with
	unitSize int // of the units, by Length; 0: sentences
	lengths  bool
}

func (c Semantic) rule() SemanticRule {
	if c.Rule == nil {
		return Percentile{}
	}
	return c.Rule
}

// Validate returns an error if Embedder is nil, or if Rule, Units or Embedder
// has a Validate that does.
func (c Semantic) Validate() error {
	if c.Embedder == nil {
		return errors.New("semantic chunker: Embedder is nil: want an Embedder")
	}
	if err := c.rule().Validate(); err != nil {
		return fmt.Errorf("semantic chunker: %w", err)
	}
	for _, part := range []struct {
		field string
		value any
	}{{"Units", c.Units}, {"Embedder", c.Embedder}} {
		if v, ok := part.value.(Validator); ok {
			if err := v.Validate(); err != nil {
				return fmt.Errorf("semantic chunker: %s: %w", part.field, err)
			}
		}
	}
	return nil
}

// String returns a name such as semantic/threshold=0.5/embedder=lexical. Units
// and Embedder go by their String, with commas for its slashes, or their type.
func (c Semantic) String() string {
	name := "semantic"
	if c.Rule != nil {
		name += "/" + c.Rule.String()
	}
	if c.Units != nil {
		name += "/units=" + nestedName(c.Units)
	}
	if c.Length.Name != "" || c.Length.Of != nil {
		name += "/length="
		if isPlainWord(c.Length.Name) {
			name += c.Length.Name
		} else {
			name += string(appendQuoted(nil, c.Length.Name))
		}
	}
	if c.Embedder != nil {
		name += "/embedder=" + nestedName(c.Embedder)
	}
	return name
}

// Chunk returns the texts of the chunks. Errors are those of
// [Semantic.Validate], of the embedder and of Units, and the cause of ctx being
// done.
func (c Semantic) Chunk(ctx context.Context, text string) ([]string, error) {
	chunks, err := c.cut(ctx, text, func() (*spans.Document, error) { return spans.NewDocument("text", text, nil) })
	return textsOf(text, chunks), err
}

// ChunkWithPositions returns the chunks with their positions. Errors are as for
// [Semantic.Chunk].
func (c Semantic) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]Piece, error) {
	chunks, err := c.cut(ctx, doc.Text(), func() (*spans.Document, error) { return doc, nil })
	return piecesOf(doc.Text(), chunks), err
}

// cut cuts a text, of which document gives the document if one is needed.
func (c Semantic) cut(ctx context.Context, text string, document func() (*spans.Document, error)) ([]byteRange, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	rule := c.rule()
	needs := rule.needs()
	parts, err := c.parts(ctx, text, needs.unitSize, document)
	if err != nil {
		return nil, fmt.Errorf("cutting into units: %w", err)
	}
	all, err := units.Of(text, parts)
	if err != nil {
		return nil, fmt.Errorf("cutting into units: %s: %w", nameOf(c.Units), err)
	}
	if len(all) == 0 {
		return nil, nil
	}
	if len(all) == 1 {
		return []byteRange{{0, len(text)}}, nil
	}
	last := len(all) - 1
	similar, err := compare(ctx, c.Embedder, len(all), needs.reach, func(i int) string {
		return text[all[i-min(i, needs.buffer)].TextStart:all[i+min(last-i, needs.buffer)].TextEnd]
	})
	if err != nil {
		return nil, err
	}
	var lengths []int
	if needs.lengths {
		lengths = make([]int, len(all))
		for i := range all {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			covered := units.Covering(text, all, i, i+1)
			lengths[i] = c.Length.Len(text[covered.Start:covered.End])
		}
	}
	cuts, err := rule.cuts(ctx, similar, lengths)
	if err != nil {
		return nil, err
	}
	chunks := make([]byteRange, 0, len(cuts)+1)
	start := 0
	for _, i := range cuts {
		chunks = append(chunks, byteRange{start, all[i].Start})
		start = all[i].Start
	}
	return append(chunks, byteRange{start, len(text)}), nil
}

// unitSeparators are the separators at which the Chroma report cuts.
var unitSeparators = []string{"\n\n", "\n", ".", "?", "!", " ", ""}

// parts cuts the text into what becomes the units.
func (c Semantic) parts(ctx context.Context, text string, unitSize int, document func() (*spans.Document, error)) ([]units.Range, error) {
	switch {
	case c.Units != nil:
		doc, err := document()
		if err != nil {
			return nil, err
		}
		pieces, err := c.Units.ChunkWithPositions(ctx, doc)
		if err != nil {
			return nil, err
		}
		parts := make([]units.Range, len(pieces))
		for i, p := range pieces {
			if p.Start == -1 {
				return nil, fmt.Errorf("%s: unit %d, %s, has no place in the text", nameOf(c.Units), i, abbreviate(p.Text))
			}
			parts[i] = units.Range{Start: p.Start, End: p.End}
		}
		return parts, nil
	case unitSize > 0:
		pieces, err := RecursiveCharacter{Size: unitSize, Separators: unitSeparators, Length: c.Length}.cut(ctx, text, charCount(text) == len(text))
		if err != nil {
			return nil, err
		}
		parts := rangesOf(pieces)
		units.Repair(text, parts)
		return parts, nil
	}
	return rangesOf(sentences(text)), nil
}

func rangesOf(parts []byteRange) []units.Range {
	ranges := make([]units.Range, len(parts))
	for i, p := range parts {
		ranges[i] = units.Range{Start: p.start, End: p.end}
	}
	return ranges
}
