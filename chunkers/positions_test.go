package chunkers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// slidingWindows returns the fixed windows of a text: size and overlap in characters.
func slidingWindows(text string, size, overlap int) []chunkers.Piece {
	var starts []int // of each character, and the end
	for i := range text {
		starts = append(starts, i)
	}
	n := len(starts)
	starts = append(starts, len(text))
	var pieces []chunkers.Piece
	for i := 0; n > 0; i += size - overlap {
		end := min(i+size, n)
		pieces = append(pieces, chunkers.Piece{Text: text[starts[i]:starts[end]], Start: starts[i], End: starts[end]})
		if end == n {
			break
		}
	}
	return pieces
}

func textsOf(pieces []chunkers.Piece) []string {
	var ts []string
	for _, p := range pieces {
		ts = append(ts, p.Text)
	}
	return ts
}

// returning is a chunker that returns the given chunks for any text.
func returning(chunks []string) chunkers.Func {
	return func(context.Context, string) ([]string, error) { return chunks, nil }
}

func documentOf(tb testing.TB, id, text string) *spans.Document {
	tb.Helper()
	doc, err := spans.NewDocument(spans.DocumentID(id), text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func placesOf(tb testing.TB, doc *spans.Document, chunks []string) []chunkers.Piece {
	tb.Helper()
	pieces, err := chunkers.WithPositions(returning(chunks)).ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatal(err)
	}
	if len(pieces) != len(chunks) {
		tb.Fatalf("got %d pieces of %d chunks", len(pieces), len(chunks))
	}
	return pieces
}

// trimmedPlace returns the place of p without white space at its ends, which is what
// two places of one chunk have in common if it was found up to white space.
func trimmedPlace(doc *spans.Document, p chunkers.Piece) [2]int {
	if p.Start < 0 {
		return [2]int{-1, -1}
	}
	s := doc.Text()[p.Start:p.End]
	start := p.End - len(strings.TrimLeft(s, " \t\r\n"))
	return [2]int{start, max(start, p.Start+len(strings.TrimRight(s, " \t\r\n")))}
}

func TestWithPositions(t *testing.T) {
	type place = [2]int
	none := place{-1, -1}
	tests := []struct {
		name   string
		text   string
		chunks []string
		want   []place
	}{
		{"no chunks", "text", nil, nil},
		{"empty document", "", []string{"a"}, []place{none}},
		{"the whole document", "one two", []string{"one two"}, []place{{0, 7}}},
		{"in sequence", "one two three", []string{"one ", "two ", "three"}, []place{{0, 4}, {4, 8}, {8, 13}}},
		{"overlapping", "one two three", []string{"one two", "two three"}, []place{{0, 7}, {4, 13}}},
		{"repeated heading", "Note\na\nNote\nb\nNote\nc\n", []string{"Note\n", "b\n", "Note\n", "c\n"},
			[]place{{7, 12}, {12, 14}, {14, 19}, {19, 21}}},
		{"repeated passage", "xabc yabc z", []string{"abc", "yabc", "abc z"}, []place{{1, 4}, {5, 9}, {6, 11}}},
		{"trimmed", "  one \n\n two  ", []string{"one", "two"}, []place{{2, 5}, {9, 12}}},
		{"white space collapsed", "one\n\ntwo \t three\r\n four", []string{"one two", "two three", "three four"},
			[]place{{0, 8}, {5, 16}, {11, 23}}},
		{"white space added", "one two", []string{"\n one\n\ntwo \n"}, []place{{0, 7}}},
		{"Unicode white space", "eins\u00a0zwei\u3000\u2003drei", []string{"eins zwei", "zwei drei"}, []place{{0, 10}, {6, 20}}},
		{"line ends changed", "a\r\nb\r\nc\r\nb\r\n", []string{"a\nb\n", "c\nb\n"}, []place{{0, 4}, {6, 10}}},
		{"window that ends in white space", "one \r\n two", []string{"one \n", "\n two"}, []place{{0, 3}, {5, 10}}},
		{"white space inside a word matters", "therapist", []string{"the rapist"}, []place{none}},
		{"exact occurrence out of sequence", "a\nb. c. d. a b", []string{"a b.", "c.", "d.", "a b"},
			[]place{{0, 4}, {5, 7}, {8, 10}, {11, 14}}},
		{"exact occurrence that would leave more uncovered", "x\ny z. w. x y", []string{"x y", "z. w.", "x  y"},
			[]place{{0, 3}, {4, 9}, {10, 13}}},
		{"dropped chunks", "one. two. one. three.", []string{"two. ", "three."}, []place{{5, 10}, {15, 21}}},
		{"inserted text", "one two", []string{"Summary: ", "one ", "two"}, []place{none, {0, 4}, {4, 7}}},
		{"inserted text that occurs elsewhere", "Title. one. two.", []string{"Title. one. ", "Title. ", "two."}, []place{{0, 12}, none, {12, 16}}},
		{"rewritten text", "one two three", []string{"one ", "TWO ", "three"}, []place{{0, 4}, none, {8, 13}}},
		{"shuffled", "one two three four", []string{"three ", "one ", "four", "two "}, []place{{8, 14}, {0, 4}, {14, 18}, {4, 8}}},
		{"shuffled and white space changed", "one\ntwo three four five six", []string{"three  four", "five six", "one two"},
			[]place{{8, 18}, {19, 27}, {0, 7}}},
		{"duplicates", "one two one", []string{"one", "one", "one", "two"}, []place{{0, 3}, {8, 11}, none, {4, 7}}},
		{"duplicates with an overlap", "one two three", []string{"one two", "one two", "two three", "two three"}, []place{{0, 7}, none, {4, 13}, none}},
		{"empty and invalid", "a\xef\xbf\xbdb", []string{"", "\xff", "\xbd", "a"}, []place{none, none, none, {0, 1}}},
		{"white space only", "one\n\ntwo", []string{"one", "\n\n", "two", "\t"}, []place{{0, 3}, {3, 5}, {5, 8}, none}},
		{"chunk within the one before", "one two three four", []string{"one two three", "two", "three four"}, []place{{0, 13}, {4, 7}, {8, 18}}},
		{"overlap like that of the others", "12345678aaaaaaaa90", []string{"1234", "3456", "5678", "78aa", "aaaa", "aaaa", "aaaa", "aa90"},
			[]place{{0, 4}, {2, 6}, {4, 8}, {6, 10}, {8, 12}, {10, 14}, {12, 16}, {14, 18}}},
		{"characters, not bytes", "日本語日本語、東京", []string{"日本語", "日本語、", "東京"}, []place{{0, 9}, {9, 21}, {21, 27}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := documentOf(t, "doc.md", tt.text)
			var got []place
			for i, p := range placesOf(t, doc, tt.chunks) {
				got = append(got, place{p.Start, p.End})
				if p.Text != tt.chunks[i] {
					t.Errorf("piece %d: got text %q, want %q", i, p.Text, tt.chunks[i])
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("places of %q in %q (-want +got):\n%s", tt.chunks, tt.text, diff)
			}
		})
	}
}

// repetitions are texts of about the given size that repeat themselves.
func repetitions(size int) []struct{ name, text string } {
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return []struct{ name, text string }{
		{"letter", repeat("a")},
		{"character", repeat("語")},
		{"white space", repeat(" \n")},
		{"line", repeat("All rights reserved by whoever wrote this line.\n")},
		{"page", repeat(strings.Repeat("a page of words that says nothing, ", 80) + "\n")},
		{"rule", "A beginning.\n" + repeat("-") + "\nAn end."},
		{"numbered lines", numbered(size/50, "Monday the %dth, as every day: nothing to report.\n")},
	}
}

// In text that repeats itself without end, windows still land where they were
// cut, and chunks of varying length and overlap, whose places the text does not
// tell, still find places in order.
func TestWithPositionsOnRepetition(t *testing.T) {
	for _, tt := range repetitions(1 << 17) {
		t.Run(tt.name, func(t *testing.T) {
			doc := documentOf(t, "doc.md", tt.text)
			for _, size := range [][2]int{{200, 50}, {333, 111}, {800, 400}} {
				want := slidingWindows(tt.text, size[0], size[1])
				got := placesOf(t, doc, textsOf(want))
				for i := range want {
					if got[i].Start != want[i].Start {
						t.Fatalf("%d/%d: piece %d starts at byte %d, want %d", size[0], size[1], i, got[i].Start, want[i].Start)
					}
				}
			}
			rnd := rand.New(rand.NewPCG(9, 10))
			runes := []rune(tt.text)
			var chunks []string
			for start, end := 0, 0; end < len(runes); start = end - rnd.IntN(min(50, end-start)) {
				end = min(len(runes), start+1+rnd.IntN(1000))
				chunks = append(chunks, string(runes[start:end]))
			}
			placed := 0
			for i, p := range placesOf(t, doc, chunks) {
				if p.Start >= 0 {
					placed++
					if doc.Text()[p.Start:p.End] != chunks[i] {
						t.Fatalf("piece %d: bytes [%d:%d] are not its text", i, p.Start, p.End)
					}
				}
			}
			if share := float64(placed) / float64(len(chunks)); share < 0.95 {
				t.Errorf("%d of %d chunks of varying length have a place, want 0.95", placed, len(chunks))
			}
		})
	}
}

// numbered returns n lines of the given format and their number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestWithPositionsReturnsWhatIsPositionAware(t *testing.T) {
	c := &lineChunker{}
	if got := chunkers.WithPositions(c); got != chunkers.PositionAwareChunker(c) {
		t.Errorf("got %v, want the chunker itself", got)
	}
	if chunkers.IsAdapted(c) {
		t.Error("IsAdapted is true of a chunker that tells its positions")
	}
	if !chunkers.IsAdapted(chunkers.WithPositions(returning(nil))) {
		t.Error("IsAdapted is false of an adapter")
	}
}

// plain is a chunker that only returns texts and has a name and options.
type plain struct {
	name string
	err  error
}

func (p plain) Chunk(context.Context, string) ([]string, error) { return []string{"a"}, p.err }
func (p plain) String() string                                  { return p.name }
func (p plain) Validate() error                                 { return p.err }

func TestAdapterPassesOn(t *testing.T) {
	refused := errors.New("size 0: want at least 1")
	doc := documentOf(t, "doc.md", "a")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name     string
		ctx      context.Context
		c        chunkers.Chunker
		wantName string
		validate string
		chunk    string
	}{
		{"name", t.Context(), plain{name: "plain/size=3"}, "plain/size=3/positions=aligned", "", ""},
		{"name with white space", t.Context(), plain{name: "by line\n"}, "by_line/positions=aligned", "", ""},
		{"empty name", t.Context(), plain{}, "chunkers_test.plain/positions=aligned", "", ""},
		{"no name", t.Context(), returning([]string{"a"}), "chunkers.Func/positions=aligned", "", ""},
		{"anonymous type", t.Context(), struct{ chunkers.Chunker }{returning([]string{"a"})}, "struct_{_chunkers.Chunker_}/positions=aligned", "", ""},
		{"error", t.Context(), plain{name: "plain", err: refused}, "plain/positions=aligned", refused.Error(), refused.Error()},
		{"cancelled", cancelled, plain{name: "plain"}, "plain/positions=aligned", "", "context canceled"},
		{"nil", t.Context(), nil, "<nil>/positions=aligned", "chunker given to WithPositions is nil", "chunker given to WithPositions is nil"},
		{"nil function", t.Context(), chunkers.Func(nil), "chunkers.Func/positions=aligned", "chunker given to WithPositions is nil", "chunker given to WithPositions is nil"},
	}
	wantError := func(t *testing.T, what string, err error, want string) {
		t.Helper()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got error %v, want %q", what, err, want)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := chunkers.WithPositions(tt.c)
			if got := c.(fmt.Stringer).String(); got != tt.wantName {
				t.Errorf("String: got %q, want %q", got, tt.wantName)
			}
			wantError(t, "Validate", c.(chunkers.Validator).Validate(), tt.validate)
			if !c.(chunkers.Rewriter).RewritesText() {
				t.Error("RewritesText: got false, want true")
			}
			pieces, err := c.ChunkWithPositions(tt.ctx, doc)
			wantError(t, "ChunkWithPositions", err, tt.chunk)
			if want := []chunkers.Piece{{Text: "a", Start: 0, End: 1}}; tt.chunk == "" && !cmp.Equal(pieces, want) {
				t.Errorf("ChunkWithPositions: got %v, want %v", pieces, want)
			}
			if tt.ctx.Err() == nil {
				chunks, err := c.(chunkers.Chunker).Chunk(tt.ctx, "a")
				wantError(t, "Chunk", err, tt.chunk)
				if tt.chunk == "" && !cmp.Equal(chunks, []string{"a"}) {
					t.Errorf("Chunk: got %q, want the chunker's", chunks)
				}
			}
		})
	}
}

