package spans

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustCorpus(tb testing.TB, docs ...*Document) *Corpus {
	tb.Helper()
	c, err := NewCorpus(docs...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestCorpus(t *testing.T) {
	b, a := mustDocument(t, "b.md", "second"), mustDocument(t, "a.md", "first")
	given := []*Document{b, a}
	c := mustCorpus(t, given...)
	given[0] = nil
	if got := slices.Collect(c.All()); !slices.Equal(got, []*Document{b, a}) || c.Len() != 2 {
		t.Errorf("got %d documents %v, want b and a in the order given", c.Len(), got)
	}
	if d, ok := c.Document("a.md"); !ok || d != a {
		t.Errorf("got %v, %v, want a.md", d, ok)
	}
	if d, ok := c.Document("c.md"); ok || d != nil {
		t.Errorf("got %v, %v, want none", d, ok)
	}
	if c := mustCorpus(t); c.Len() != 0 || slices.Collect(c.All()) != nil {
		t.Errorf("empty corpus: got %d documents", c.Len())
	}
}

func TestCorpusErrors(t *testing.T) {
	a := mustDocument(t, "a.md", "x")
	for _, test := range []struct {
		docs []*Document
		want string
	}{
		{[]*Document{a, nil}, "document 1 of the corpus is nil"},
		{[]*Document{a, mustDocument(t, "a.md", "y")}, "two documents of the corpus have the ID a.md"},
		{[]*Document{a, a}, "two documents of the corpus have the ID a.md"},
	} {
		if c, err := NewCorpus(test.docs...); err == nil || err.Error() != test.want || c != nil {
			t.Errorf("got %v, %v, want error %q", c, err, test.want)
		}
	}
}

func TestCorpusMetadataIsCopied(t *testing.T) {
	given := map[string]string{"source_dir": "docs"}
	c, err := NewCorpusWith(given)
	if err != nil {
		t.Fatal(err)
	}
	given["source_dir"] = "elsewhere"
	c.Metadata()["source_dir"] = "nowhere"
	if got := c.Metadata()["source_dir"]; got != "docs" {
		t.Errorf("got %q, want docs", got)
	}
	if got := mustCorpus(t).Metadata(); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}

func TestCorpusEqual(t *testing.T) {
	a, b := mustDocument(t, "a", "x"), mustDocument(t, "b", "y")
	with, err := NewCorpusWith(map[string]string{"k": "v"}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	c := mustCorpus(t, a, b)
	for _, test := range []struct {
		name string
		d    *Corpus
		want bool
	}{
		{"equal", mustCorpus(t, mustDocument(t, "a", "x"), mustDocument(t, "b", "y")), true},
		{"another order", mustCorpus(t, b, a), false},
		{"fewer", mustCorpus(t, a), false},
		{"other text", mustCorpus(t, a, mustDocument(t, "b", "z")), false},
		{"metadata", with, false},
		{"nil", nil, false},
	} {
		if got := c.Equal(test.d); got != test.want || cmp.Equal(c, test.d) != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
	if !(*Corpus)(nil).Equal(nil) || (*Corpus)(nil).Equal(c) {
		t.Error("a nil corpus equals more or less than nil")
	}
}

func TestFingerprint(t *testing.T) {
	// The documented bytes, written out: in order of ID, each ID and text after
	// its length in bytes.
	bytes := "\x00\x00\x00\x00\x00\x00\x00\x01a" + "\x00\x00\x00\x00\x00\x00\x00\x03\xe6\x97\xa5" +
		"\x00\x00\x00\x00\x00\x00\x00\x02bc" + "\x00\x00\x00\x00\x00\x00\x00\x00"
	sum := sha256.Sum256([]byte(bytes))
	want := hex.EncodeToString(sum[:])
	a, bc := mustDocument(t, "a", "日"), mustDocument(t, "bc", "")
	if got := mustCorpus(t, a, bc).Fingerprint(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := mustCorpus(t, bc, a).Fingerprint(); got != want {
		t.Errorf("in another order: got %s, want %s", got, want)
	}
	withMetadata, err := NewDocument("a", "日", map[string]string{"k": "v"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCorpusWith(map[string]string{"k": "v"}, withMetadata, bc)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Fingerprint(); got != want {
		t.Errorf("with metadata: got %s, want %s", got, want)
	}
}

// What stands on which side of a boundary must show.
func TestFingerprintTellsCorporaApart(t *testing.T) {
	seen := map[string][]string{}
	for _, pairs := range [][]string{
		{}, {"a", ""}, {"a", "b"}, {"ab", ""}, {"a", "bc"}, {"ab", "c"}, {"a", "", "b", ""}, {"a", "b", "c", ""},
		{"a", "b\x00"}, {"a", "x", "b", "y"}, {"a", "y", "b", "x"}, {"a", "xb", "c", ""},
	} {
		var docs []*Document
		for i := 0; i < len(pairs); i += 2 {
			docs = append(docs, mustDocument(t, DocumentID(pairs[i]), pairs[i+1]))
		}
		print := mustCorpus(t, docs...).Fingerprint()
		if other, ok := seen[print]; ok {
			t.Errorf("%q and %q have one fingerprint", pairs, other)
		}
		seen[print] = pairs
	}
}

func TestFingerprintOfALongText(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000) // several of the pieces it is hashed in
	sum := sha256.Sum256([]byte("\x00\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x00\x00\x00\x03\x0d\x40" + text))
	if got, want := mustCorpus(t, mustDocument(t, "a", text)).Fingerprint(), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
