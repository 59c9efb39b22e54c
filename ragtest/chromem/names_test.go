package chromem

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/philippgille/chromem-go"
)

// TestNamesOfFilesDiffer covers a number of chunks of which, by their plain
// places, some would share a file.
func TestNamesOfFilesDiffer(t *testing.T) {
	const count = 150_000
	var n names
	hashes := make(map[uint32]string, count)
	var variants []int
	for i := range count {
		id := n.at(i)
		if earlier, ok := hashes[fileHash(id)]; ok {
			t.Fatalf("%q and %q share a file", earlier, id)
		}
		hashes[fileHash(id)] = id
		if got, err := n.index(id, count); err != nil || got != i {
			t.Fatalf("ID %q of chunk %d: got place %d and error %v", id, i, got, err)
		}
		if len(id) > 6 {
			variants = append(variants, i)
		}
	}
	if len(variants) == 0 {
		t.Errorf("got no place whose hash is taken among %d: the test tests nothing", count)
	}
	for _, id := range []string{"", "x", "-1", "00", "1.1", "150000", "1e3"} {
		if i, err := n.index(id, count); err == nil {
			t.Errorf("ID %q: got place %d, want an error", id, i)
		}
	}
}

// TestFileHash compares with the files that chromem-go writes.
func TestFileHash(t *testing.T) {
	dir := t.TempDir()
	db, err := chromem.NewPersistentDB(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	collection, err := db.CreateCollection("names", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"0", "77000.1"} {
		if err := collection.AddDocument(t.Context(), chromem.Document{ID: id, Embedding: []float32{1}}); err != nil {
			t.Fatal(err)
		}
		if got := files(t, dir, fileHash(id)); got != 1 {
			t.Errorf("ID %q: got %d files named by its hash, want 1", id, got)
		}
	}
	if got := files(t, dir, 0); got != 1 {
		t.Errorf("got %d files 00000000.gob that describe the collection, want 1", got)
	}
}

func files(t *testing.T, dir string, hash uint32) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", fmt.Sprintf("%08x.gob", hash)))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}
