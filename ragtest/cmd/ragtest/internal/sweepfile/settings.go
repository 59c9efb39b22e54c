package sweepfile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Settings are those of a sweep. [Default] has the values of what a file leaves out.
type Settings struct {
	Seed            uint64   // of the sample
	Sample          int      // how many queries to take; 0: all
	DataPath        string   // the collection
	DataForm        string   // one of Forms
	Corpus          string   // the documents of a golden file
	MinAnswerLength int      // characters; -1: that of the mode
	PreprocessHTML  string   // auto, on or off
	Mode            string   // corpus or context
	KValues         []int    // they differ
	FetchK          []int    // candidates of rerankers; nil: 4*K
	Budget          Budget   // zero: none
	Metrics         []string // nil: those of a sweep
	MaxUnlocated    int      // chunks of each chunker that may lack a place
	OutputDir       string   // "": nothing is written
	Embedders       []string // of configurations that name none
	Rerankers       []string // nil: none
	Configurations  []Configuration

	places map[named]string // in the file; of what it names that this package does not know
}

// named is an element of the list of names under a key.
type named struct{ key, name string }

// At returns err, which is about a name in the list under a key, such as metrics or
// configurations.large.embedders, with the place of that name in the file, if it is from
// there.
func (s *Settings) At(key, name string, err error) error {
	if place := s.places[named{key, name}]; place != "" {
		return fmt.Errorf("%s: key %q: %w", place, key, err)
	}
	return err
}

// Budget is a size of context.
type Budget struct {
	Size int    // 0: none
	Unit string // characters, cl100k or o200k
}

// Configuration is one or, where a setting has several values, several chunkers under
// one name.
type Configuration struct {
	Name      string   // "": of chunkers that no file names
	Chunkers  []string // as the catalog prints them
	Embedders []string // nil: those of the settings
}

// Forms are the forms of collections that have spans; auto finds out which.
var Forms = []string{"auto", "golden", "langsmith", "squad", "squad1", "squad-flat", "nq", "chroma"}

// Default returns the settings of a file without keys.
func Default() Settings {
	return Settings{Seed: 42, DataForm: "auto", MinAnswerLength: -1, PreprocessHTML: "auto", Mode: "corpus", KValues: []int{1, 3, 5},
		OutputDir: "ragtest-sweep", Embedders: []string{"lexical"}}
}

// key is a key at the top of a file, and a flag.
type key struct {
	name string
	kind kind // of its value
	read func(*reader, *Settings, *yaml.Node)
}

type kind int

const (
	text kind = iota
	number
	texts
	numbers
)

// keys are all keys but configurations.
var keys = []key{
	{"seed", number, func(r *reader, s *Settings, n *yaml.Node) {
		r.number(n, 0, maxSeed, func(v int) { s.Seed = uint64(v) })
	}},
	{"sample", number, func(r *reader, s *Settings, n *yaml.Node) { r.number(n, 0, maxNumber, into(&s.Sample)) }},
	{"data_path", text, func(r *reader, s *Settings, n *yaml.Node) { r.path(n, into(&s.DataPath)) }},
	{"data_form", text, func(r *reader, s *Settings, n *yaml.Node) { r.choice(n, Forms, into(&s.DataForm)) }},
	{"corpus", text, func(r *reader, s *Settings, n *yaml.Node) { r.path(n, into(&s.Corpus)) }},
	{"min_answer_length", number, func(r *reader, s *Settings, n *yaml.Node) { r.number(n, 0, maxNumber, into(&s.MinAnswerLength)) }},
	{"preprocess_html", text, func(r *reader, s *Settings, n *yaml.Node) {
		r.choice(n, []string{"auto", "on", "off"}, into(&s.PreprocessHTML))
	}},
	{"mode", text, func(r *reader, s *Settings, n *yaml.Node) { r.choice(n, []string{"corpus", "context"}, into(&s.Mode)) }},
	{"k_values", numbers, func(r *reader, s *Settings, n *yaml.Node) { r.numbers(n, 1, maxNumber, into(&s.KValues)) }},
	{"fetch_k", numbers, func(r *reader, s *Settings, n *yaml.Node) { r.numbers(n, 1, maxNumber, into(&s.FetchK)) }},
	{"budget", text, func(r *reader, s *Settings, n *yaml.Node) { r.budget(n, into(&s.Budget)) }},
	{"metrics", texts, func(r *reader, s *Settings, n *yaml.Node) { distinct(r, n, r.name, into(&s.Metrics)) }},
	{"max_unlocated", number, func(r *reader, s *Settings, n *yaml.Node) { r.number(n, 0, maxNumber, into(&s.MaxUnlocated)) }},
	{"output_dir", text, func(r *reader, s *Settings, n *yaml.Node) { r.path(n, into(&s.OutputDir)) }},
	{"embedders", texts, func(r *reader, s *Settings, n *yaml.Node) { r.components(n, into(&s.Embedders)) }},
	{"rerankers", texts, func(r *reader, s *Settings, n *yaml.Node) { r.components(n, into(&s.Rerankers)) }},
}