func BenchmarkWithPositions(b *testing.B) {
	type input struct {
		name string
		doc  *spans.Document
	}
	prose := rand.New(rand.NewPCG(11, 12))
	var words strings.Builder
	for words.Len() < 1<<20 {
		words.WriteString("word" + strconv.Itoa(int(prose.ExpFloat64()*300)) + []string{" ", " ", " ", "\n"}[prose.IntN(4)])
	}
	inputs := []input{{"words", documentOf(b, "words", words.String())}}
	for _, r := range repetitions(1 << 20) {
		inputs = append(inputs, input{"same-" + strings.ReplaceAll(r.name, " ", "-"), documentOf(b, r.name, r.text)})
	}
	changes := []struct {
		name  string
		chunk func(text string) []string
	}{
		{"windows", func(text string) []string { return textsOf(slidingWindows(text, 200, 50)) }},
		{"collapsed", func(text string) []string {
			chunks := textsOf(slidingWindows(text, 200, 50))
			for i, c := range chunks {
				chunks[i] = strings.Join(strings.Fields(c), " ")
			}
			return chunks
		}},
		{"single-words", strings.Fields},
	}
	for _, in := range inputs {
		for _, c := range changes {
			b.Run("text="+in.name+"/chunks="+c.name, func(b *testing.B) {
				chunks := c.chunk(in.doc.Text())
				adapter := chunkers.WithPositions(returning(chunks))
				b.SetBytes(int64(len(in.doc.Text())))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := adapter.ChunkWithPositions(b.Context(), in.doc); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(chunks)), "chunks")
			})
		}
	}
}
