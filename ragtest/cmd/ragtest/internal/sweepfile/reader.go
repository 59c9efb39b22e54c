package sweepfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// reader reads the nodes of a file, and collects what is wrong.
type reader struct {
	file string // "": it reads the value of a flag
	dir  string // that paths are relative to; "": they stay as they are
	key  string // that is being read
	errs []error

	places map[named]string
}

// shownErrors is how many errors are listed.
const shownErrors = 20

// failure returns what is wrong, nil if nothing is.
func (r *reader) failure() error {
	if more := len(r.errs) - shownErrors; more > 0 {
		return errors.Join(append(r.errs[:shownErrors:shownErrors], fmt.Errorf("%s: and %d more errors", r.file, more))...)
	}
	return errors.Join(r.errs...)
}

// under calls read, which reads the value of a key.
func (r *reader) under(key string, read func()) {
	outer := r.key
	r.key = strings.TrimPrefix(outer+"."+key, ".")
	read()
	r.key = outer
}

// wrong notes what is wrong with a node.
func (r *reader) wrong(n *yaml.Node, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if r.key != "" {
		what = fmt.Sprintf("key %q: %s", r.key, what)
	}
	r.errs = append(r.errs, r.at(n.Line, n.Column, what))
}

func (r *reader) at(line, column int, what string) error {
	if r.file == "" {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %s", r.place(line, column), what)
}

func (r *reader) place(line, column int) string {
	return fmt.Sprintf("%s:%d:%d", r.file, max(line, 1), max(column, 1))
}

// document returns the value of the only document in data.
func (r *reader) document(data []byte) (*yaml.Node, error) {
	if err := r.checkText(data); err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var documents [2]yaml.Node
	for i := range documents {
		d := &documents[i]
		err := decoder.Decode(d)
		var bad *yaml.LoadError
		switch {
		case errors.Is(err, io.EOF) && i == 1:
			return documents[0].Content[0], nil
		case errors.As(err, &bad):
			what := bad.Message
			if bad.ContextMsg != "" {
				what = bad.ContextMsg + ": " + what
			}
			return nil, r.at(bad.Mark.Line, bad.Mark.Column, "reading YAML: "+what)
		case err != nil && !errors.Is(err, io.EOF):
			return nil, r.at(1, 1, "reading YAML: "+err.Error())
		case len(d.Content) != 1:
			return nil, r.at(d.Line, d.Column, "found nothing, want keys and values")
		}
	}
	return nil, r.at(documents[1].Line, documents[1].Column, "found a second document, want one")
}

// checkText returns an error for data that is not UTF-8.
func (r *reader) checkText(data []byte) error {
	line, column := 1, 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size == 1 {
			return r.at(line, column, fmt.Sprintf("found the byte %#02x, want text in UTF-8", data[i]))
		}
		i += size
		column++
		if c == '\n' {
			line, column = line+1, 1
		}
	}
	return nil
}

// follow returns the node that an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// found describes a node.
func found(n *yaml.Node) string {
	n = follow(n)
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "no value"
	case "!!str":
		return fmt.Sprintf("the text %q", n.Value)
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the truth value " + n.Value
	default:
		return fmt.Sprintf("%q of the type %s", n.Value, tag)
	}
}

// is reports whether n is a scalar of a type.
func is(n *yaml.Node, tag string) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == tag }

// pairs calls read with the keys, which are texts and differ, and values of a mapping.
func (r *reader) pairs(n *yaml.Node, read func(key, value *yaml.Node)) {
	m := follow(n)
	if m.Kind != yaml.MappingNode {
		r.wrong(n, "found %s, want keys and values", found(n))
		return
	}
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		before := first[key.Value]
		switch {
		case !is(key, "!!str"):
			r.wrong(key, "found %s as a key, want a text", found(key))
		case before != nil:
			r.wrong(key, "found the key %q a second time, after line %d, want it once", key.Value, before.Line)
		default:
			first[key.Value] = key
			read(key, value)
		}
	}
}