const (
	maxNumber = 1 << 28 // as much as a sweep's K may be
	maxSeed   = 1<<63 - 1
)

func into[T any](to *T) func(T) { return func(v T) { *to = v } }

// Keys returns the keys of a file but configurations, in the order in which they are
// documented.
func Keys() []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

// Read reads a file. Paths in it are relative to its folder.
func Read(path string) (Settings, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Settings{}, fmt.Errorf("reading the settings: %w", err)
	}
	return Parse(path, data)
}

// Parse reads data as the content of the file at path, which is not opened.
func Parse(path string, data []byte) (Settings, error) {
	r := &reader{file: path, dir: filepath.Dir(path)}
	root, err := r.document(data)
	if err != nil {
		return Settings{}, err
	}
	s := Default()
	known := append(Keys(), "configurations")
	r.pairs(root, func(name, value *yaml.Node) {
		i := slices.Index(known, name.Value)
		switch {
		case i < 0:
			r.wrong(name, "found the key %q, want one of %s", name.Value, strings.Join(known, ", "))
		case i == len(keys):
			r.configurations(value, &s.Configurations)
		default:
			r.under(name.Value, func() { keys[i].read(r, &s, value) })
		}
	})
	if err := r.failure(); err != nil {
		return Settings{}, err
	}
	s.places = r.places
	return s, nil
}

// Override sets one of Keys to the value of a flag, in which commas separate the
// elements of a list. Paths are relative to the working directory.
func (s *Settings) Override(name, value string) error {
	i := slices.Index(Keys(), name)
	if i < 0 {
		return fmt.Errorf("no key %q", name)
	}
	scalar := func(value string) *yaml.Node {
		tag := "!!str"
		if (keys[i].kind == number || keys[i].kind == numbers) && whole.MatchString(value) {
			tag = "!!int"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
	}
	n := scalar(value)
	if keys[i].kind == texts || keys[i].kind == numbers {
		n = &yaml.Node{Kind: yaml.SequenceNode}
		for element := range strings.SplitSeq(value, ",") {
			n.Content = append(n.Content, scalar(strings.TrimSpace(element)))
		}
	}
	s.places = maps.Clone(s.places)
	maps.DeleteFunc(s.places, func(n named, _ string) bool { return n.key == name })
	r := &reader{}
	keys[i].read(r, s, n)
	return r.failure()
}

// UseChunkers replaces the configurations by chunkers, by their names in the catalog.
func (s *Settings) UseChunkers(names []string) error {
	r := &reader{}
	c := Configuration{}
	for _, name := range names {
		r.chunkers(&yaml.Node{}, name, nil, &c)
	}
	s.Configurations = []Configuration{c}
	return r.failure()
}
