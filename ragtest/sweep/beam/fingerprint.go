package beam

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn2x2[context.Context, []byte, string, error](&fingerprintFn{})
}

// fingerprintFn computes the fingerprint of the corpus in files, and finds documents
// of equal IDs.
type fingerprintFn struct{ Files []corpusFile }

func (fn *fingerprintFn) ProcessElement(ctx context.Context, _ []byte) (string, error) {
	sum, err := inOrder(ctx, fn.Files)
	if errors.Is(err, errOutOfOrder) {
		sum, err = bySorting(ctx, fn.Files)
	}
	if err != nil {
		return "", fmt.Errorf("computing the fingerprint of the corpus: %w", err)
	}
	return sum, nil
}

// fingerprint computes [spans.Corpus.Fingerprint] of the documents that are added in
// order of ID.
type fingerprint struct {
	hash  hash.Hash
	count int
	last  string
}

func newFingerprint() *fingerprint { return &fingerprint{hash: sha256.New()} }

var errOutOfOrder = errors.New("the documents are not in order of ID")

func (f *fingerprint) add(d Document) error {
	switch c := cmp.Compare(d.ID, f.last); {
	case f.count > 0 && c == 0:
		return fmt.Errorf("two documents of the corpus have the ID %s", d.ID)
	case f.count > 0 && c < 0:
		return errOutOfOrder
	}
	f.count, f.last = f.count+1, d.ID
	for _, s := range []string{d.ID, d.Text} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(s)))
		f.hash.Write(length[:])
		io.WriteString(f.hash, s)
	}
	return nil
}

func (f *fingerprint) sum() string { return hex.EncodeToString(f.hash.Sum(nil)) }

// inOrder reads each file once.
func inOrder(ctx context.Context, files []corpusFile) (string, error) {
	f := newFingerprint()
	for _, file := range files {
		if err := file.read(ctx, 0, bufferLen, all, f.add); err != nil {
			return "", err
		}
	}
	return f.sum(), nil
}

// bySorting finds out the order of the documents and reads them in it.
func bySorting(ctx context.Context, files []corpusFile) (string, error) {
	type entry struct {
		id     string
		at     place
		number int // in the corpus
		length int // of the line, about
	}
	var entries []entry
	for _, file := range files {
		err := file.read(ctx, 0, bufferLen, all, func(d Document) error {
			entries = append(entries, entry{d.ID, d.place(), len(entries), len(d.ID) + len(d.Text)})
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.id, b.id), a.at.compare(b.at)) })
	f := newFingerprint()
	for len(entries) > 0 {
		// Documents that follow each other in the file too are read in one go.
		n, length := 1, entries[0].length
		for n < len(entries) && entries[n].at.file == entries[0].at.file && entries[n].number == entries[n-1].number+1 {
			length += entries[n].length
			n++
		}
		run, file := entries[:n], files[entries[0].at.file]
		err := file.read(ctx, run[0].at.offset, min(bufferLen, length+length/4+256), func(offset int) bool {
			return len(run) > 0 && offset == run[0].at.offset
		}, func(d Document) error {
			run = run[1:]
			return f.add(d)
		})
		if err != nil {
			return "", err
		}
		if len(run) == n {
			return "", fmt.Errorf("%s: no document begins at byte %d any more: was it changed?", file.Path, run[0].at.offset)
		}
		entries = entries[n-len(run):]
	}
	return f.sum(), nil
}
