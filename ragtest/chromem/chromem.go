// Package chromem is a vector store on chromem-go, an embedded vector database:
// for teams whose product uses it, in memory or in a directory.
//
// A [Store] keeps every rule of [ragtest.CheckStore], which chromem-go by itself
// does not:
//
//   - chromem-go returns equal scores in random order, and an arbitrary choice of
//     them where k cuts through: the store asks for more until the score drops
//     below that of rank k, and ranks ties by insertion order;
//   - it scores the zero vector NaN: the store keeps such chunks apart and ranks
//     them with score 0;
//   - it overwrites a document of the same ID: the ID of a document is the place
//     of the chunk in the order of insertion;
//   - it names the files of a persistent collection by 32 bits of a hash of the
//     ID, so that one of about 77,000 documents overwrites another: the store
//     chooses IDs whose hashes differ;
//   - it keeps the caller's vectors, and reports neither an Add nor a search that
//     was cut short by its context.
//
// These are errors:
//
//	what                                              where
//	a collection with documents of other origin       New, Open
//	chunks of the other kind in the collection        New, Open
//	a file that chromem-go cannot read                Open
//	fewer or more vectors than chunks                 Add
//	an empty vector, differing dimensions             Add, Search
//	a component that is NaN or infinite               Add, Search
//	a negative k                                      Search
//	a context that is done                            Add, Search
//	documents added or deleted behind the store       Add, Search
//
// These are not: k = 0, k above the number of chunks, an empty store, a zero
// vector, equal chunks, no chunks to add. An Add that fails leaves the store as
// it was.
//
// Scores are chromem-go's own: cosine similarities that it adds up in float32,
// first component to last. They may differ in the last bits between processor
// architectures, unlike those of [ragtest.MemoryStore], which is also many times
// faster: prefer that one unless chromem-go itself is under test.
package chromem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/philippgille/chromem-go"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/ragtest"
)

// Store is a [ragtest.VectorStore] on a chromem-go collection. It is made by
// [New], [NewInMemory] or [Open]. Any number of goroutines may search at once; a
// search that meets an Add waits for it. There is nothing to close.
//
// A document of the collection holds the text of a chunk as its content; its ID,
// place and metadata are metadata of the document. Keys that begin with
// "ragtest." are the store's; a key of the chunk that begins so is stored, and
// comes back, all the same.
//
// A search takes O(chunks · dimension) time and, for chromem-go's list of the
// documents, O(chunks) memory; it is repeated with twice the number of documents
// while all of them tie with rank k.
type Store[C chunkers.Indexed] struct {
	mu         sync.RWMutex
	collection *chromem.Collection
	names      names
	n          int   // chunks held: those named by the first n names
	dim        int   // 0 while there are none
	zeros      []int // the chunks whose vector is zero, ascending
}

// New returns a store on the given collection, which is empty or holds what an
// earlier store of the same kind of chunk added to it; the store continues
// there. The collection must not be changed by other means from then on. Its
// embedding function is never called.
//
// Note: DB.CreateCollection replaces an existing collection of the same name by
// an empty one. DB.GetOrCreateCollection does not.
func New[C chunkers.Indexed](collection *chromem.Collection) (*Store[C], error) {
	if collection == nil {
		return nil, errors.New("making a chromem store: the collection is nil")
	}
	s := &Store[C]{collection: collection}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("reading the chromem collection %q: %w", collection.Name, err)
	}
	return s, nil
}

// NewInMemory returns an empty store in a database of its own.
func NewInMemory[C chunkers.Indexed]() (*Store[C], error) {
	return inDatabase[C](chromem.NewDB())
}

// Open returns the store in the given directory, with all that was added to it
// before. The directory is created if there is none. Each chunk is written to a
// file of its own, uncompressed, before Add returns. One process at a time may
// have the directory open. If a process dies during Add, the directory holds the
// first of the chunks that were to be added, or has one file that is cut short:
// then Open fails with an error that names it or says that it ends too early.
//
// For a compressed database or a collection of another name use [New].
func Open[C chunkers.Indexed](dir string) (*Store[C], error) {
	if dir == "" {
		return nil, errors.New("opening a chromem store: the directory is empty, want a path")
	}
	db, err := chromem.NewPersistentDB(dir, false)
	if err != nil {
		return nil, fmt.Errorf("opening the chromem store %s: %w", dir, err)
	}
	s, err := inDatabase[C](db)
	if err != nil {
		return nil, fmt.Errorf("opening the chromem store %s: %w", dir, err)
	}
	return s, nil
}

func inDatabase[C chunkers.Indexed](db *chromem.DB) (*Store[C], error) {
	// Without a function chromem-go would set up one that calls OpenAI.
	refuse := func(context.Context, string) ([]float32, error) {
		return nil, errors.New("the store embeds no texts: give it vectors")
	}
	collection, err := db.GetOrCreateCollection("ragtest", nil, refuse)
	if err != nil {
		return nil, err
	}
	return New[C](collection)
}

// load reads what the collection holds already.
func (s *Store[C]) load() error {
	count := s.collection.Count()
	for i := range count {
		doc, err := s.document(i)
		if err != nil {
			return err
		}
		if _, err := decode[C](doc); err != nil {
			return err
		}
		if err := exact.ValidateVector(doc.Embedding, s.dim); err != nil {
			return fmt.Errorf("the vector of document %q %w", doc.ID, err)
		}
		s.dim = len(doc.Embedding)
		if isZero(doc) {
			s.zeros = append(s.zeros, i)
		}
	}
	s.n = count
	return nil
}

