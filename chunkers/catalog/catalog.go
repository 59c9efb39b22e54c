// Package catalog makes chunkers from their names, for sweeps and command lines.
// It imports every package of chunkers that needs no model; whoever does not
// parse names has no reason to import it.
package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/html"
	"github.com/rageval/rageval/chunkers/markdown"
	"github.com/rageval/rageval/chunkers/sentence"
	"github.com/rageval/rageval/chunkers/tokens"
)

// Chunker is what every chunker of the catalog is.
type Chunker interface {
	chunkers.Chunker
	chunkers.PositionAwareChunker
	chunkers.Validator
	fmt.Stringer
}

// entry is a kind of chunker: its name and fields, in the order in which it
// prints them.
type entry struct {
	name   string
	fields []string
	make   func(v *values) Chunker
}

var entries = []entry{
	{"fixed", []string{"size", "overlap"}, func(v *values) Chunker {
		return chunkers.FixedSize{Size: v.number("size"), Overlap: v.number("overlap")}
	}},
	{"recursive", []string{"size", "overlap", "separators", "keep", "length", "trim"}, func(v *values) Chunker {
		return chunkers.RecursiveCharacter{
			Size: v.number("size"), Overlap: v.number("overlap"), Separators: v.separators("separators"),
			KeepSeparator: parse(v, "keep", chunkers.ParseKeepSeparator), Length: v.length("length"), Trim: v.truth("trim"),
		}
	}},
	{"fixedtoken", []string{"tokens", "overlap", "encoding"}, func(v *values) Chunker {
		c := tokens.FixedToken{Tokens: v.number("tokens"), Overlap: v.number("overlap")}
		if v.has("encoding") {
			c.Encoding = parse(v, "encoding", tokens.ParseEncoding)
		}
		return c
	}},
	{"sentence", []string{"maxsize", "overlap"}, func(v *values) Chunker {
		return sentence.Sentence{MaxSize: v.number("maxsize"), Overlap: v.number("overlap")}
	}},
	{"paragraph", []string{"maxsize", "minsize"}, func(v *values) Chunker {
		return sentence.Paragraph{MaxSize: v.number("maxsize"), MinSize: v.number("minsize")}
	}},
	{"density", []string{"size", "minoverlap", "maxoverlap"}, func(v *values) Chunker {
		return sentence.SemanticDensity{Size: v.number("size"), MinOverlap: v.number("minoverlap"), MaxOverlap: v.number("maxoverlap")}
	}},
	{"markdown", []string{"size", "minsize", "overlap", "headingprefix"}, func(v *values) Chunker {
		return markdown.Markdown{Size: v.number("size"), MinSize: v.number("minsize"), Overlap: v.number("overlap"), HeadingPrefix: v.truth("headingprefix")}
	}},
	{"html", []string{"size", "minsize", "overlap", "plaintext", "headingprefix"}, func(v *values) Chunker {
		return html.HTML{Size: v.number("size"), MinSize: v.number("minsize"), Overlap: v.number("overlap"), PlainText: v.truth("plaintext"), HeadingPrefix: v.truth("headingprefix")}
	}},
}

// context lists the fields of [chunkers.WithContext], which any name may end in.
var context = []string{"before", "after"}

// Parse returns the chunker whose String is name: a kind and its fields, such as
//
//	recursive/size=200/overlap=50
//
// Fields may come in any order, a missing one has its zero value, and before=
// and after= decorate the chunker with [chunkers.WithContext]. The kinds are
// fixed, recursive, fixedtoken, sentence, paragraph, density, markdown and html;
// a length or encoding is that of package tokens, characters excepted. Chunkers
// that need a model or a file are not in the catalog.
//
// An unknown kind or field is an error that lists those there are; so is a value
// that does not parse, a field given twice, or what the chunker's Validate finds.
func Parse(name string) (Chunker, error) {
	kind, rest, _ := strings.Cut(name, "/")
	at := slices.IndexFunc(entries, func(e entry) bool { return e.name == kind })
	if at < 0 {
		var kinds []string
		for _, e := range entries {
			kinds = append(kinds, e.name)
		}
		return nil, fmt.Errorf("chunker %q: unknown kind %q: want one of %s", name, kind, strings.Join(kinds, ", "))
	}
	fields := slices.Concat(entries[at].fields, context)
	v := &values{of: map[string]string{}}
	if strings.Contains(name, "/") {
		for _, part := range strings.Split(rest, "/") {
			field, value, ok := strings.Cut(part, "=")
			switch {
			case !slices.Contains(fields, field):
				return nil, fmt.Errorf("chunker %q: unknown field %q of %s: want one of %s", name, field, kind, strings.Join(fields, ", "))
			case !ok || value == "":
				return nil, fmt.Errorf("chunker %q: field %s has no value: want %s=value", name, field, field)
			case v.has(field):
				return nil, fmt.Errorf("chunker %q: field %s is given twice", name, field)
			}
			v.of[field] = value
		}
	}
	c := entries[at].make(v)
	before, after := v.number("before"), v.number("after")
	if v.err == nil && (v.has("before") || v.has("after")) {
		c = chunkers.WithContext(c, before, after).(Chunker)
	}
	if v.err == nil {
		v.err = c.Validate()
	}
	if v.err != nil {
		return nil, fmt.Errorf("chunker %q: %w", name, v.err)
	}
	return c, nil
}

// Fields returns the names of the fields that a kind of chunker takes, nil if there is
// no such kind.
func Fields(kind string) []string {
	for _, e := range entries {
		if e.name == kind {
			return slices.Concat(e.fields, context)
		}
	}
	return nil
}

// FieldError is what [Parse] returns, wrapped, for a value that does not parse.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return "field " + e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// values are the fields of a name. The first that does not parse is kept as err.
type values struct {
	of  map[string]string
	err error
}

func (v *values) has(field string) bool { _, ok := v.of[field]; return ok }

// parse returns the zero value for a field that is not given.
func parse[T any](v *values, field string, parse func(string) (T, error)) T {
	var zero T
	text, ok := v.of[field]
	if !ok {
		return zero
	}
	value, err := parse(text)
	if err != nil && v.err == nil {
		v.err = &FieldError{field, err}
	}
	return value
}

func (v *values) number(field string) int {
	return parse(v, field, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0, fmt.Errorf("got %q, want a whole number", s)
		}
		return n, nil
	})
}

func (v *values) truth(field string) bool {
	return parse(v, field, func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, fmt.Errorf("got %q, want true or false", s)
		}
		return s == "true", nil
	})
}

// length knows the lengths that have a name: the encodings of package tokens.
func (v *values) length(field string) chunkers.Length {
	return parse(v, field, func(s string) (chunkers.Length, error) {
		e, err := tokens.ParseEncoding(s)
		if err != nil {
			return chunkers.Length{}, err
		}
		return tokens.Length(e), nil
	})
}

// separators reads the name of a ready-made list, or Go string literals with
// commas between them.
func (v *values) separators(field string) []string {
	return parse(v, field, func(s string) ([]string, error) {
		if !strings.HasPrefix(s, `"`) {
			return chunkers.SeparatorsNamed(s)
		}
		var list []string
		for rest := s; ; rest = rest[1:] {
			literal, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("got %q, want Go string literals with commas between them", s)
			}
			separator, err := strconv.Unquote(literal)
			if err != nil {
				return nil, err
			}
			list = append(list, separator)
			if rest = rest[len(literal):]; rest == "" {
				return list, nil
			}
			if rest[0] != ',' {
				return nil, fmt.Errorf("got %q, want a comma before %q", s, rest)
			}
		}
	})
}
