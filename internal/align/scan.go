package align

import (
	"context"
	"math/bits"
	"slices"
	"strings"
)

// scan calls visit(i, at) wherever patterns[i] occurs in the first room(at)
// bytes of text[at:], in ascending order of at and, at one place, from the
// longest pattern to the shortest. Once visit has returned false for a pattern,
// it is not called for it again. Patterns must be distinct and not empty.
//
// Patterns are grouped by the power of two below their length, at most maxGram;
// a rolling hash of that many bytes (Karp and Rabin) finds the few places where
// a pattern of the group may begin. There the sorted patterns with the same
// beginning are searched for the longest that fits; the others that fit are
// its prefixes. That takes O(len(text)) time for the hashes, and a comparison
// with O(log p) patterns where p of them share the beginning found.
func scan(ctx context.Context, text string, patterns []string, room func(at int) int, visit func(pattern, at int) bool) error {
	groups := newGroups(patterns, len(text))
	for at := range len(text) {
		if at%(64<<10) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		alive := false
		for _, g := range groups {
			if at+g.gram > len(text) || len(g.buckets) == 0 {
				continue
			}
			alive = true
			if at == 0 {
				g.hash = hashOf(text[:g.gram])
			} else {
				g.hash = (g.hash-uint64(text[at-1])*g.power)*hashBase + uint64(text[at+g.gram-1])
			}
			if slot := g.slot(g.hash); g.filter[slot/64]>>(slot%64)&1 != 0 {
				if b := g.buckets[g.hash]; b != nil {
					g.visit(b, text[at:at+room(at)], at, visit)
				}
			}
		}
		if !alive {
			break
		}
	}
	return ctx.Err()
}

const (
	maxGram  = 64
	hashBase = 0x9E3779B97F4A7C15 // odd; from the golden ratio, as in Knuth's multiplicative hashing
)

func hashOf(s string) uint64 {
	h := uint64(0)
	for i := range len(s) {
		h = h*hashBase + uint64(s[i])
	}
	return h
}

// group is the patterns whose beginnings are hashed at one length.
type group struct {
	gram    int
	hash    uint64 // of the gram bytes at the place that scan has come to
	power   uint64 // hashBase to the power of gram-1
	buckets map[uint64]*bucket
	filter  []uint64 // a bit for each slot that a bucket's hash falls into
	shift   int

	patterns []string // sorted
	index    []int    // of each in the patterns given to scan
	done     []bool   // whether visit returned false
	shorter  []int32  // the longest other pattern that is a prefix of this one, or -1
}

// bucket is patterns[lo:hi], which begin with the same hash, live of them not
// done.
type bucket struct{ lo, hi, live int }

func newGroups(patterns []string, textLen int) []*group {
	byGram := map[int]*group{}
	for i, p := range patterns {
		if len(p) > textLen {
			continue
		}
		gram := min(1<<(bits.Len(uint(len(p)))-1), maxGram)
		g := byGram[gram]
		if g == nil {
			g = &group{gram: gram}
			byGram[gram] = g
		}
		g.index = append(g.index, i)
	}
	var groups []*group
	for gram := maxGram; gram > 0; gram /= 2 {
		if g := byGram[gram]; g != nil {
			g.build(patterns)
			groups = append(groups, g)
		}
	}
	return groups
}

func (g *group) build(patterns []string) {
	slices.SortFunc(g.index, func(a, b int) int { return strings.Compare(patterns[a], patterns[b]) })
	n := len(g.index)
	g.patterns = make([]string, n)
	g.done = make([]bool, n)
	g.shorter = make([]int32, n)
	g.buckets = make(map[uint64]*bucket, n)
	// Some 16 slots for each pattern: one place in 16 passes by chance.
	slotBits := max(6, bits.Len(uint(16*n)))
	g.filter = make([]uint64, 1<<(slotBits-6))
	g.shift = 64 - slotBits
	g.power = 1
	for range g.gram - 1 {
		g.power *= hashBase
	}
	for k, i := range g.index {
		p := patterns[i]
		g.patterns[k] = p
		j := int32(k - 1)
		for j >= 0 && !strings.HasPrefix(p, g.patterns[j]) {
			j = g.shorter[j]
		}
		g.shorter[k] = j

		h := hashOf(p[:g.gram])
		g.filter[g.slot(h)/64] |= 1 << (g.slot(h) % 64)
		b := g.buckets[h]
		if b == nil {
			b = &bucket{lo: k}
			g.buckets[h] = b
		}
		// If two beginnings share a hash, the bucket also holds what is
		// sorted between them: more to compare with, nothing wrong.
		b.hi = k + 1
	}
	for _, b := range g.buckets {
		b.live = b.hi - b.lo
	}
}

// slot spreads a hash: the high bits of a product depend on all bits of h.
func (g *group) slot(h uint64) uint64 { return (h * 0xD6E8FEB86659FD93) >> g.shift }

// visit calls visit for the patterns in b that rest, the text at the given
// place, begins with.
func (g *group) visit(b *bucket, rest string, at int, visit func(pattern, at int) bool) {
	if b.hi-b.lo == 1 {
		// Look at the end first: where a long pattern differs from a
		// repetitive text only there, comparing from the beginning at every
		// place would take quadratic time.
		p := g.patterns[b.lo]
		if len(p) > len(rest) || p[len(p)-1] != rest[len(p)-1] {
			return
		}
	}
	// Of the patterns that are prefixes of rest, the longest is the last that
	// is not greater than rest or a prefix of that one, and so are the others.
	lo, hi := b.lo, b.hi
	for lo < hi {
		if mid := (lo + hi) / 2; g.patterns[mid] <= rest {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == b.lo {
		return
	}
	for k := g.live(int32(lo - 1)); k >= int32(b.lo); k = g.live(g.shorter[k]) {
		if strings.HasPrefix(rest, g.patterns[k]) && !visit(g.index[k], at) {
			g.done[k] = true
			b.live--
		}
	}
	if b.live == 0 {
		delete(g.buckets, g.hash)
	}
}

// live returns k, or the longest prefix of it that is not done, or -1. It
// shortens the way for later calls.
func (g *group) live(k int32) int32 {
	for k >= 0 && g.done[k] {
		if s := g.shorter[k]; s >= 0 && g.done[s] {
			g.shorter[k] = g.shorter[s]
		}
		k = g.shorter[k]
	}
	return k
}
