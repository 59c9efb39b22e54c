package sweepfile

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rageval/rageval/chunkers/catalog"
)

// maxChunkers is how many chunkers a configuration may stand for.
const maxChunkers = 1000

// nameForm is that of a configuration, which becomes part of the names of cells.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func (r *reader) configurations(n *yaml.Node, to *[]Configuration) {
	if m := follow(n); m.Kind == yaml.MappingNode && len(m.Content) == 0 {
		r.wrong(n, `key "configurations": found none, want at least one`)
	}
	r.under("configurations", func() {
		r.pairs(n, func(key, value *yaml.Node) {
			if !nameForm.MatchString(key.Value) {
				r.wrong(key, "found the name %q, want up to 100 letters, digits, dots, underscores and hyphens, a letter or digit first", key.Value)
				return
			}
			c := Configuration{Name: key.Value}
			r.under(key.Value, func() { r.configuration(value, &c) })
			*to = append(*to, c)
		})
	})
}

// setting is a field of a chunker with the values that a file gives it.
type setting struct {
	field  string
	node   *yaml.Node
	values []string
}

// configuration reads the name of a chunker, or a mapping.
func (r *reader) configuration(n *yaml.Node, c *Configuration) {
	if follow(n).Kind != yaml.MappingNode {
		r.text(n, func(name string) { r.chunkers(n, name, nil, c) })
		return
	}
	var name string
	var at *yaml.Node
	var rest [][2]*yaml.Node
	r.pairs(n, func(key, value *yaml.Node) {
		switch key.Value {
		case "chunker":
			at = value
			r.under(key.Value, func() { r.text(value, into(&name)) })
		case "embedders":
			r.under(key.Value, func() { r.components(value, into(&c.Embedders)) })
		default:
			rest = append(rest, [2]*yaml.Node{key, value})
		}
	})
	switch {
	case at == nil:
		r.wrong(n, "found no key chunker, want one with a chunker such as recursive or recursive/size=200")
		return
	case name == "":
		return
	}
	kind, _, _ := strings.Cut(name, "/")
	fields := catalog.Fields(kind)
	before := len(r.errs)
	var settings []setting
	for _, pair := range rest {
		key, value := pair[0], pair[1]
		if fields != nil && !slices.Contains(fields, key.Value) {
			r.wrong(key, "found the key %q, want one of chunker, embedders and, for %s, %s", key.Value, kind, strings.Join(fields, ", "))
			continue
		}
		r.under(key.Value, func() {
			distinct(r, value, r.settingValue, func(values []string) { settings = append(settings, setting{key.Value, value, values}) })
		})
	}
	if len(r.errs) == before {
		r.under("chunker", func() { r.chunkers(at, name, settings, c) })
	}
}

// settingValue reads a number, a truth value or a text, as a chunker prints it.
func (r *reader) settingValue(n *yaml.Node, use func(string)) {
	switch s := follow(n); {
	case is(s, "!!int") && whole.MatchString(s.Value), is(s, "!!str") && s.Value != "":
		use(s.Value)
	case is(s, "!!bool"):
		use(strings.ToLower(s.Value))
	default:
		r.wrong(n, "found %s, want a whole number, true, false or a text", found(n))
	}
}

// chunkers adds the chunkers of every combination of the settings, of which the last
// changes fastest.
func (r *reader) chunkers(at *yaml.Node, name string, settings []setting, c *Configuration) {
	total := 1
	for _, s := range settings {
		if total *= len(s.values); total > maxChunkers {
			r.wrong(at, "found settings of more than %d combinations, want at most as many", maxChunkers)
			return
		}
	}
	for i := range total {
		full, left, every := name, i, total
		for _, s := range settings {
			every /= len(s.values)
			full += "/" + s.field + "=" + s.values[left/every]
			left %= every
		}
		chunker, err := catalog.Parse(full)
		switch {
		case err != nil:
			r.wrongChunker(at, settings, err)
			return
		case slices.Contains(c.Chunkers, chunker.String()):
			r.wrong(at, "found the chunker %s a second time, want chunkers that differ", chunker)
			return
		}
		c.Chunkers = append(c.Chunkers, chunker.String())
	}
}

// wrongChunker notes an error of the catalog at the setting that it is about, or else
// at the chunker.
func (r *reader) wrongChunker(at *yaml.Node, settings []setting, err error) {
	var field *catalog.FieldError
	if errors.As(err, &field) {
		for _, s := range settings {
			if s.field == field.Field {
				at = s.node
			}
		}
	}
	r.wrong(at, "%v", err)
}
