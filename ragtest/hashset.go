package ragtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// HashSet is a set of texts, known by the first 128 bits of their SHA-256. It takes 20
// bytes for each.
//
// One that has its counts, but no Entries, joins none but an empty one: whoever counts
// by other means, since no machine should hold all entries, sets the counts alone.
type HashSet struct {
	Texts    int    `json:"texts"`             // how many there are
	ChunkIDs int    `json:"chunkIDs"`          // how many chunk IDs they have: those of two texts may be equal
	Chars    int    `json:"chars"`             // characters of all texts
	Entries  []byte `json:"entries,omitempty"` // ascending hashes of 16 bytes, each followed by the length of its text in characters, as big-endian 32 bits
}

const (
	hashEntryLen = 20
	hashLen      = 16
	chunkIDLen   = 6 // of the hash
)

// hashSetOf returns the set of texts.
func hashSetOf(n int, text func(i int) string) HashSet {
	entries := make([][hashEntryLen]byte, n)
	for i := range entries {
		t := text(i)
		sum := sha256.Sum256([]byte(t))
		copy(entries[i][:], sum[:hashLen])
		binary.BigEndian.PutUint32(entries[i][hashLen:], uint32(min(utf8.RuneCountInString(t), math.MaxUint32)))
	}
	slices.SortFunc(entries, func(a, b [hashEntryLen]byte) int { return bytes.Compare(a[:], b[:]) })
	entries = slices.Compact(entries)
	var s HashSet
	s.Entries = make([]byte, 0, len(entries)*hashEntryLen)
	for _, e := range entries {
		s.Entries = append(s.Entries, e[:]...)
	}
	s.count()
	return s
}

// count sets the counts.
func (s *HashSet) count() {
	s.Texts, s.ChunkIDs, s.Chars = len(s.Entries)/hashEntryLen, 0, 0
	for i := 0; i < len(s.Entries); i += hashEntryLen {
		if i == 0 || !bytes.Equal(s.Entries[i:i+chunkIDLen], s.Entries[i-hashEntryLen:][:chunkIDLen]) {
			s.ChunkIDs++
		}
		s.Chars += int(binary.BigEndian.Uint32(s.Entries[i+hashLen:]))
	}
}

func (s HashSet) counted() bool { return s.Texts > 0 && len(s.Entries) == 0 }

// check returns an error for a set that nothing here makes.
func (s HashSet) check() error {
	if s.counted() {
		if s.ChunkIDs < 0 || s.ChunkIDs > s.Texts || s.Chars < 0 {
			return fmt.Errorf("got %d texts with %d chunk IDs and %d characters", s.Texts, s.ChunkIDs, s.Chars)
		}
		return nil
	}
	if len(s.Entries)%hashEntryLen != 0 {
		return fmt.Errorf("entries: got %d bytes, want a multiple of %d", len(s.Entries), hashEntryLen)
	}
	for i := hashEntryLen; i < len(s.Entries); i += hashEntryLen {
		if bytes.Compare(s.Entries[i-hashEntryLen:][:hashLen], s.Entries[i:i+hashLen]) >= 0 {
			return fmt.Errorf("entries: number %d is not above the one before", i/hashEntryLen)
		}
	}
	again := HashSet{Entries: s.Entries}
	again.count()
	if s.Texts != again.Texts || s.ChunkIDs != again.ChunkIDs || s.Chars != again.Chars {
		return fmt.Errorf("got the counts %d, %d and %d for entries that have %d, %d and %d", s.Texts, s.ChunkIDs, s.Chars, again.Texts, again.ChunkIDs, again.Chars)
	}
	return nil
}

// hashRuns is a set that grows: its runs are at least twice as long as what follows
// them, so that each entry is copied a logarithmic number of times.
type hashRuns struct{ runs []HashSet }

func (r *hashRuns) add(s HashSet) error {
	if s.Texts == 0 {
		return nil
	}
	for _, run := range r.runs {
		if run.counted() || s.counted() {
			return errors.New("a set of which only the counts are known joins no other")
		}
	}
	r.runs = append(r.runs, s)
	for n := len(r.runs); n > 1 && len(r.runs[n-2].Entries) < 2*len(r.runs[n-1].Entries); n = len(r.runs) {
		r.join()
	}
	return nil
}

// join makes one of the last two runs.
func (r *hashRuns) join() {
	n := len(r.runs)
	r.runs[n-2].Entries = mergeEntries(r.runs[n-2].Entries, r.runs[n-1].Entries)
	r.runs = r.runs[:n-1]
}

// set returns the set, and counts it.
func (r *hashRuns) set() HashSet {
	switch {
	case len(r.runs) == 0:
		return HashSet{}
	case len(r.runs) == 1 && r.runs[0].counted():
		return r.runs[0]
	}
	for len(r.runs) > 1 {
		r.join()
	}
	r.runs[0].count()
	return r.runs[0]
}

// mergeEntries returns the union of two sets of entries.
func mergeEntries(a, b []byte) []byte {
	union := make([]byte, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		c := bytes.Compare(a[:hashLen], b[:hashLen])
		if c <= 0 {
			union = append(union, a[:hashEntryLen]...)
			a = a[hashEntryLen:]
			if c == 0 {
				b = b[hashEntryLen:]
			}
			continue
		}
		union = append(union, b[:hashEntryLen]...)
		b = b[hashEntryLen:]
	}
	union = append(union, a...)
	return append(union, b...)
}
