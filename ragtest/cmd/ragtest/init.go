package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/rageval/rageval/spans"
)

const libraryModule = "github.com/rageval/rageval"

var initCommand = command{
	name:    "init",
	summary: "write a test, a corpus reader and an empty golden file for a folder of documents",
	usage:   "[flags] DIR",
	help:    initHelp,
	define: func(flags *flag.FlagSet) runFunc {
		s := scaffold{}
		flags.StringVar(&s.out, "out", ".", "`folder` of the Go package that the test is for; is made if need be")
		flags.StringVar(&s.name, "name", "", "`name` of the collection, of which those of files and functions are made; none: that of DIR")
		flags.StringVar(&s.level, "level", string(tokenLevel), "`level` of the ground truth: token, which are passages, whatever the chunker, or chunk, which are chunks of one chunker")
		flags.Func("pattern", "`pattern` of the documents in DIR, such as **/*.md; may be repeated; none: all text files", func(p string) error {
			s.patterns = append(s.patterns, p)
			return nil
		})
		return s.run
	},
}

const initHelp = `
DIR is a folder of text documents: Markdown, HTML, plain text and the like. For a
folder docs/handbook, written are

	handbook_retrieval_test.go     the test, which says what to do next
	handbook_corpus_test.go        the function that reads the documents
	testdata/handbook.golden.jsonl the golden file, without queries

in the folder that -out names, as part of its package, if it has one. All of them are
written or none: none is if one of them exists, or a name in them is taken.

The test skips itself until the golden file has a query. To add one, append a line such
as the one that the test's comment shows: it names a document of yours and quotes a
passage of it. Offsets need not be written: the quotation is found by its text, and must
occur once.

What else to do, such as what to go get, is printed.

Examples:

	ragtest init docs/handbook
	ragtest init -out internal/search -name faq -pattern '**/*.html' www/faq
	ragtest init -level chunk docs/handbook
`

// scaffold is what ragtest init is told to do.
type scaffold struct {
	out      string
	name     string
	level    string
	patterns []string
}

func (s *scaffold) run(ctx context.Context, e *env, args []string) error {
	if len(args) != 1 {
		return misuse("found %s, want one: the folder of documents", counted(len(args), "argument", "arguments"))
	}
	if s.level != string(tokenLevel) && s.level != string(chunkLevel) {
		return misuse("-level is %q: want %s or %s", s.level, tokenLevel, chunkLevel)
	}
	dir := args[0]
	if s.name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		s.name = fileName(filepath.Base(abs))
	} else if !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(s.name) {
		return misuse("-name is %q: want a lower-case letter and then letters, digits and _", s.name)
	}
	in := &inputs{ctx: ctx}
	var skipped map[string]int
	if s.patterns == nil && isFolder(dir) {
		counts, err := survey(in, dir)
		if err != nil {
			return fmt.Errorf("reading folder %s: %w", dir, err)
		}
		s.patterns = documentPatterns(counts)
		skipped = maps.Clone(counts)
		maps.DeleteFunc(skipped, func(ext string, _ int) bool { return slices.Contains(textExtensions, strings.ToLower(ext)) })
	}
	corpus, err := readCorpus(in, dir, nonEmpty(s.patterns))
	if err != nil {
		return err
	}
	target, err := findPackage(s.out)
	if err != nil {
		return err
	}
	t, err := s.describe(ctx, dir, corpus, target)
	if err != nil {
		return err
	}
	files, err := t.files()
	if err != nil {
		return err
	}
	if err := target.check(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := writeNew(s.out, files); err != nil {
		return err
	}
	for ext, n := range sorted(skipped) {
		fmt.Fprintf(e.stderr, "ragtest init: note: %s not read, for what ends in %q is not known to be text: convert it, or use -pattern\n", counted(n, "file", "files"), ext)
	}
	_, err = fmt.Fprint(e.stdout, t.nextSteps(target, files))
	return err
}

// nonEmpty returns nil for an empty list.
func nonEmpty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// sorted ranges over a map in order of its keys.
func sorted(m map[string]int) func(func(string, int) bool) {
	return func(yield func(string, int) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// fileName makes a part of file names of the name of a folder: ASCII letters in lower
// case, digits, and _ for what is between.
func fileName(base string) string {
	words := strings.FieldsFunc(strings.ToLower(base), func(r rune) bool {
		return r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	name := strings.Join(words, "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = strings.TrimSuffix("docs_"+name, "_")
	}
	return name
}

// identifier makes a Go name of a file name.
func identifier(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// describe gathers what the test is to say.
func (s *scaffold) describe(ctx context.Context, dir string, corpus *spans.Corpus, p *goPackage) (*testTemplate, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(p.dir, resolved(abs))
	if err != nil {
		return nil, fmt.Errorf("naming %s as seen from %s: %w", dir, s.out, err)
	}
	t := &testTemplate{
		Package:  p.name,
		Name:     s.name,
		Title:    identifier(s.name),
		Func:     strings.ToLower(identifier(s.name)[:1]) + identifier(s.name)[1:],
		Chunk:    s.level == string(chunkLevel),
		Dir:      filepath.ToSlash(relative),
		Patterns: s.patterns,
		Docs:     corpus.Len(),
		html:     true,
	}
	for doc := range corpus.All() {
		ext := strings.ToLower(filepath.Ext(string(doc.ID())))
		t.html = t.html && (ext == ".html" || ext == ".htm")
	}
	t.outside = p.root != "" && !within(p.root, resolved(abs))
	if t.Example, err = t.example(ctx, corpus); err != nil {
		return nil, err
	}
	return t, nil
}

func within(root, path string) bool {
	relative, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(relative)
}

// newFile is a file to be written.
type newFile struct {
	name string
	data []byte
}

// writeNew writes files that must not exist, all of them or none.
func writeNew(dir string, files []newFile) (err error) {
	var existing []error
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); err == nil {
			existing = append(existing, fmt.Errorf("%s exists already: nothing is written", path))
		}
	}
	if len(existing) > 0 {
		return errors.Join(existing...)
	}
	var written []string
	defer func() {
		if err != nil {
			for _, path := range slices.Backward(written) {
				os.Remove(path) // folders only if they are empty
			}
		}
	}()
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		made, err := makeFolders(filepath.Dir(path))
		written = append(written, made...)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		written = append(written, path)
		_, err = file.Write(f.data)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// makeFolders makes a folder and what is missing above it, and returns what it made.
func makeFolders(dir string) (made []string, err error) {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if made, err = makeFolders(parent); err != nil {
			return made, err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return made, err
	}
	return append(made, dir), nil
}
