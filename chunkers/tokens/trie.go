package tokens

import (
	"bytes"
	"slices"
	"strings"
)

// trie finds the tokens that a text begins with, byte by byte. Its nodes are
// numbered by level: the children of one are neighbours.
type trie struct {
	labels []byte  // the byte that leads to each node
	first  []int32 // the first child of each node, and the number of nodes
	values []int32 // of the tokens that end at each node; -1: none
	root   [256]int32
}

// trieEntry is a token that is not empty, and its value, which is not negative.
type trieEntry struct {
	text  string
	value int32
}

// newTrie returns a trie of the entries, which it sorts. Of equal texts the last
// counts. It takes time linear in their bytes, once they are sorted.
func newTrie(entries []trieEntry) *trie {
	slices.SortStableFunc(entries, func(a, b trieEntry) int { return strings.Compare(a.text, b.text) })
	t := &trie{labels: []byte{0}, values: []int32{-1}}
	type span struct{ start, end, depth int } // of the entries below a node
	level := []span{{0, len(entries), 0}}
	for node := 0; node < len(level); node++ {
		t.first = append(t.first, int32(len(level)))
		s := level[node]
		for ; s.start < s.end && len(entries[s.start].text) == s.depth; s.start++ {
			t.values[node] = entries[s.start].value
		}
		for s.start < s.end {
			label := entries[s.start].text[s.depth]
			end := s.start + 1
			for end < s.end && entries[end].text[s.depth] == label {
				end++
			}
			t.labels, t.values = append(t.labels, label), append(t.values, -1)
			level = append(level, span{s.start, end, s.depth + 1})
			s.start = end
		}
	}
	t.first = append(t.first, int32(len(level)))
	for node := int32(1); node < t.first[1]; node++ {
		t.root[t.labels[node]] = node
	}
	return t
}

// next returns the node to which b leads from node, 0 if there is none. The
// root is node 0.
func (t *trie) next(node int32, b byte) int32 {
	if node == 0 {
		return t.root[b]
	}
	start := t.first[node]
	i := bytes.IndexByte(t.labels[start:t.first[node+1]], b)
	if i < 0 {
		return 0
	}
	return start + int32(i)
}

// longest returns the longest token that text begins with and its length, -1
// and 0 if there is none.
func (t *trie) longest(text []byte) (value int32, length int) {
	value = -1
	node := int32(0)
	for i, b := range text {
		if node = t.next(node, b); node == 0 {
			break
		}
		if v := t.values[node]; v >= 0 {
			value, length = v, i+1
		}
	}
	return value, length
}

// get returns the value of the token that is text, -1 if there is none.
func (t *trie) get(text []byte) int32 {
	if value, length := t.longest(text); length == len(text) {
		return value
	}
	return -1
}