// text calls use with a text that is not empty.
func (r *reader) text(n *yaml.Node, use func(string)) {
	s := follow(n)
	switch {
	case is(s, "!!str") && s.Value != "":
		use(s.Value)
	case is(s, "!!int"), is(s, "!!float"), is(s, "!!bool"):
		r.wrong(n, "found %s, want a text, in quotes if it looks like that", found(n))
	default:
		r.wrong(n, "found %s, want a text that is not empty", found(n))
	}
}

// name calls use with a text, whose place is kept.
func (r *reader) name(n *yaml.Node, use func(string)) {
	r.text(n, func(name string) {
		r.keepPlace(n, name)
		use(name)
	})
}

func (r *reader) keepPlace(n *yaml.Node, name string) {
	if r.file == "" {
		return
	}
	if r.places == nil {
		r.places = make(map[named]string)
	}
	r.places[named{r.key, name}] = r.place(n.Line, n.Column)
}

// path calls use with a path, which may be empty, relative to the folder of the file.
func (r *reader) path(n *yaml.Node, use func(string)) {
	if s := follow(n); is(s, "!!str") && s.Value == "" {
		use("")
		return
	}
	r.text(n, func(path string) { use(r.resolve(path)) })
}

func (r *reader) resolve(path string) string {
	if r.dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

func (r *reader) choice(n *yaml.Node, of []string, use func(string)) {
	if s := follow(n); is(s, "!!str") && slices.Contains(of, s.Value) {
		use(s.Value)
		return
	}
	r.wrong(n, "found %s, want one of %s", found(n), strings.Join(of, ", "))
}

// whole is a number that all versions of YAML read alike: 010 is eight in some.
var whole = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func (r *reader) number(n *yaml.Node, low, high int, use func(int)) {
	if s := follow(n); is(s, "!!int") && whole.MatchString(s.Value) {
		if v, err := strconv.Atoi(s.Value); err == nil && low <= v && v <= high {
			use(v)
			return
		}
	}
	r.wrong(n, "found %s, want a whole number from %d to %d", found(n), low, high)
}

// distinct calls use with the elements of a list, which differ, or with the only
// value where there is no list, if all of them can be read.
func distinct[T comparable](r *reader, n *yaml.Node, read func(*yaml.Node, func(T)), use func([]T)) {
	elements := []*yaml.Node{n}
	if l := follow(n); l.Kind == yaml.SequenceNode {
		if elements = l.Content; len(elements) == 0 {
			r.wrong(n, "found an empty list, want at least one element")
		}
	}
	var values []T
	before := len(r.errs)
	for _, element := range elements {
		read(element, func(v T) {
			if slices.Contains(values, v) {
				r.wrong(element, "found %s a second time, want elements that differ", found(element))
			}
			values = append(values, v)
		})
	}
	if len(r.errs) == before {
		use(values)
	}
}

func (r *reader) numbers(n *yaml.Node, low, high int, use func([]int)) {
	distinct(r, n, func(e *yaml.Node, use func(int)) { r.number(e, low, high, use) }, use)
}

// ModelPrefix begins the name of an embedder whose rest is the path of its model.
const ModelPrefix = "model2vec:"

// components reads names of components. The path in one is relative to the folder of
// the file.
func (r *reader) components(n *yaml.Node, use func([]string)) {
	distinct(r, n, func(e *yaml.Node, use func(string)) {
		r.text(e, func(name string) {
			if path, ok := strings.CutPrefix(name, ModelPrefix); ok && path != "" {
				name = ModelPrefix + r.resolve(path)
			}
			r.keepPlace(e, name)
			use(name)
		})
	}, use)
}

// units are those of a budget. A token is one of cl100k if nothing else is said.
var units = map[string]string{"characters": "characters", "tokens": "cl100k", "cl100k": "cl100k", "o200k": "o200k"}

func (r *reader) budget(n *yaml.Node, use func(Budget)) {
	if s := follow(n); is(s, "!!str") {
		size, unit, _ := strings.Cut(s.Value, " ")
		v, err := strconv.Atoi(size)
		if u := units[unit]; u != "" && err == nil && whole.MatchString(size) && 1 <= v && v <= maxNumber {
			use(Budget{v, u})
			return
		}
	}
	r.wrong(n, `found %s, want a number from 1 to %d and a unit, characters, tokens, cl100k or o200k, as in "2000 tokens"`, found(n), maxNumber)
}
