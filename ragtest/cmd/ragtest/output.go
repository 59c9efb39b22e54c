package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/wholefile"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/trec"
	"github.com/rageval/rageval/spans"
)

// isGoldenFile reports whether a golden file alone is to be written, and no documents.
func isGoldenFile(path string) bool {
	return path == "-" || strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl")
}

// output returns what writes a collection, which fits the form. All that is lost is in
// the ledger before it is called.
func (c *collection) output(f form, path string, l *ledger) (func(e *env) error, error) {
	if c.size() == 0 {
		return nil, errors.New("no query is left to be written")
	}
	switch {
	case f == formBEIR:
		return folderOutput(path, func(dir string) error {
			return fixtures.WriteBEIR(dir, &fixtures.DocumentCollection{Corpus: c.corpus, Queries: c.docs})
		}), nil
	case f == formChroma:
		return folderOutput(path, func(dir string) error {
			return fixtures.WriteChroma(dir, &fixtures.TokenCollection{Corpus: c.corpus, Queries: c.tokens})
		}), nil
	case f == formGolden && c.level == tokenLevel && !isGoldenFile(path):
		return c.goldenFolder(path, l)
	}
	data, err := c.encode(f, l)
	return func(e *env) error { return writeFile(e, path, data) }, err
}

// encode returns a collection in a form that is one file.
func (c *collection) encode(f form, l *ledger) ([]byte, error) {
	switch f {
	case formSQuAD:
		return fixtures.EncodeSQuADArticles(fixtures.SQuAD20, c.corpus, c.tokens)
	case formSQuAD1:
		return fixtures.EncodeSQuADArticles(fixtures.SQuAD11, c.corpus, c.tokens)
	case formSQuADFlat:
		return fixtures.EncodeSQuAD(c.corpus, c.tokens)
	case formTREC:
		return fixtures.EncodeQrels(trec.JudgmentsOf(c.docs))
	}
	var data []byte
	var err error
	if c.level == chunkLevel {
		data, err = fixtures.EncodeChunkTruth(c.corpus, c.chunks)
	} else {
		l.note(c.corpus.Len(), "document", "documents", "not written: the file names them, and has no place for their texts")
		data, err = fixtures.EncodeTokenTruth(c.corpus, c.tokens)
	}
	if f == formLangSmith && err == nil {
		// An example a line: what the header says is metadata of the data set there.
		_, data, _ = bytes.Cut(data, []byte("\n"))
		if c.level == chunkLevel {
			l.lose(chunkersNamed(c.chunks), "chunker", "chunkers", "not named: LangSmith has no place for it in an example")
		}
	}
	return data, err
}

// chunkersNamed returns 1 if queries say which chunker their chunk IDs belong to.
func chunkersNamed(queries []ragtest.ChunkQuery) int {
	for _, q := range queries {
		if q.Metadata["chunker"] != "" {
			return 1
		}
	}
	return 0
}

// goldenFolder returns what writes golden.jsonl and the documents, below corpus.
func (c *collection) goldenFolder(path string, l *ledger) (func(e *env) error, error) {
	renamed, err := c.renamed(asFile, l)
	if err != nil {
		return nil, err
	}
	titled := 0
	for doc := range renamed.corpus.All() {
		if len(doc.Metadata()) > 0 {
			titled++
		}
	}
	l.lose(titled, "document", "documents", "without metadata such as titles: a folder of files has no place for them")
	return folderOutput(path, func(dir string) error {
		for doc := range renamed.corpus.All() {
			if err := writeDocument(filepath.Join(dir, "corpus"), doc); err != nil {
				return err
			}
		}
		return fixtures.WriteTokenTruth(filepath.Join(dir, "golden.jsonl"), renamed.corpus, renamed.tokens)
	}), nil
}

func writeDocument(dir string, doc *spans.Document) error {
	path := filepath.Join(dir, filepath.FromSlash(string(doc.ID())))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, doc.Text())
	return errors.Join(err, f.Close())
}

// writeFile writes a file that is complete or not there at all, packed if it is named
// ….gz; - is standard output.
func writeFile(e *env, path string, data []byte) error {
	if path == "-" {
		_, err := e.stdout.Write(data)
		return err
	}
	if strings.HasSuffix(path, ".gz") {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed) // without name and time, so that equal data are equal files
		if _, err := w.Write(data); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		data = packed.Bytes()
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	return wholefile.Write(path, data)
}

func folderOutput(path string, fill func(dir string) error) func(*env) error {
	return func(*env) error { return writeFolder(path, fill) }
}

// writeFolder has a new folder filled beside path, and renames it. If there is a folder
// at path, which must be empty, it gets the contents.
func writeFolder(path string, fill func(dir string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	exists := false
	if _, err := os.Stat(path); err == nil {
		entries, err := os.ReadDir(path)
		if err != nil {
			return fmt.Errorf("want no file of this name, for a folder is written: %w", err)
		}
		if len(entries) > 0 {
			return errors.New("the folder is not empty")
		}
		exists = true
	}
	path = filepath.Clean(path)
	parent := filepath.Dir(path)
	if exists {
		parent = path // which may be the current folder, or a link to one elsewhere
	}
	hidden, err := os.MkdirTemp(parent, ".ragtest-*.tmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(hidden)
	// MkdirTemp makes a private folder: let one in it have the usual permissions.
	made := filepath.Join(hidden, "folder")
	if err := os.Mkdir(made, 0o777); err != nil {
		return err
	}
	if err := fill(made); err != nil {
		return err
	}
	if !exists {
		return os.Rename(made, path)
	}
	entries, err := os.ReadDir(made)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.Rename(filepath.Join(made, entry.Name()), filepath.Join(path, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
