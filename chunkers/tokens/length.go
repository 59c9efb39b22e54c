package tokens

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/rageval/rageval/chunkers"
)

// Length returns a measure in tokens of t for [chunkers.RecursiveCharacter],
// named as t is: the chunker then prints length=cl100k. Nil means [CL100K].
// Tokens that a model adds to a text, such as [CLS], are not counted.
//
// It remembers what it has measured, up to 64 MiB of text, the newest at least
// 32 MiB of it: a text that occurs often, in one document or in several, or that
// is cut again in other sizes, is tokenized once. All lengths of one [Encoding]
// share that memory; any other call makes one of its own. It is safe for
// concurrent use. It panics if t is an Encoding that does not exist.
func Length(t Tokenizer) chunkers.Length {
	if t == nil {
		t = CL100K
	}
	if e, ok := t.(Encoding); ok {
		if err := e.Validate(); err != nil {
			panic("tokens: " + err.Error())
		}
		l := &encodingLengths[e]
		l.once.Do(func() { l.lengths = newLengths(e) })
		return chunkers.Length{Name: e.String(), Of: l.lengths.of}
	}
	return chunkers.Length{Name: t.String(), Of: newLengths(t).of}
}

var encodingLengths [len(encodingNames)]struct {
	once    sync.Once
	lengths *lengths
}

// lengths remembers the numbers of tokens of texts.
type lengths struct {
	tokenizer Tokenizer
	seed      maphash.Seed
	shards    [16]lengthShard
}

// lengthShard holds some of the lengths in two generations. When the new one is
// full it becomes the old one, and what was in that is forgotten unless it was
// asked for meanwhile.
type lengthShard struct {
	mu       sync.Mutex
	new, old map[string]int
	bytes    int // of the texts in new
}

// maxShardBytes is how much text a generation may hold.
const maxShardBytes = 2 << 20

func newLengths(t Tokenizer) *lengths { return &lengths{tokenizer: t, seed: maphash.MakeSeed()} }

func (l *lengths) of(text string) int {
	s := &l.shards[maphash.String(l.seed, text)%uint64(len(l.shards))]
	if n, ok := s.get(text); ok {
		return n
	}
	n := count(l.tokenizer, text)
	s.put(text, n)
	return n
}

func (s *lengthShard) get(text string) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.new[text]
	if ok {
		return n, true
	}
	n, ok = s.old[text]
	if ok {
		s.add(text, n)
	}
	return n, ok
}

func (s *lengthShard) put(text string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(text, n)
}

// add needs the lock.
func (s *lengthShard) add(text string, n int) {
	if len(text) > maxShardBytes {
		return
	}
	if s.new == nil || s.bytes+len(text) > maxShardBytes {
		s.new, s.old, s.bytes = map[string]int{}, s.new, 0
	}
	s.new[strings.Clone(text)] = n // a part of a document must not keep all of it in memory
	s.bytes += len(text) + entryBytes
}

// entryBytes is about what an entry takes beside its text.
const entryBytes = 32
