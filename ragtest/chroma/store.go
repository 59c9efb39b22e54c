package chroma

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/exact"
)

// Store is a [ragtest.VectorStore] on a collection of a Chroma server. It is
// made by [New] and to be closed. Any number of goroutines may search at once; a
// search that meets an Add waits for it.
//
// A record of the collection holds the text of a chunk as its document; its ID,
// place and metadata are metadata of the record. Keys that begin with "ragtest."
// are the store's; a key of the chunk that begins so is stored, and comes back,
// all the same. Metadata that was empty comes back as nil.
type Store[C chunkers.Indexed] struct {
	mu       sync.RWMutex
	client   *client
	name     string // of the collection
	id       string // of the collection
	describe string
	keep     bool
	maxBatch int // records
	n        int // chunks held: those of the IDs "0" to n-1
	dim      int // 0 while there are none
	unusable error
	deleted  bool
}

var errClosed = errors.New("the store is closed")

// New makes a collection on the server, and a store in it. The name of the
// collection ends with 128 random bits, so that runs do not meet. If New fails
// for want of an answer, the server may hold an empty collection of the name
// that the error tells.
func New[C chunkers.Indexed](ctx context.Context, config Config) (*Store[C], error) {
	config = config.settled()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("making a chroma store: %w", err)
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // which cannot fail
	s := &Store[C]{
		client:   config.client(),
		name:     config.Prefix + "-" + hex.EncodeToString(random[:]),
		describe: config.HNSW.describe(),
		keep:     config.Keep,
	}
	if err := s.open(ctx, config.HNSW); err != nil {
		return nil, fmt.Errorf("making the chroma collection %s: %w", s.name, err)
	}
	return s, nil
}

func (s *Store[C]) open(ctx context.Context, hnsw HNSW) (err error) {
	if s.maxBatch, err = s.client.maxBatch(ctx); err != nil {
		return err
	}
	made, err := s.client.create(ctx, s.name, hnsw)
	if err != nil {
		return err
	}
	if err := made.check(s.name, hnsw); err != nil {
		return errors.Join(err, s.delete())
	}
	s.id = made.ID
	return nil
}

func (s *Store[C]) delete() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return s.client.delete(ctx, s.name)
}

// Close deletes the collection, unless Config.Keep is set; it waits for the
// server for up to 30 seconds. The store cannot be used any more. Closing again
// does nothing, or tries again what failed.
func (s *Store[C]) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unusable = errClosed
	if s.keep || s.deleted {
		return nil
	}
	if err := s.delete(); err != nil {
		return fmt.Errorf("deleting the chroma collection %s: %w", s.name, err)
	}
	s.deleted = true
	return nil
}

// String returns "chroma" and the HNSW settings that differ from zero, such as
// "chroma/ef_search=400": the name of the store in [ragtest.Components].
func (s *Store[C]) String() string { return s.describe }

// Collection returns the name of the collection, by which it is found if it was
// kept.
func (s *Store[C]) Collection() string { return s.name }

// Len returns the number of chunks that the store holds.
func (s *Store[C]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.n
}

// Add appends chunks with their vectors, in requests of as many as the server
// takes. Nothing of them is kept. If it fails after the first request was made,
// the store can only be closed.
func (s *Store[C]) Add(ctx context.Context, chunks []C, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.addAll(ctx, chunks, vectors); err != nil {
		return fmt.Errorf("adding to the chroma collection %s: %w", s.name, err)
	}
	return nil
}

func (s *Store[C]) addAll(ctx context.Context, chunks []C, vectors [][]float32) error {
	if s.unusable != nil {
		return s.unusable
	}
	if err := exact.ValidateChunks(len(chunks), vectors, s.dim); err != nil {
		return err
	}
	encoded := make([]record, len(chunks))
	for i, chunk := range chunks {
		r, err := encode(chunk)
		if err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
		encoded[i] = r
	}
	if err := context.Cause(ctx); err != nil || len(chunks) == 0 {
		return err
	}
	if err := s.send(ctx, encoded, vectors); err != nil {
		s.unusable = errors.New("the store is unusable since an Add failed half-way: make a new one")
		return err
	}
	s.dim = len(vectors[0])
	s.n += len(chunks)
	return nil
}

func (s *Store[C]) send(ctx context.Context, encoded []record, vectors [][]float32) error {
	for first := 0; first < len(encoded); {
		last := s.batch(encoded, first, len(vectors[0]))
		if err := s.client.add(ctx, s.id, s.columns(encoded, vectors, first, last)); err != nil {
			return fmt.Errorf("chunks %d to %d: %w", first, last-1, err)
		}
		first = last
	}
	count, err := s.client.count(ctx, s.id)
	if err != nil {
		return err
	}
	if want := s.n + len(encoded); count != want {
		return fmt.Errorf("the collection holds %d records, want %d: it was changed by other means", count, want)
	}
	return nil
}

// maxBody bounds the size of a request, roughly: Chroma takes 40 MiB, and
// escaping makes a text at most six times as long.
const maxBody = 6 << 20 // bytes

// batch returns the end of the batch that begins with the given record.
func (s *Store[C]) batch(encoded []record, first, dim int) int {
	last, size := first, 0
	for last < len(encoded) && last-first < s.maxBatch {
		const longest = len("-1.2345678e-10,")
		size += dim*longest + len(encoded[last].document)
		for key, value := range encoded[last].metadata {
			size += len(key)
			if s, ok := value.(string); ok {
				size += len(s)
			}
		}
		if size > maxBody && last > first {
			break
		}
		last++
	}
	return last
}

func (s *Store[C]) columns(encoded []record, vectors [][]float32, first, last int) *records {
	var r records
	for i := first; i < last; i++ {
		unit := make([]float32, len(vectors[i]))
		exact.Normalize(unit, vectors[i])
		r.IDs = append(r.IDs, strconv.Itoa(s.n+i))
		r.Embeddings = append(r.Embeddings, unit)
		r.Documents = append(r.Documents, encoded[i].document)
		r.Metadatas = append(r.Metadatas, encoded[i].metadata)
	}
	return &r
}
