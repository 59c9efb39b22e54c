package onnx

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rageval/rageval/chunkers/tokens"
)

// Model says which model is run, and how. Only Dir is needed.
type Model struct {
	// Dir is the folder that holds the model and tokenizer.json, as it is
	// downloaded from the Hugging Face Hub, with config.json and the files of
	// sentence-transformers where there are any.
	Dir string

	// File is the model's file, relative to Dir; "": model.onnx, or
	// onnx/model.onnx if there is no such file.
	File string

	Backend Backend // what runs the model; zero: ONNX Runtime if its library is found, else pure Go

	// Library is ONNX Runtime's shared library, or the folder that holds it; "":
	// that in the environment variable ORT_LIBRARY_PATH, or else in one of the
	// usual places.
	Library string

	// MaxTokens is how many tokens of a text, or of a query and a text together,
	// the model reads, its special tokens included; what is longer is cut off and
	// counted. 0: what the model's files say, or else 512.
	MaxTokens int

	// BatchTokens is how many tokens are run at once, padding included: a measure
	// of the memory that takes, and of how long cancelling may. A single text may
	// have more. 0: 2,048.
	BatchTokens int
}

const defaultBatchTokens = 2048

// Backend is what runs a model.
type Backend int

const (
	AnyBackend  Backend = iota // ONNX Runtime if its library is found, else pure Go
	ONNXRuntime                // ONNX Runtime's shared library, 1.23 or later
	PureGo                     // GoMLX: nothing to install, and many times slower
)

func (m Model) validate() error {
	switch {
	case m.Dir == "":
		return errors.New(`field Dir: got "", want the folder of a model`)
	case m.Backend < 0 || m.Backend > PureGo:
		return fmt.Errorf("field Backend: got %d, want AnyBackend, ONNXRuntime or PureGo", int(m.Backend))
	case m.Backend == PureGo && m.Library != "":
		return fmt.Errorf("field Library: got %q, want none with the backend PureGo", m.Library)
	case m.MaxTokens < 0:
		return fmt.Errorf("field MaxTokens: got %d, want at least 0", m.MaxTokens)
	case m.BatchTokens < 0:
		return fmt.Errorf("field BatchTokens: got %d, want at least 0", m.BatchTokens)
	}
	return nil
}

// name returns what the model is called: its folder's name.
func (m Model) name() string {
	if abs, err := filepath.Abs(m.Dir); err == nil && m.Dir != "" {
		return filepath.Base(abs)
	}
	return filepath.Base(m.Dir)
}

// String returns the name of the model and the fields that change results.
func (m Model) String() string {
	s := "onnx/" + m.name()
	if m.File != "" {
		s += "/file=" + m.File
	}
	if m.MaxTokens != 0 {
		s += fmt.Sprintf("/max=%d", m.MaxTokens)
	}
	return s
}

// load reads a model.
func (m Model) load() (_ *loaded, err error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	file, err := m.find()
	if err != nil {
		return nil, err
	}
	l := &loaded{name: m.name(), batchTokens: cmp.Or(m.BatchTokens, defaultBatchTokens)}
	if l.tokenizer, err = m.tokenizer(); err != nil {
		return nil, err
	}
	if l.limits, err = m.limits(); err != nil {
		return nil, err
	}
	if l.session, err = m.open(filepath.Join(m.Dir, filepath.FromSlash(file))); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := checkInputs(l.inputs()); err != nil {
		l.close()
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

// open loads the model's file in a backend.
func (m Model) open(path string) (session, error) {
	if m.Backend != PureGo {
		library, err := findLibrary(m.Library)
		switch {
		case err == nil:
			return openORT(library, path)
		case m.Backend == ONNXRuntime || !errors.Is(err, errNoLibrary):
			return nil, err
		}
	}
	return openGo(path)
}

// tokenizer reads the model's tokenizer.
func (m Model) tokenizer() (*tokens.ModelTokenizer, error) {
	content, err := os.ReadFile(filepath.Join(m.Dir, "tokenizer.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file tokenizer.json: %s", m.toGet())
	}
	if err != nil {
		return nil, err
	}
	return tokens.ReadTokenizer("model", content)
}

// find returns the model's file, relative to its folder.
func (m Model) find() (string, error) {
	if info, err := os.Stat(m.Dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("there is no such folder: %s", m.toGet())
	}
	files := []string{m.File}
	if m.File == "" {
		files = []string{"model.onnx", "onnx/model.onnx"}
	}
	for _, file := range files {
		path := filepath.Join(m.Dir, filepath.FromSlash(file))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return file, checkStart(path)
		}
	}
	return "", fmt.Errorf("there is no file %s: %s", strings.Join(files, " or "), m.toGet())
}

// checkStart returns an error for a file that was not downloaded.
func checkStart(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	start := make([]byte, 32)
	n, err := io.ReadFull(f, start)
	switch {
	case err == io.EOF:
		return fmt.Errorf("%s is empty", path)
	case err != nil && err != io.ErrUnexpectedEOF:
		return err
	case bytes.HasPrefix(start[:n], []byte("version https://git-lfs")):
		return fmt.Errorf(`%s is not the model but a pointer to it: run "git lfs pull"`, path)
	}
	return nil
}

// toGet says how to get a model.
func (m Model) toGet() string {
	return "download a model that has been exported to ONNX, such as with " +
		`"hf download sentence-transformers/all-MiniLM-L6-v2 --include onnx/model.onnx '*.json' '1_Pooling/*' --local-dir ` + m.Dir +
		`", or export one with "optimum-cli export onnx"`
}
