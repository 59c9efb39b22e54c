package pgvector

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

func FuzzRow(f *testing.F) {
	f.Add("a.md", "text", "key", "value", 0, 4)
	f.Add("", "", "", "", -1, math.MaxInt)
	f.Add("a\x00b", "\xff\"\\", "\x00", "\u2028\ufffd", 1, 2)
	f.Add("дом/東京.md", `"\x00"`, `\u0000`, "🙂", 3, 3)
	f.Fuzz(func(t *testing.T, doc, text, key, value string, start, end int) {
		metadata := map[string]string{key: value, "fixed": ""}
		checkRow(t, chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: spans.DocumentID(doc), Text: text, Metadata: metadata})
		checkRow(t, chunkers.Chunk{Doc: spans.DocumentID(doc), Text: text})
		span := spans.Span{Doc: spans.DocumentID(doc), Start: start, End: end}
		checkRow(t, chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID(text), Span: span, Text: text, Metadata: metadata})
	})
}

func checkRow[C chunkers.Indexed](t *testing.T, chunk C) {
	t.Helper()
	r := encode(chunk)
	columns := []string{r.id, r.doc, r.text}
	if r.metadata != nil {
		columns = append(columns, *r.metadata)
		if !json.Valid([]byte(*r.metadata)) {
			t.Errorf("column metadata: got %s, want JSON", *r.metadata)
		}
		if strings.Contains(strings.ReplaceAll(*r.metadata, `\\`, ""), `\u0000`) {
			t.Errorf("column metadata: got %s, which holds a NUL", *r.metadata)
		}
	}
	for _, c := range columns {
		if needsQuoting(c) {
			t.Errorf("got a column %q, which PostgreSQL refuses", c)
		}
	}
	got, err := decode[C](r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chunk, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadableColumns(t *testing.T) {
	plain := encode(chunkers.Chunk{Doc: "a.md", Text: "Größe: 5\n", Metadata: map[string]string{"title": `"A"`}})
	if plain.quoted || plain.doc != "a.md" || plain.text != "Größe: 5\n" || *plain.metadata != `{"title":"\"A\""}` {
		t.Errorf("got %+v with metadata %s, want the text as it is", plain, *plain.metadata)
	}
	quoted := encode(chunkers.Chunk{Doc: "a.md", Text: "a\x00b\xff"})
	if !quoted.quoted || quoted.doc != `"a.md"` || quoted.text != `"a\x00b\xff"` || quoted.metadata != nil {
		t.Errorf("got %+v, want Go string literals", quoted)
	}
}

func TestRowsThatWereChanged(t *testing.T) {
	one, bad := int64(1), "{"
	for _, test := range []struct {
		name string
		row  row
		want string
	}{
		{"another kind of chunk", row{id: "chunk_0123456789ab", start: &one, end: &one}, "column chunk_id: "},
		{"no place", row{id: "pa_chunk_0123456789ab", start: &one}, "columns start_char and end_char: NULL"},
		{"metadata", row{metadata: &bad, start: &one, end: &one}, "column metadata: "},
		{"no literal", row{quoted: true, doc: `"a"`, text: "a", start: &one, end: &one}, `column text: "a" is not a Go string literal`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if c, err := decode[chunkers.PositionAwareChunk](test.row); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and error %v, want %q", c, err, test.want)
			}
		})
	}
}

func TestVectorForms(t *testing.T) {
	v := []float32{0, 1, -0.1, math.SmallestNonzeroFloat32, math.MaxFloat32, 1.0 / 3}
	text := *vectorText(v)
	fields := strings.Split(strings.Trim(text, "[]"), ",")
	if len(fields) != len(v) {
		t.Fatalf("got %s, want %d components", text, len(v))
	}
	for i, f := range fields {
		x, err := strconv.ParseFloat(f, 32)
		if err != nil || float32(x) != v[i] {
			t.Errorf("component %d: got %s (error %v), want %v", i, f, err, v[i])
		}
	}
	want := []byte{0, 2, 0, 0, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}
	if diff := cmp.Diff(want, vectorBinary([]float32{1, -2})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, v := range [][]float32{nil, {0, 0}} {
		if u := unitVector(v); u != nil || vectorText(u) != nil || vectorBinary(u) != nil {
			t.Errorf("%v: got a vector, want NULL", v)
		}
	}
	for _, v := range [][]float32{{1e30, 0}, {1e-30, 0}, {math.SmallestNonzeroFloat32, 0}, {math.MaxFloat32, 0}} {
		if diff := cmp.Diff([]float32{1, 0}, unitVector(v)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", v, diff)
		}
	}
}
