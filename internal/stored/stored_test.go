package stored

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

func TestRoundTrip(t *testing.T) {
	metadata := map[string]string{"page": "7"}
	plain := chunkers.Chunk{ID: chunkers.NewChunkID("text"), Doc: "a.md", Text: "text", Metadata: metadata}
	aware := chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID("text"), Span: spans.Span{Doc: "a.md", Start: 3, End: 7}, Text: "text", Metadata: metadata}
	check(t, plain, Plain)
	check(t, aware, PositionAware)
	check(t, chunkers.Chunk{ID: plain.ID}, Plain)
	if _, err := Chunk[chunkers.PositionAwareChunk](Of(plain)); err == nil {
		t.Error("a position-aware chunk of the ID of another: got no error")
	}
	if _, err := Chunk[chunkers.Chunk](Fields{ID: "chunk_1"}); err == nil {
		t.Error("a short ID: got no error")
	}
}

func check[C chunkers.Indexed](t *testing.T, chunk C, kind string) {
	t.Helper()
	got, err := Chunk[C](Of(chunk))
	if diff := cmp.Diff(chunk, got); err != nil || diff != "" {
		t.Errorf("got %v, chunk (-want +got):\n%s", err, diff)
	}
	if got := KindOf[C](); got != kind {
		t.Errorf("got the kind %q, want %q", got, kind)
	}
}