// document returns the document of the i-th chunk.
func (s *Store[C]) document(i int) (chromem.Document, error) {
	doc, err := s.collection.GetByID(context.Background(), s.names.at(i))
	if err != nil {
		return doc, fmt.Errorf("chunk %d: %w: the collection holds documents that were not added by this package, or lacks some that were", i, err)
	}
	return doc, nil
}

// unchanged returns an error if the collection was changed behind the store.
func (s *Store[C]) unchanged() error {
	if got := s.collection.Count(); got != s.n {
		return fmt.Errorf("the collection holds %d documents, want %d: it was changed by other means", got, s.n)
	}
	return nil
}

// String returns "chromem", the name of the store in [ragtest.Components].
func (s *Store[C]) String() string { return "chromem" }

// Len returns the number of chunks that the store holds.
func (s *Store[C]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.n
}

// Add appends chunks with their vectors. Nothing of them is kept.
func (s *Store[C]) Add(ctx context.Context, chunks []C, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.addAll(ctx, chunks, vectors); err != nil {
		return fmt.Errorf("adding to the chromem store: %w", err)
	}
	return nil
}

func (s *Store[C]) addAll(ctx context.Context, chunks []C, vectors [][]float32) error {
	if err := exact.ValidateChunks(len(chunks), vectors, s.dim); err != nil {
		return err
	}
	if err := s.unchanged(); err != nil {
		return err
	}
	if len(chunks) == 0 {
		return context.Cause(ctx)
	}
	var zeros []int
	for i, chunk := range chunks {
		doc := encode(s.names.at(s.n+i), chunk, vectors[i])
		// One by one: if the process dies, what was added is a prefix of what
		// was given, and the store still opens.
		err := context.Cause(ctx)
		if err == nil {
			err = s.collection.AddDocument(ctx, doc)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("chunk %d: %w", i, err), s.remove(s.n, s.n+i+1))
		}
		if isZero(doc) {
			zeros = append(zeros, s.n+i)
		}
	}
	s.dim = len(vectors[0])
	s.n += len(chunks)
	s.zeros = append(s.zeros, zeros...)
	return nil
}

// remove deletes the documents of the chunks [first, last) if there are any.
func (s *Store[C]) remove(first, last int) error {
	var ids []string
	for i := first; i < last; i++ {
		ids = append(ids, s.names.at(i))
	}
	if err := s.collection.Delete(context.Background(), nil, nil, ids...); err != nil {
		return fmt.Errorf("removing what had been added: %w", err)
	}
	return nil
}

// Search returns the k chunks whose vectors are most similar to the query, best
// first, ties by insertion order; all chunks if there are fewer than k.
func (s *Store[C]) Search(ctx context.Context, query []float32, k int) ([]ragtest.ScoredChunk[C], error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.search(ctx, query, k)
	if err != nil {
		return nil, fmt.Errorf("searching the chromem store: %w", err)
	}
	return found, nil
}

func (s *Store[C]) search(ctx context.Context, query []float32, k int) ([]ragtest.ScoredChunk[C], error) {
	if k < 0 {
		return nil, fmt.Errorf("k is %d, want 0 or more", k)
	}
	if err := exact.ValidateVector(query, s.dim); err != nil {
		return nil, fmt.Errorf("query %w", err)
	}
	if err := s.unchanged(); err != nil {
		return nil, err
	}
	unit := make([]float32, len(query))
	exact.Normalize(unit, query)
	k = min(k, s.n)
	var hits []exact.Hit
	if zeroVector(unit) {
		for i := range k {
			hits = append(hits, exact.Hit{Index: i})
		}
	} else {
		nearest, err := s.nearest(ctx, unit, k)
		if err != nil {
			return nil, err
		}
		hits = nearest
		for _, i := range s.zeros[:min(k, len(s.zeros))] {
			hits = append(hits, exact.Hit{Index: i})
		}
		slices.SortFunc(hits, exact.Compare)
		hits = hits[:k]
	}
	found := make([]ragtest.ScoredChunk[C], k)
	for i, h := range hits {
		doc, err := s.document(h.Index)
		if err != nil {
			return nil, err
		}
		chunk, err := decode[C](doc)
		if err != nil {
			return nil, err
		}
		found[i] = ragtest.ScoredChunk[C]{Chunk: chunk, Score: float64(h.Score)}
	}
	return found, context.Cause(ctx)
}

// nearest returns, in no particular order, the chunks whose vectors are not
// zero and whose scores are at least that of the k-th best of them.
func (s *Store[C]) nearest(ctx context.Context, query []float32, k int) ([]exact.Hit, error) {
	most := s.n - len(s.zeros)
	k = min(k, most)
	if k == 0 {
		return nil, nil
	}
	var where map[string]string
	if len(s.zeros) > 0 {
		where = map[string]string{zeroKey: "false"}
	}
	for limit := min(k+1, most); ; limit = min(2*limit, most) {
		results, err := s.collection.QueryEmbedding(ctx, query, limit, where, nil)
		if err != nil {
			return nil, err
		}
		// A query whose context is done returns what it has, and no error.
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(results) != limit {
			return nil, fmt.Errorf("chromem-go returned %d documents, want %d", len(results), limit)
		}
		// A chunk that was left out scores at most what the last one does.
		floor := results[k-1].Similarity
		if limit < most && results[limit-1].Similarity == floor {
			continue
		}
		hits := make([]exact.Hit, 0, limit)
		for _, r := range results {
			if r.Similarity < floor {
				break
			}
			i, err := s.names.index(r.ID, s.n)
			if err != nil {
				return nil, err
			}
			hits = append(hits, exact.Hit{Index: i, Score: r.Similarity})
		}
		return hits, nil
	}
}
