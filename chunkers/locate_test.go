package chunkers_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

func TestLocate(t *testing.T) {
	const text = "Über uns:\r\n\r\nWir sind  viele.\nWir auch. 😀 Ende."
	tests := []struct {
		name, text, want string // want is the text of the span
		start            int    // in characters
	}{
		{"exact", "Wir sind  viele.", "Wir sind  viele.", 13},
		{"from the beginning", "Über", "Über", 0},
		{"to the end", "😀 Ende.", "😀 Ende.", 40},
		{"exact with white space at its ends", "\nWir auch. ", "\nWir auch. ", 29},
		{"white space collapsed", "uns: Wir sind viele. Wir", "uns:\r\n\r\nWir sind  viele.\nWir", 5},
		{"white space added", "  Ende.\n", "Ende.", 42},
		{"everything", text, text, 0},
	}
	doc := documentOf(t, "about.md", text)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chunkers.Locate(doc, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			want := spans.Span{Doc: "about.md", Start: tt.start, End: tt.start + utf8.RuneCountInString(tt.want)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("span (-want +got):\n%s", diff)
			}
			if slice, err := doc.Slice(got); err != nil || slice != tt.want {
				t.Errorf("got text %q, error %v, want %q", slice, err, tt.want)
			}
		})
	}
}

func TestLocateRefuses(t *testing.T) {
	tests := []struct {
		name, doc, text string
		want            string
	}{
		{"empty", "text", "", `locating "" in document doc.md: text is blank`},
		{"blank", "text \n text", " \n\u3000", "text is blank"},
		{"not UTF-8", "té", "t\xc3", "text is not valid UTF-8"},
		{"twice", "é one, one", "one", `locating "one" in document doc.md: it occurs exactly at 2 places, want one: characters [2:5], [7:10]`},
		{"overlapping itself", "banana", "ana", "it occurs exactly at 2 places, want one: characters [1:4], [3:6]"},
		{"many times", strings.Repeat("ab", 1000), "b", "it occurs exactly at 1000 places, want one: characters [1:2], [3:4], [5:6], [7:8], [9:10], …"},
		{"twice up to white space", "a\nb a\tb", "a b", "it occurs up to white space at 2 places, want one: characters [0:3], [4:7]"},
		{"absent", "é one\ntwo three", "one two four", `it does not occur: its first 7 characters, up to white space, do at [2:9], but then the document has " three", not " four"`},
		{"absent from the first character", "one", "two", "it does not occur, nor does its first character"},
		{"longer than the document", "one two", "one two three", `its first 7 characters, up to white space, do at [0:7], but then the document has "", not " three"`},
		{"breaks off inside a character", "caf\u00e9", "caf\u00e8", `its first 3 characters, up to white space, do at [0:3], but then the document has "é", not "è"`},
		{"empty document", "", "one", "it does not occur, nor does its first character"},
		{"long", "x", strings.Repeat("word ", 100), `locating "word word word word word word word word "… in document doc.md`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chunkers.Locate(documentOf(t, "doc.md", tt.doc), tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || got != (spans.Span{}) {
				t.Errorf("got span %v, error %v, want one with: %s", got, err, tt.want)
			}
		})
	}
	if _, err := chunkers.Locate(nil, "text"); err == nil {
		t.Error("nil document: got no error")
	}
}

func FuzzLocate(f *testing.F) {
	f.Add("Über uns:\r\n\r\nWir sind  viele.\n", "uns: Wir")
	f.Add("banana", "ana")
	f.Add("a\u3000b \ufffd", " b\n\ufffd")
	f.Add("\u00e9", "\u00e8")
	f.Fuzz(func(t *testing.T, text, wanted string) {
		doc, err := spans.NewDocument("doc", text, nil)
		if err != nil {
			return
		}
		// How often it occurs, found the slow way.
		exact, loose := 0, 0
		folded, pattern := " "+foldSlowly(text)+" ", strings.TrimSpace(foldSlowly(wanted))
		for i := range text {
			if strings.HasPrefix(text[i:], wanted) {
				exact++
			}
		}
		for i := range folded {
			if strings.HasPrefix(folded[i:], pattern) {
				loose++
			}
		}
		span, err := chunkers.Locate(doc, wanted)
		unique := exact == 1 || exact == 0 && loose == 1
		if pattern == "" || !utf8.ValidString(wanted) {
			unique = false
		}
		if (err == nil) != unique {
			t.Fatalf("%q in %q: got error %v, but it occurs %d times exactly, %d up to white space", wanted, text, err, exact, loose)
		}
		if err != nil {
			return
		}
		got, err := doc.Slice(span)
		if err != nil || exact == 1 && got != wanted || strings.TrimSpace(foldSlowly(got)) != pattern {
			t.Fatalf("%q in %q: got %v, text %q, error %v", wanted, text, span, got, err)
		}
		if exact == 0 && strings.TrimSpace(got) != got {
			t.Fatalf("%q in %q: got %q, with white space at its ends", wanted, text, got)
		}
	})
}

// foldSlowly replaces every run of white space by one space.
func foldSlowly(text string) string {
	var b strings.Builder
	for _, r := range text {
		if !unicode.IsSpace(r) {
			b.WriteRune(r)
		} else if !strings.HasSuffix(b.String(), " ") {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func BenchmarkLocate(b *testing.B) {
	lines := numbered(20_000, "Monday the %dth, as every day: nothing to report.\n")
	letters := strings.Repeat("a", 1<<20)
	tests := []struct{ name, doc, text string }{
		{"exact", lines, "the 17654th, as every day: nothing to report.\nMonday"},
		{"white-space-changed", lines, "the 17654th, as every day: nothing to report. Monday"},
		{"absent", lines, "the 17654th, as every day: nothing to report. Tuesday"},
		{"ambiguous", letters, letters[:1<<19]},
	}
	for _, tt := range tests {
		b.Run("text="+tt.name, func(b *testing.B) {
			doc := documentOf(b, "doc.md", tt.doc)
			b.SetBytes(int64(len(tt.doc)))
			b.ReportAllocs()
			for b.Loop() {
				chunkers.Locate(doc, tt.text)
			}
		})
	}
}
