package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/rageval/rageval/internal/wholefile"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// keeper keeps finished cells and curves in a folder, a file each, named by a hash of
// all that they depend on.
type keeper struct {
	dir string // "": nothing is kept
}

const keptVersion = 2

// kept is the content of a file.
type kept struct {
	SchemaVersion int    `json:"schemaVersion"`
	Key           string `json:"key"`
	Cell          *Cell  `json:"cell,omitempty"`
	Curve         *Curve `json:"curve,omitempty"`
}

func newKeeper(dir string) (keeper, error) {
	if dir == "" {
		return keeper{}, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return keeper{}, fmt.Errorf("field Dir: %w", err)
	}
	return keeper{dir}, nil
}

func (k keeper) path(key string) string { return filepath.Join(k.dir, key+".json") }

// load reads what was kept under a key; false if nothing was. A file that is damaged
// is as good as none: it is written anew.
func (k keeper) load(key string) (kept, bool, error) {
	if k.dir == "" {
		return kept{}, false, nil
	}
	data, err := os.ReadFile(k.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return kept{}, false, nil
	}
	if err != nil {
		return kept{}, false, fmt.Errorf("reading a finished cell: %w", err)
	}
	var found kept
	if json.Unmarshal(data, &found) != nil || found.SchemaVersion != keptVersion || found.Key != key {
		return kept{}, false, nil
	}
	return found, true, nil
}

func (k keeper) save(key string, c kept) error {
	if k.dir == "" {
		return nil
	}
	c.SchemaVersion, c.Key = keptVersion, key
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encoding a finished cell: %w", err)
	}
	if err := wholefile.Write(k.path(key), append(data, '\n')); err != nil {
		return fmt.Errorf("keeping a finished cell: %w", err)
	}
	return nil
}

// digest hashes strings and numbers, each by its length or as 8 bytes, so that no two
// sequences have one form.
type digest struct{ h hash.Hash }

func newDigest() digest { return digest{sha256.New()} }

func (d digest) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.h.Write(b[:])
}

func (d digest) text(list ...string) {
	for _, s := range list {
		d.number(len(s))
		d.h.Write([]byte(s))
	}
}

func (d digest) vectors(vectors [][]float32) {
	d.number(len(vectors))
	for _, v := range vectors {
		b := make([]byte, 0, 4*len(v))
		for _, x := range v {
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
		}
		d.text(string(b))
	}
}

func (d digest) chunks(chunks []chunk) {
	d.number(len(chunks))
	for _, c := range chunks {
		d.text(string(c.Span.Doc), c.Text)
		d.number(c.Span.Start)
		d.number(c.Span.End)
	}
}

func (d digest) spans(list []spans.Span) {
	d.number(len(list))
	for _, s := range list {
		d.text(string(s.Doc))
		d.number(s.Start)
		d.number(s.End)
	}
}

func (d digest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }

// fingerprint identifies queries: their IDs, texts and ground truth, in order.
func fingerprint(queries []ragtest.TokenQuery) string {
	d := newDigest()
	for _, q := range queries {
		id := q.ID
		if id == "" {
			id = ragtest.NewQueryID(q.Text)
		}
		d.text(string(id), q.Text)
		d.spans(q.Relevant)
		d.number(len(q.Alternatives))
		for _, answer := range q.Alternatives {
			d.spans(answer)
		}
	}
	return d.sum()
}
