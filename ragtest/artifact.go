package ragtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// keep writes the result to a file of its own in the test's artifact directory,
// and returns the label of this run among those of the test: see [labels].
func keep(tb testing.TB, name string, r *Result) (label string, err error) {
	data, err := json.Marshal(struct {
		Test string `json:"test"`
		versionedResult
	}{tb.Name(), versionedResult{resultSchemaVersion, resultFields(*r)}})
	if err != nil {
		return "", fmt.Errorf("encoding the result: %w", err)
	}
	f, label, err := createArtifact(tb.ArtifactDir(), name)
	if err != nil {
		return "", fmt.Errorf("keeping the result: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return label, fmt.Errorf("keeping the result: %w", err)
	}
	return label, nil
}

// createArtifact creates the file of the first label that dir has none of. The
// files themselves tell the runs of a test apart: they do so also where each run
// wraps the testing.TB anew, and where the file system takes a for A.
func createArtifact(dir, name string) (f *os.File, label string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", err
	}
	run := 1
	for _, file := range files {
		if strings.HasPrefix(file.Name(), "ragtest") {
			run++
		}
	}
	for label = range labels(pathSafe(name), run) {
		file := "ragtest.json"
		if label != "" {
			file = "ragtest-" + label + ".json"
		}
		f, err = os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, label, err
}

// labels yields what the run of a test may be labelled, the best first: nothing,
// as the first run is; the name, if any; the name, if any, with a number, which
// is that of the run or, where that is taken, the next.
func labels(name string, run int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield("") || name != "" && !yield(name) {
			return
		}
		for yield(strings.TrimPrefix(name+"-"+strconv.Itoa(run), "-")) {
			run++
		}
	}
}

// pathSafe makes name fit for a file name, which may have 255 bytes, and an
// attribute key.
func pathSafe(name string) string {
	return abbreviate(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, name), 50)
}
