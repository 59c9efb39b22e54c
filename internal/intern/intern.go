// Package intern numbers keys, so that what follows works on small integers.
package intern

import (
	"hash/maphash"
	"math/bits"
)

// Table numbers keys from 0 in the order in which they are first met. It is made to
// be emptied and filled again many times: emptying takes no time, and once it is as
// large as it needs to be, nothing is allocated. The zero value is empty. It is not
// safe for concurrent use.
type Table[K ~string] struct {
	slots []slot // a power of two of them, at most half of them taken
	keys  []K    // by number
	seed  maphash.Seed
	round uint32 // of the slots that are taken
}

// slot has no pointer, so that taking one is cheap and the garbage collector passes
// over them.
type slot struct {
	hash   uint32
	round  uint32
	number uint32
}

// Reset empties the table and makes room for n keys.
func (t *Table[K]) Reset(n int) {
	t.keys = t.keys[:0]
	t.round++
	switch {
	case 2*n > len(t.slots):
		t.grow(n)
	case t.round == 0: // the numbers of rounds are used up
		clear(t.slots)
		t.round = 1
	}
}

// grow makes all slots free, enough for n keys.
func (t *Table[K]) grow(n int) {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	t.slots = make([]slot, 1<<bits.Len(uint(max(8, 2*n)-1)))
	t.round = 1
}

// Number returns the number of a key, and whether the table held it before: it
// does now.
func (t *Table[K]) Number(key K) (number int, known bool) {
	if 2*len(t.keys) >= len(t.slots) {
		t.double()
	}
	hash := uint32(maphash.String(t.seed, string(key)))
	s := t.slot(key, hash)
	if s.round == t.round {
		return int(s.number), true
	}
	number = len(t.keys)
	*s = slot{hash, t.round, uint32(number)}
	t.keys = append(t.keys, key)
	return number, false
}

// Find returns the number of a key, and whether the table holds it.
func (t *Table[K]) Find(key K) (number int, known bool) {
	if len(t.keys) == 0 {
		return 0, false
	}
	s := t.slot(key, uint32(maphash.String(t.seed, string(key))))
	if s.round != t.round {
		return 0, false
	}
	return int(s.number), true
}

// Len returns how many keys the table holds.
func (t *Table[K]) Len() int { return len(t.keys) }

// slot returns where a key is, or where it is to be.
func (t *Table[K]) slot(key K, hash uint32) *slot {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.round != t.round || s.hash == hash && t.keys[s.number] == key {
			return s
		}
	}
}

func (t *Table[K]) double() {
	old, round := t.slots, t.round
	t.grow(max(4, len(old)))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.round != round {
			continue
		}
		i := s.hash & mask
		for t.slots[i].round == t.round {
			i = (i + 1) & mask
		}
		s.round = t.round
		t.slots[i] = s
	}
}
