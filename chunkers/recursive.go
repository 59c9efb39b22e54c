package chunkers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/spans"
)

// RecursiveCharacter cuts a text at the first of its separators that occurs,
// cuts what is still too long at the next, and merges neighbours up to Size. It
// gives the chunks that LangChain's RecursiveCharacterTextSplitter gives with
// the same settings; the zero value of every option is LangChain's behaviour,
// but for the default separators, which have ". " in addition.
//
// To cut a text:
//
//  1. Take the first separator that is empty or occurs in the text. The list
//     after it is what remains for the parts.
//  2. Cut before every occurrence of the separator, overlapping ones included:
//     a separator stays at the start of the part that follows it, and counts
//     towards the part's length. With [KeepEnd], cut after every occurrence,
//     found from left to right without overlap; with [KeepNone], before and
//     after, and no part has it. The empty separator cuts between characters.
//  3. Merge runs of neighbouring parts shorter than Size: add parts to a chunk
//     while the sum of their lengths is at most Size. The next chunk begins
//     with those last parts of this one whose lengths sum to at most Overlap
//     and leave room for the part that did not fit.
//  4. Cut each part of length Size or more by these rules at the remaining
//     separators. Nothing merges across it. If no separator remains, or none
//     occurs in it, it is a chunk by itself: the only kind longer than Size.
//
// The length of a part is measured with its white space. A chunk of white space
// alone is left out; everything else in the text is in some chunk, but for the
// separators with [KeepNone]. Chunks are in order of their starts and of their
// ends, none lies within another, and all starts and ends differ; but trimmed
// neighbours that share a part may differ in nothing but white space, and then
// both stand for the same place.
//
// With [KeepNone] a separator is lost at the ends of chunks only. Between two
// parts of a chunk the chunk has what the document has there, and counts one
// separator. That is what LangChain puts between them; where the document
// repeats the separator, as in "a    b", LangChain's chunk has it once, ours as
// often as the document, and may be longer than Size by the repetitions.
//
// Positions are known from the cutting, never searched. Pieces share the text's
// memory: besides the result there are two ints for each chunk, and for each
// part that the next chunk may begin with. Time is linear in the text, in its
// parts at each separator and in the number of chunks. Text that is not valid
// UTF-8 is cut too: there a character is a byte that can begin a sequence with
// the continuation bytes that follow.
//
// Note: facts are those of @langchain/textsplitters 1.0.2, with which the tests
// agree chunk by chunk, and where LangChain for Python differs from it, one of
// the two had to be chosen:
//   - Overlapping occurrences, as of "\n\n" in "\n\n\n", all cut in JavaScript
//     and here; Python sees only the first.
//   - A part that no separator can cut is never cut in Python and here;
//     JavaScript cuts it into characters if the last separator of a list
//     without "" occurs in it.
//   - Where parts meet, Python and we add the length of the separator, if
//     KeepNone took it away, else of the empty text, which counts for tokenizers
//     that add marks to each text. JavaScript adds the characters of the
//     separator, and forgets them where it measures what overlaps.
//   - KeepEnd exists in Python only.
//   - White space is Unicode's White_Space and the byte order mark U+FEFF.
//     JavaScript does not trim U+0085, Python does not trim U+FEFF but also
//     trims U+001C to U+001F.
//   - Characters are code points, as in Python, not UTF-16 units.
//
// Both forget to trim a part that no separator can cut, and to leave it out if
// it is white space; here it is treated like every other chunk.
type RecursiveCharacter struct {
	Size    int // most that a chunk may measure, by Length; at least 1
	Overlap int // most that a chunk may share with the one before, by Length; less than Size

	// Separators lists where to cut, best first: what follows an empty one is
	// not used. Nil means "\n\n", "\n", ". ", " ", "". An empty list is an error.
	// There are lists for a few languages, such as [MarkdownSeparators].
	Separators []string

	// KeepSeparator says which part a separator belongs to. The zero value is
	// [KeepStart].
	KeepSeparator KeepSeparator

	// Length measures the parts of a text. The zero value counts characters.
	// The length of a chunk is the sum of the lengths of its parts and, for each
	// place where two of them meet, of the separator with [KeepNone], else of
	// Length.Of(""). It is called again for texts that recur, so one that is slow
	// should remember what it has measured.
	Length Length

	// Trim takes white space from both ends of each chunk, as LangChain does.
	// Positions shrink with the text.
	Trim bool
}

