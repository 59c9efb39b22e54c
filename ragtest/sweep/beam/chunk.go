package beam

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

func init() {
	register.DoFn4x1[context.Context, Document, func(int, occurrence), func(int, tally), error](&chunkFn{})
	register.Emitter2[int, occurrence]()
	register.Emitter2[int, tally]()
	register.Function2x1(addTallies)
}

// chunkFn cuts documents with all chunkers. It emits each chunk with the shard of its
// text, and what each chunker did.
type chunkFn struct {
	Chunkers []string
	Shards   int

	chunkers []chunkers.PositionAwareChunker
}

func (fn *chunkFn) Setup() (err error) {
	fn.chunkers, err = newAll("Chunkers", fn.Chunkers, newChunker)
	return err
}

func (fn *chunkFn) ProcessElement(ctx context.Context, d Document, emit func(int, occurrence), count func(int, tally)) error {
	doc, err := spans.NewDocument(spans.DocumentID(d.ID), d.Text, d.Metadata)
	if err != nil {
		return err
	}
	for i, c := range fn.chunkers {
		chunks, done, err := cut(ctx, c, doc)
		if err != nil {
			return fmt.Errorf("chunker %s: chunking %s: %w", fn.Chunkers[i], d.ID, err)
		}
		done.firstIn = d.place()
		count(i, done)
		for n, chunk := range chunks {
			text := chunk.IndexText()
			emit(int(hashOf(text)%uint64(fn.Shards)), occurrence{i, chunkPlace{d.place(), n}, text})
		}
	}
	return nil
}

// hashOf returns the first 8 bytes of the SHA-256 of a text.
func hashOf(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}
