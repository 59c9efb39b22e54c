package sentence

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
)

// chunker is what every chunker of this package is.
type chunker interface {
	chunkers.Chunker
	chunkers.PositionAwareChunker
	chunkers.Validator
	fmt.Stringer
}

var (
	_ chunker = Sentence{}
	_ chunker = Paragraph{}
	_ chunker = SemanticDensity{}
)

func cut(tb testing.TB, c chunker, text string) []chunkers.Piece {
	tb.Helper()
	pieces, err := c.ChunkWithPositions(tb.Context(), document(tb, "doc", text))
	if err != nil {
		tb.Fatalf("%v of %.80q: %v", c, text, err)
	}
	return pieces
}

func checkTexts(t *testing.T, c chunker, text string, want []string) {
	t.Helper()
	var got []string
	for _, p := range cut(t, c, text) {
		got = append(got, p.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v of %q (-want, +got):\n%s", c, text, diff)
	}
}

func chars(s string) int { return utf8.RuneCountInString(s) }

func blank(s string) bool { return strings.TrimFunc(s, isSpace) == "" }

// checkValidation checks that Validate and both methods that cut return the
// error that reads want, or none if it is empty.
func checkValidation(t *testing.T, c chunker, want string) {
	t.Helper()
	_, chunkErr := c.Chunk(context.Background(), "text")
	_, pieceErr := c.ChunkWithPositions(context.Background(), document(t, "doc", "text"))
	for method, err := range map[string]error{"Validate": c.Validate(), "Chunk": chunkErr, "ChunkWithPositions": pieceErr} {
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s of %v: got error %q, want %q", method, c, got, want)
		}
	}
}
