// Package realdata finds the real corpora and models that some tests measure
// against. They are not part of the repository.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the folder elem below the folder that the environment variable
// RAGTEST_DATA names: the one that holds data/ and models/. It skips the test
// if the variable is unset, and fails it if the variable is not an absolute
// path to such a folder.
//
// Such tests want -count=1: the test cache does not see files outside the
// module.
func Dir(tb testing.TB, elem ...string) string {
	tb.Helper()
	root := os.Getenv("RAGTEST_DATA")
	if root == "" {
		tb.Skip("RAGTEST_DATA is not set: it names the folder that holds the real corpora (data/) and models (models/)")
	}
	if !filepath.IsAbs(root) {
		tb.Fatalf("RAGTEST_DATA=%q: want an absolute path", root)
	}
	for _, sub := range []string{"data", "models"} {
		if info, err := os.Stat(filepath.Join(root, sub)); err != nil || !info.IsDir() {
			tb.Fatalf("RAGTEST_DATA=%q: want a folder that holds data/ and models/: %v", root, err)
		}
	}
	dir := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		tb.Fatalf("RAGTEST_DATA=%q: %v", root, err)
	}
	return dir
}
