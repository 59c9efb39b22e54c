// Package fingerprint identifies the texts of a corpus.
package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Hash is the SHA-256 over the ID and the text of each document that is added, each
// preceded by its length in bytes as a big-endian 64-bit integer. The zero value is
// ready.
type Hash struct{ h hash.Hash }

// Add adds a document.
func (f *Hash) Add(id, text string) {
	if f.h == nil {
		f.h = sha256.New()
	}
	var length [8]byte
	for _, s := range [2]string{id, text} {
		binary.BigEndian.PutUint64(length[:], uint64(len(s)))
		f.h.Write(length[:])
		// Written in pieces, so that a large text is not copied whole.
		for len(s) > 0 {
			n := min(len(s), 64<<10)
			f.h.Write([]byte(s[:n]))
			s = s[n:]
		}
	}
}

// Sum returns the hash.
func (f *Hash) Sum() []byte {
	if f.h == nil {
		return sha256.New().Sum(nil)
	}
	return f.h.Sum(nil)
}

// String returns the hash in hexadecimal.
func (f *Hash) String() string { return hex.EncodeToString(f.Sum()) }
