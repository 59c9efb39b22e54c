package chunkers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/rageval/rageval/spans"
)

// Chunk is a chunk as chunk-level ground truth knows it: named by its text.
type Chunk struct {
	ID       ChunkID           `json:"id"`
	Doc      spans.DocumentID  `json:"doc"` // where the text first occurs
	Text     string            `json:"text"`
	Metadata map[string]string `json:"metadata,omitempty"` // may be nil
}

// PositionAwareChunk is a chunk as token-level ground truth knows it: a place.
// Text is what is indexed; Span is the part of the document it stands for.
type PositionAwareChunk struct {
	ID       PositionAwareChunkID `json:"id"`
	Span     spans.Span           `json:"span"`
	Text     string               `json:"text"`
	Metadata map[string]string    `json:"metadata,omitempty"` // may be nil
}

// IndexText returns the text that embedders, BM25 and rerankers see.
func (c Chunk) IndexText() string { return c.Text }

// IndexText returns the text that embedders, BM25 and rerankers see.
func (c PositionAwareChunk) IndexText() string { return c.Text }

// Indexed is either kind of chunk: the constraint of generic code that needs
// the text of a chunk.
type Indexed interface {
	Chunk | PositionAwareChunk
	IndexText() string
}

// ChunkID names a chunk by its text: chunks with equal texts share it. Its text
// form is "chunk_" and the first 12 hexadecimal digits of the SHA-256 of the
// text. The zero value names no chunk and has the empty text form. It is
// comparable, and distinct from [PositionAwareChunkID] by design: neither
// converts to the other, nor a string to either.
//
// Note: twelve digits keep golden files readable. Two of 100,000 different
// texts share them with a probability of about 1 in 56,000; a chunk-level
// evaluation that meets such a pair reports both texts as an error.
type ChunkID struct{ textHash hash48 }

// PositionAwareChunkID names the text of a position-aware chunk, as [ChunkID]
// does, with the prefix "pa_chunk_". The place of the chunk is its span, not
// its ID: equal texts at two places share the ID.
type PositionAwareChunkID struct{ positionAwareTextHash hash48 }

// hash48 is the first 48 bits of a SHA-256, and a mark that tells the hash
// whose bits are all zero from the zero value.
type hash48 struct {
	bytes [6]byte
	set   bool
}

const (
	chunkPrefix              = "chunk_"
	positionAwareChunkPrefix = "pa_chunk_"
)

// NewChunkID returns the ID of the chunk with the given text.
func NewChunkID(text string) ChunkID { return ChunkID{hashText(text)} }

// NewPositionAwareChunkID returns the ID of the position-aware chunk with the
// given text.
func NewPositionAwareChunkID(text string) PositionAwareChunkID {
	return PositionAwareChunkID{hashText(text)}
}

func hashText(text string) hash48 {
	sum := sha256.Sum256([]byte(text))
	return hash48{[6]byte(sum[:6]), true}
}

// ParseChunkID parses the text form of a chunk ID: chunk_ and 12 lower-case
// hexadecimal digits.
func ParseChunkID(s string) (ChunkID, error) {
	h, err := parseHash(s, chunkPrefix, "chunk ID")
	return ChunkID{h}, err
}

// ParsePositionAwareChunkID parses the text form of a position-aware chunk ID:
// pa_chunk_ and 12 lower-case hexadecimal digits.
func ParsePositionAwareChunkID(s string) (PositionAwareChunkID, error) {
	h, err := parseHash(s, positionAwareChunkPrefix, "position-aware chunk ID")
	return PositionAwareChunkID{h}, err
}

func parseHash(s, prefix, kind string) (hash48, error) {
	h := hash48{set: true}
	digits, ok := strings.CutPrefix(s, prefix)
	if ok && len(digits) == 2*len(h.bytes) && strings.ToLower(digits) == digits {
		if _, err := hex.Decode(h.bytes[:], []byte(digits)); err == nil {
			return h, nil
		}
	}
	return hash48{}, fmt.Errorf("%s %q: want %s and %d lower-case hexadecimal digits", kind, s, prefix, 2*len(h.bytes))
}

func (h hash48) text(prefix string) string {
	if !h.set {
		return ""
	}
	return prefix + hex.EncodeToString(h.bytes[:])
}

// String returns the text form of id.
func (id ChunkID) String() string { return id.textHash.text(chunkPrefix) }

// String returns the text form of id.
func (id PositionAwareChunkID) String() string {
	return id.positionAwareTextHash.text(positionAwareChunkPrefix)
}

// Equal reports whether both IDs are the same, as == does.
func (id ChunkID) Equal(other ChunkID) bool { return id == other }

// Equal reports whether both IDs are the same, as == does.
func (id PositionAwareChunkID) Equal(other PositionAwareChunkID) bool { return id == other }

// ChunkID returns the ID that a chunk without a place has for the same text.
func (id PositionAwareChunkID) ChunkID() ChunkID { return ChunkID{id.positionAwareTextHash} }

// MarshalText returns the text form of id.
func (id ChunkID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// MarshalText returns the text form of id.
func (id PositionAwareChunkID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses what MarshalText returns.
func (id *ChunkID) UnmarshalText(text []byte) (err error) {
	*id = ChunkID{}
	if len(text) > 0 {
		*id, err = ParseChunkID(string(text))
	}
	return err
}

// UnmarshalText parses what MarshalText returns.
func (id *PositionAwareChunkID) UnmarshalText(text []byte) (err error) {
	*id = PositionAwareChunkID{}
	if len(text) > 0 {
		*id, err = ParsePositionAwareChunkID(string(text))
	}
	return err
}
