package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/html"
	"github.com/rageval/rageval/chunkers/markdown"
	"github.com/rageval/rageval/chunkers/sentence"
	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/spans"
)

// all holds chunkers of every kind, with every field set somewhere.
var all = []fmt.Stringer{
	chunkers.FixedSize{Size: 200, Overlap: 50},
	chunkers.RecursiveCharacter{Size: 200},
	chunkers.RecursiveCharacter{Size: 200, Overlap: 50, Separators: chunkers.MarkdownSeparators, KeepSeparator: chunkers.KeepEnd, Length: tokens.Length(tokens.O200K), Trim: true},
	chunkers.RecursiveCharacter{Size: 9, Separators: []string{"/", "a b", "\n", `"`, ",", "é", "\x00", ""}, KeepSeparator: chunkers.KeepNone},
	tokens.FixedToken{Tokens: 100, Overlap: 20},
	tokens.FixedToken{Tokens: 100, Encoding: tokens.O200K},
	sentence.Sentence{MaxSize: 400, Overlap: 1},
	sentence.Paragraph{MaxSize: 900, MinSize: 100},
	sentence.SemanticDensity{Size: 400, MinOverlap: 20, MaxOverlap: 200},
	markdown.Markdown{Size: 800, MinSize: 200, Overlap: 100, HeadingPrefix: true},
	html.HTML{Size: 800, MinSize: 200, Overlap: 100, PlainText: true, HeadingPrefix: true},
	chunkers.WithContext(chunkers.FixedSize{Size: 20}, 10, 5).(fmt.Stringer),
}

func TestParseIsTheInverseOfString(t *testing.T) {
	kinds := map[string]bool{}
	for _, c := range all {
		name := c.String()
		kind, _, _ := strings.Cut(name, "/")
		kinds[kind] = true
		got, err := Parse(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.String() != name {
			t.Errorf("got %s, want %s", got, name)
		}
		// It also does what the chunker of that name does.
		doc, err := spans.NewDocument("d", strings.Repeat("# One\n\nA first, short sentence. A second/one! <p>Third &amp; last</p>\n", 40), nil)
		if err != nil {
			t.Fatal(err)
		}
		a, errA := got.ChunkWithPositions(t.Context(), doc)
		b, errB := c.(chunkers.PositionAwareChunker).ChunkWithPositions(t.Context(), doc)
		if errA != nil || errB != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: what was parsed cuts differently: %v, %v", name, errA, errB)
		}
	}
	for _, e := range entries {
		if !kinds[e.name] {
			t.Errorf("no chunker of kind %s was tried", e.name)
		}
	}
}

func TestParseTakesFieldsInAnyOrder(t *testing.T) {
	c, err := Parse("recursive/trim=false/overlap=50/size=200")
	if err != nil || c.String() != "recursive/size=200/overlap=50" {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestParseErrors(t *testing.T) {
	for name, want := range map[string]string{
		"":                                   `unknown kind "": want one of fixed, recursive, fixedtoken`,
		"semantic/threshold=0.5":             `unknown kind "semantic"`,
		"fixed":                              "Size is 0",
		"fixed/size=10/overlap=10":           "Overlap is 10",
		"fixed/size=10/":                     `unknown field "" of fixed: want one of size, overlap, before, after`,
		"fixed/Size=10":                      `unknown field "Size"`,
		"fixed/size":                         "field size has no value",
		"fixed/size=":                        "field size has no value",
		"fixed/size=1/size=2":                "field size is given twice",
		"fixed/size=1e3":                     `field size: got "1e3", want a whole number`,
		"fixed/size=99999999999999999999":    "want a whole number",
		"fixed/size=9/before=-1":             "before is -1",
		"recursive/size=9/trim=yes":          `field trim: got "yes", want true or false`,
		"recursive/size=9/keep=middle":       "field keep",
		"recursive/size=9/length=words":      "field length",
		"recursive/size=9/separators=cobol":  "field separators",
		`recursive/size=9/separators="a`:     "want Go string literals",
		`recursive/size=9/separators="a""b"`: "want a comma",
		`recursive/size=9/separators="a",`:   "want Go string literals",
		"fixedtoken/tokens=9/encoding=gpt2":  "field encoding",
		"markdown/size=9/minsize=10":         "MinSize",
	} {
		c, err := Parse(name)
		if err == nil {
			t.Errorf("%s: got %v, want an error", name, c)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%s: got error %q, want one that contains the name and %q", name, err, want)
		}
	}
}

func TestFieldsAreThoseThatParseTakes(t *testing.T) {
	for _, e := range entries {
		for _, field := range Fields(e.name) {
			// "?" is no value of any field, and the error says whose it is.
			_, err := Parse(e.name + "/" + field + "=?")
			var wrong *FieldError
			if !errors.As(err, &wrong) || wrong.Field != field {
				t.Errorf("%s: field %s: got the error %v, want a FieldError of it", e.name, field, err)
			}
		}
	}
	if got := Fields("cobol"); got != nil {
		t.Errorf("got the fields %q of a kind that there is not", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range all {
		f.Add(c.String())
	}
	f.Fuzz(func(t *testing.T, name string) {
		c, err := Parse(name)
		if err != nil {
			return
		}
		again, err := Parse(c.String())
		if err != nil || again.String() != c.String() {
			t.Errorf("%q parses to %s, which parses to %v, %v", name, c, again, err)
		}
	})
}

func ExampleParse() {
	c, err := Parse("markdown/size=800/minsize=200")
	fmt.Println(c, err)
	_, err = Parse("markdown/width=800")
	fmt.Println(err)
	// Output:
	// markdown/size=800/minsize=200 <nil>
	// chunker "markdown/width=800": unknown field "width" of markdown: want one of size, minsize, overlap, headingprefix, before, after
}
