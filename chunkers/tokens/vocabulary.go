package tokens

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// vocabulary is a loaded encoding. The ID of a token is its rank as well: the
// lower it is, the earlier the token is merged.
type vocabulary struct {
	slots   []tokenSlot // of the short tokens, by hash, the next free one if that is taken
	shift   uint        // from a hash to an index of slots
	filter  []uint64    // a bit for each hash of a short token, shifted by filterShift bits less
	long    map[string]uint32
	longest int             // bytes of the longest token
	pairs   [1 << 16]uint32 // ranks of tokens of two bytes, or noRank
	split   func(s string, i int) (end int)

	cutters sync.Pool // of *cutter
}

// noRank is the rank of what is not a token.
const noRank = math.MaxUint32

// tokenSlot is a token of n bytes, 0 for none: its bytes as in shortText.
type tokenSlot struct {
	first  uint64
	last   uint32
	idAndN uint32 // n in the lower four bits
}

// maxSlotBytes is how many bytes a token in a slot has at most.
const maxSlotBytes = 12

// shortText is a text of at most 16 bytes as little-endian numbers, with zeros
// behind its end. With its length it says which text it is.
type shortText struct{ first, last uint64 }

const maxShortBytes = 16

// shortMasks are ones where a text of so many bytes is not behind its end.
var shortMasks = func() (masks [maxShortBytes + 1]shortText) {
	for n := range masks {
		masks[n] = shortText{1<<(8*min(n, 8)) - 1, 1<<(8*max(n-8, 0)) - 1}
	}
	return masks
}()

// shortTextAt returns s[i : i+n], where n is at most 16.
func shortTextAt(s string, i, n int) shortText {
	if len(s)-i >= maxShortBytes {
		s, mask := s[i:i+maxShortBytes], &shortMasks[n]
		return shortText{littleEndian(s[:8]) & mask.first, littleEndian(s[8:]) & mask.last}
	}
	return shortTextAtEnd(s[i : i+n])
}

func shortTextAtEnd(s string) shortText {
	var padded [maxShortBytes]byte
	copy(padded[:], s)
	return shortText{binary.LittleEndian.Uint64(padded[:8]), binary.LittleEndian.Uint64(padded[8:])}
}

func littleEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// hash returns a hash of which the upper bits are to be used.
func (t shortText) hash() uint64 {
	return (t.first ^ bits.RotateLeft64(t.last*0x9E3779B97F4A7C15, 32)) * 0xD6E8FEB86659FD93
}

// filterBits is how many bits of the filter there are for each slot, as a power
// of two. A twentieth of the bits are set: most of what is no token is found out
// there, in memory that stays in the processor's cache.
const filterBits = 3

// mayBeToken returns whether a short token may have a hash.
func (v *vocabulary) mayBeToken(hash uint64) bool {
	i := hash >> (v.shift - filterBits)
	return v.filter[i/64&uint64(len(v.filter)-1)]>>(i%64)&1 != 0
}

// slotRank returns the rank of a token of n bytes, at most 12.
func (v *vocabulary) slotRank(t shortText, n int) uint32 {
	hash := t.hash()
	if !v.mayBeToken(hash) {
		return noRank
	}
	for i := hash >> v.shift; ; i++ {
		slot := &v.slots[i&uint64(len(v.slots)-1)]
		if slot.first == t.first && slot.last == uint32(t.last) && slot.idAndN&0xF == uint32(n) {
			return slot.idAndN >> 4
		}
		if slot.idAndN == 0 {
			return noRank
		}
	}
}

// rank returns the rank of s[start:end], which is not empty.
func (v *vocabulary) rank(s string, start, end int) uint32 {
	n := end - start
	if n <= maxSlotBytes {
		return v.slotRank(shortTextAt(s, start, n), n)
	}
	if n <= v.longest {
		if rank, ok := v.long[s[start:end]]; ok {
			return rank
		}
	}
	return noRank
}

// add adds the token text[start:end].
func (v *vocabulary) add(text string, start, end int, id uint32) {
	n, token := end-start, text[start:end]
	v.longest = max(v.longest, n)
	if n == 2 {
		v.pairs[int(token[0])<<8|int(token[1])] = id
	}
	if n > maxSlotBytes {
		v.long[strings.Clone(token)] = id // the text of all tokens must not be kept
		return
	}
	t := shortTextAt(text, start, n)
	hash := t.hash()
	bit := hash >> (v.shift - filterBits)
	v.filter[bit/64] |= 1 << (bit % 64)
	i := hash >> v.shift
	for v.slots[i].idAndN != 0 {
		i = (i + 1) & uint64(len(v.slots)-1)
	}
	v.slots[i] = tokenSlot{t.first, uint32(t.last), id<<4 | uint32(n)}
}

// loadVocabulary reads the n tokens of an encoding from the library that embeds
// them.
func loadVocabulary(name tokenizer.Encoding, n int, split func(string, int) int) *vocabulary {
	codec, err := tokenizer.Get(name)
	if err != nil {
		panic(fmt.Sprintf("tokens: loading %s: %v", name, err)) // the library has no such encoding
	}
	indexBits := bits.Len(uint(n)) // three quarters of the slots are taken
	v := &vocabulary{
		slots:  make([]tokenSlot, 1<<indexBits),
		shift:  uint(64 - indexBits),
		filter: make([]uint64, 1<<(indexBits+filterBits)/64),
		long:   map[string]uint32{},
		split:  split,
	}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	decode := func(ids []uint) string {
		text, err := codec.Decode(ids)
		if err != nil {
			panic(fmt.Sprintf("tokens: decoding %s: %v", name, err))
		}
		return text
	}

	// The first tokens are the bytes. A call gives many others, with a byte between
	// that none of them has, as it is not in any UTF-8.
	const bytes, separator, batch = 256, "\xff", 1024
	var separatorID uint
	for id := range uint(bytes) {
		token := decode([]uint{id})
		v.add(token, 0, len(token), uint32(id))
		if token == separator {
			separatorID = id
		}
	}
	ids := make([]uint, 0, 2*batch)
	for first := bytes; first < n; first += batch {
		last := min(first+batch, n)
		ids = ids[:0]
		for id := first; id < last; id++ {
			ids = append(ids, uint(id), separatorID)
		}
		text, start := decode(ids), 0
		for id := first; id < last; id++ {
			end := start + strings.IndexByte(text[start:], separator[0])
			if end <= start || id == last-1 && end != len(text)-1 {
				panic(fmt.Sprintf("tokens: %s has a token with %q from %d on", name, separator, first))
			}
			v.add(text, start, end, uint32(id))
			start = end + 1
		}
	}
	return v
}