var defaultSeparators = []string{"\n\n", "\n", ". ", " ", ""}

// Validate returns an error unless 0 <= Overlap < Size, Separators is nil or a
// list of valid UTF-8 strings with at least one entry, and KeepSeparator is one
// of the constants.
func (c RecursiveCharacter) Validate() error {
	if err := validateSizes("recursive chunker", c.Size, c.Overlap); err != nil {
		return err
	}
	if c.Separators != nil && len(c.Separators) == 0 {
		return fmt.Errorf("recursive chunker: Separators is %#v: want nil for the default separators, or at least one", c.Separators)
	}
	for i, sep := range c.Separators {
		if !utf8.ValidString(sep) {
			return fmt.Errorf("recursive chunker: Separators[%d] is %q: want valid UTF-8", i, sep)
		}
	}
	if !c.KeepSeparator.valid() {
		return fmt.Errorf("recursive chunker: KeepSeparator is %d: want KeepStart, KeepEnd or KeepNone", int(c.KeepSeparator))
	}
	return nil
}

// String returns a name such as
//
//	recursive/size=200/overlap=50/separators=markdown/keep=end/length=cl100k/trim=true
//
// with every field that differs from its zero value, in this order. A list of
// separators that equals a ready-made one is printed as its name, which
// [SeparatorsNamed] reads. Any other, and a length name with a character other
// than letters, digits and "._-", are printed as Go string literals without
// white space or slashes, with commas between them, so that the name fits in the
// name of a benchmark: recursive/size=200/separators="\x20","". A length without
// a name is printed as "". [ParseKeepSeparator] reads the value of keep.
func (c RecursiveCharacter) String() string {
	name := []byte("recursive" + sizesName(c.Size, c.Overlap))
	if len(c.Separators) > 0 {
		name = appendSeparators(append(name, "/separators="...), c.Separators)
	}
	if c.KeepSeparator != KeepStart {
		name = append(append(name, "/keep="...), c.KeepSeparator.String()...)
	}
	if c.Length.Name != "" || c.Length.Of != nil {
		name = append(name, "/length="...)
		if isPlainWord(c.Length.Name) {
			name = append(name, c.Length.Name...)
		} else {
			name = appendQuoted(name, c.Length.Name)
		}
	}
	if c.Trim {
		name = append(name, "/trim=true"...)
	}
	return string(name)
}

func appendSeparators(dst []byte, separators []string) []byte {
	if name := separatorsName(separators); name != "" {
		return append(dst, name...)
	}
	for i, sep := range separators {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, sep)
	}
	return dst
}

// appendQuoted appends an ASCII Go string literal for s in which white space
// and slashes are escaped.
func appendQuoted(dst []byte, s string) []byte {
	quoted := strconv.QuoteToASCII(s)
	for i := range len(quoted) {
		switch quoted[i] {
		case ' ':
			dst = append(dst, `\x20`...)
		case '/':
			dst = append(dst, `\x2f`...)
		default:
			dst = append(dst, quoted[i])
		}
	}
	return dst
}

func isPlainWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// Chunk returns the texts of the chunks. Errors are those of
// [RecursiveCharacter.Validate] and the cause of ctx being done.
func (c RecursiveCharacter) Chunk(ctx context.Context, text string) ([]string, error) {
	chunks, err := c.cut(ctx, text, charCount(text) == len(text))
	return textsOf(text, chunks), err
}

// ChunkWithPositions returns the chunks with their positions. Errors are as for
// [RecursiveCharacter.Chunk].
func (c RecursiveCharacter) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]Piece, error) {
	chunks, err := c.cut(ctx, doc.Text(), doc.Len() == len(doc.Text()))
	return piecesOf(doc.Text(), chunks), err
}

func (c RecursiveCharacter) cut(ctx context.Context, text string, ascii bool) ([]byteRange, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	separators := c.Separators
	if separators == nil {
		separators = defaultSeparators
	}
	r := recursion{
		ctx:     ctx,
		text:    text,
		ascii:   ascii,
		size:    c.Size,
		overlap: c.Overlap,
		length:  c.Length.Of,
		keep:    c.KeepSeparator,
		trim:    c.Trim,
		start:   -1,
		chunks:  make([]byteRange, 0, min(len(text)/c.Size*2, 1<<14)),
	}
	r.cut(0, len(text), unmeasured, separators)
	if r.err != nil {
		return nil, r.err
	}
	return r.chunks, nil
}
