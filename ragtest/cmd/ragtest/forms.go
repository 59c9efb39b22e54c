package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// form is a form of data sets.
type form string

const (
	formGolden    form = "golden"
	formLangSmith form = "langsmith"
	formSQuAD     form = "squad"      // nested, version 2.0
	formSQuAD1    form = "squad1"     // nested, version 1.1
	formSQuADFlat form = "squad-flat" // {"examples":[…]}
	formNQ        form = "nq"
	formChroma    form = "chroma"
	formBEIR      form = "beir"
	formTREC      form = "trec"
)

// level is what the ground truth of a collection names.
type level string

const (
	tokenLevel    level = "token"
	chunkLevel    level = "chunk"
	documentLevel level = "document"
)

var forms = []form{formGolden, formLangSmith, formSQuAD, formSQuAD1, formSQuADFlat, formNQ, formChroma, formBEIR, formTREC}

// writes reports whether the form can be written, from ground truth of a level.
func (f form) writes(l level) bool {
	switch f {
	case formGolden, formLangSmith:
		return l == tokenLevel || l == chunkLevel
	case formSQuAD, formSQuAD1, formSQuADFlat, formChroma:
		return l == tokenLevel
	case formBEIR, formTREC:
		return l == tokenLevel || l == documentLevel
	}
	return false
}

// parseForm returns the form of that name.
func parseForm(flag, name string) (form, error) {
	var names []string
	for _, f := range forms {
		if string(f) == name {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", misuse("-%s is %q: want one of %s", flag, name, strings.Join(names, ", "))
}

// detect returns the form of a file or a folder, by what is in it.
func detect(in *inputs, name string) (form, error) {
	if name != stdinName && isFolder(name) {
		return detectFolder(name)
	}
	file, err := in.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	r, err := unpacked(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	head, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	if f := formOf(head); f != "" {
		return f, nil
	}
	return "", misuse("%s: its form is not known by its beginning: say it with -from", name)
}

// unpacked returns what r holds, whether it is compressed or not.
func unpacked(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	if magic, err := buffered.Peek(2); err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("unpacking gzip: %w", err)
	}
	return unzipped, nil
}

// formOf returns the form of a file that begins with head, "" if it is not known.
func formOf(head []byte) form {
	head = bytes.TrimSpace(trimMark(head))
	if !bytes.HasPrefix(head, []byte("{")) {
		for line := range bytes.Lines(head) {
			if columns := bytes.Fields(line); len(columns) == 4 {
				return formTREC
			} else if len(columns) > 0 && columns[0][0] != '#' {
				break
			}
		}
		return ""
	}
	object := json.NewDecoder(bytes.NewReader(head))
	object.Token() // the brace
	for object.More() {
		key, err := object.Token()
		if err != nil {
			break
		}
		name, _ := key.(string)
		if f, ok := formKeys[name]; ok {
			return f
		}
		var skipped json.RawMessage
		if object.Decode(&skipped) != nil {
			break
		}
	}
	// It is malformed, or its first value is larger than head.
	for _, name := range slices.Sorted(maps.Keys(formKeys)) {
		if bytes.Contains(head, []byte(`"`+name+`":`)) {
			return formKeys[name]
		}
	}
	return ""
}

// formKeys are keys of the outermost object that tell a form.
var formKeys = map[string]form{
	"data":            formSQuAD,
	"examples":        formSQuAD,
	"kind":            formGolden,
	"inputs":          formGolden,
	"outputs":         formGolden,
	"example_id":      formNQ,
	"question_text":   formNQ,
	"document_html":   formNQ,
	"document_text":   formNQ,
	"document_tokens": formNQ,
	"annotations":     formNQ,
}

func detectFolder(dir string) (form, error) {
	for _, mark := range []struct {
		file string
		form form
	}{{"questions_df.csv", formChroma}, {"corpus.jsonl", formBEIR}, {"corpus.jsonl.gz", formBEIR}, {"golden.jsonl", formGolden}, {"golden.jsonl.gz", formGolden}} {
		if _, err := os.Stat(filepath.Join(dir, mark.file)); err == nil {
			return mark.form, nil
		}
	}
	return "", misuse("%s: the folder holds no questions_df.csv (chroma), corpus.jsonl (beir) or golden.jsonl (golden)", dir)
}

// goldenFiles returns the golden file of a folder and the folder of its corpus.
func goldenFiles(dir string) (file, corpus string, err error) {
	for _, name := range []string{"golden.jsonl", "golden.jsonl.gz"} {
		file = filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			return file, filepath.Join(dir, "corpus"), nil
		}
	}
	return "", "", fmt.Errorf("%s: the folder holds no golden.jsonl: %w", dir, fs.ErrNotExist)
}
