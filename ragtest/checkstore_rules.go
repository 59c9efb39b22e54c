package ragtest

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/rageval/rageval/chunkers"
)

func (c *storeCheck[C]) emptyStore() {
	if s, ok := c.store(nil, nil); ok {
		c.expect(s, []float32{1, 0, 0}, 3, nil)
	}
}

func (c *storeCheck[C]) order() {
	chunks := numbered[C](5)
	s, ok := c.store(chunks, [][]float32{{3, 4}, {-0.5, 0}, {100, 0}, {0, 2}, {0.04, 0.03}})
	if !ok {
		return
	}
	best := []ScoredChunk[C]{{chunks[2], 1}, {chunks[4], 0.8}, {chunks[0], 0.6}, {chunks[3], 0}, {chunks[1], -1}}
	c.expect(s, []float32{1, 0}, 5, best)
	c.expect(s, []float32{25, 0}, 2, best[:2])
}

func (c *storeCheck[C]) numberFound() {
	chunks := numbered[C](3)
	s, ok := c.store(chunks, [][]float32{{1, 0}, {3, 4}, {0, 1}})
	if !ok {
		return
	}
	all := []ScoredChunk[C]{{chunks[0], 1}, {chunks[1], 0.6}, {chunks[2], 0}}
	for _, k := range []int{0, 1, 2, 3, 4, 1000} {
		c.expect(s, []float32{1, 0}, k, all[:min(k, len(all))])
	}
}

// ties stores three groups of equal vectors, interleaved.
func (c *storeCheck[C]) ties() {
	directions := []struct {
		vector []float32
		score  float64 // for the query 1, 0
	}{{[]float32{1, 0}, 1}, {[]float32{3, 4}, 0.6}, {[]float32{-1, 0}, -1}}
	chunks := numbered[C](48)
	vectors := make([][]float32, len(chunks))
	for i := range vectors {
		vectors[i] = slices.Clone(directions[i*i%7%3].vector)
	}
	var want []ScoredChunk[C]
	for _, d := range directions {
		for i, v := range vectors {
			if slices.Equal(v, d.vector) {
				want = append(want, ScoredChunk[C]{chunks[i], d.score})
			}
		}
	}
	s, ok := c.store(chunks[:17], vectors[:17])
	if !ok || !c.add(s, chunks[17:18], vectors[17:18]) || !c.add(s, chunks[18:], vectors[18:]) {
		return
	}
	for k := 1; k <= len(chunks); k++ {
		got, ok := c.search(s, []float32{1, 0}, k)
		if !ok {
			return
		}
		if !equalRankings(got, want[:k], scoreTolerance) {
			c.errorf("searching among equal vectors with k = %d: got %v, want %v", k, describe(got), describe(want[:k]))
			return
		}
	}
}

func (c *storeCheck[C]) duplicates() {
	const text = "See the next page."
	chunks := []C{
		newChunk[C]("a.md", 0, text, nil),
		newChunk[C]("b.md", 0, "Another passage.", nil),
		newChunk[C]("b.md", 40, text, nil),
		newChunk[C]("c.md", 7, text, nil),
	}
	s, ok := c.store(chunks, [][]float32{{1, 0}, {4, 3}, {1, 0}, {3, 4}})
	if !ok {
		return
	}
	want := []ScoredChunk[C]{{chunks[0], 1}, {chunks[2], 1}, {chunks[1], 0.8}, {chunks[3], 0.6}}
	c.expect(s, []float32{1, 0}, 4, want)
	c.expect(s, []float32{1, 0}, 2, want[:2])
}

func (c *storeCheck[C]) chunksIntact() {
	chunks := []C{
		newChunk[C]("handbook/leave.md", 0, "Plain text.", map[string]string{"heading": "Leave", "empty": ""}),
		newChunk[C]("дом/東京 & co.md", 123456, "Ünïcødé 🙂 e\u0301\r\n\t\"quoted\" 'text' \\ {\"a\": 1}", map[string]string{"ключ": "värde\n2", "a.b-c d/e": "%s $1 ' \" \\"}),
		newChunk[C]("keys.md", 3, "Keys that a store may use itself.", map[string]string{
			"id": "x1", "doc": "x2", "start": "x3", "end": "x4", "text": "x5", "span": "x6", "content": "x7",
			"embedding": "x8", "score": "x9", "metadata": "x10", "_id": "x11", "document": "x12", "index": "x13",
		}),
		newChunk[C]("nil.md", 0, "No metadata.", nil),
	}
	want := make([]ScoredChunk[C], len(chunks))
	for i, score := range []float64{1, 0.8, 0.6, 0} {
		want[i] = ScoredChunk[C]{copyOfChunk(chunks[i]), score}
	}
	s, ok := c.store(chunks, [][]float32{{1, 0}, {4, 3}, {3, 4}, {0, 1}})
	if !ok {
		return
	}
	got, ok := c.search(s, []float32{1, 0}, len(chunks))
	if !ok {
		return
	}
	if len(got) != len(want) {
		c.errorf("got %d chunks, want %d", len(got), len(want))
		return
	}
	for i := range want {
		if !equalChunks(got[i].Chunk, want[i].Chunk) {
			c.errorf("got %#v, want %#v", got[i].Chunk, want[i].Chunk)
		}
	}
}

// copyOfChunk returns a chunk that shares no metadata with the given one.
func copyOfChunk[C chunkers.Indexed](chunk C) C {
	switch p := any(&chunk).(type) {
	case *chunkers.Chunk:
		p.Metadata = maps.Clone(p.Metadata)
	case *chunkers.PositionAwareChunk:
		p.Metadata = maps.Clone(p.Metadata)
	}
	return chunk
}

func (c *storeCheck[C]) dimension() {
	chunks := numbered[C](2)
	for _, test := range []struct {
		name    string
		chunks  []C
		vectors [][]float32
	}{
		{"adding vectors of dimensions 3 and 2 together", chunks, [][]float32{{1, 0, 0}, {1, 0}}},
		{"adding an empty vector", chunks[:1], [][]float32{{}}},
		{"adding 2 chunks with 1 vector", chunks, [][]float32{{1, 0}}},
		{"adding 1 chunk with 2 vectors", chunks[:1], [][]float32{{1, 0}, {0, 1}}},
	} {
		s, ok := c.store(nil, nil)
		if !ok {
			return
		}
		c.wantError(s.Add(c.ctx, test.chunks, test.vectors), test.name)
	}
	s, ok := c.store(chunks[:1], [][]float32{{1, 0, 0}})
	if !ok {
		return
	}
	c.wantError(s.Add(c.ctx, chunks[1:], [][]float32{{1, 0}}), "adding a vector of dimension 2 to a store of dimension 3")
	for _, query := range [][]float32{{1, 0}, {1, 0, 0, 0}, {}} {
		_, err := s.Search(c.ctx, query, 1)
		c.wantError(err, "searching a store of dimension 3 for a query of dimension %d", len(query))
	}
}

var notFinite = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}

func (c *storeCheck[C]) finite() {
	for _, x := range notFinite {
		s, ok := c.store(nil, nil)
		if !ok {
			return
		}
		c.wantError(s.Add(c.ctx, numbered[C](2), [][]float32{{1, 0}, {0.5, x}}), "adding a vector with the component %v", x)
	}
	s, ok := c.store(numbered[C](2), [][]float32{{1, 0}, {0, 1}})
	if !ok {
		return
	}
	for _, x := range notFinite {
		_, err := s.Search(c.ctx, []float32{x, 1}, 1)
		c.wantError(err, "searching for a query with the component %v", x)
	}
}

func (c *storeCheck[C]) zeroVector() {
	chunks := numbered[C](6)
	s, ok := c.store(chunks, [][]float32{{0, 0}, {-1, 0}, {0, 1}, {0, 0}, {1, 0}, {0, -1}})
	if !ok {
		return
	}
	want := []ScoredChunk[C]{{chunks[4], 1}, {chunks[0], 0}, {chunks[2], 0}, {chunks[3], 0}, {chunks[5], 0}, {chunks[1], -1}}
	for k := 1; k <= len(want); k++ {
		c.expect(s, []float32{1, 0}, k, want[:k])
	}
	unrelated := make([]ScoredChunk[C], len(chunks))
	for i := range chunks {
		unrelated[i].Chunk = chunks[i]
	}
	c.expect(s, []float32{0, 0}, len(chunks), unrelated)
	c.expect(s, []float32{0, 0}, 2, unrelated[:2])

	if s, ok = c.store(chunks[:2], [][]float32{{0, 0}, {0, 0}}); ok {
		c.expect(s, []float32{1, 0}, 2, unrelated[:2])
	}
}

func (c *storeCheck[C]) arguments() {
	chunks, vectors := numbered[C](3), [][]float32{{2, 0}, {3, 4}, {0, 0.5}}
	s, ok := c.store(nil, nil)
	if !ok {
		return
	}
	given, components := slices.Clone(chunks), []float32{2, 0, 3, 4, 0, 0.5}
	if !c.add(s, given, vectors) {
		return
	}
	if !slices.Equal(slices.Concat(vectors...), components) || !slices.EqualFunc(given, chunks, equalChunks) {
		c.errorf("adding: the chunks or vectors were modified")
	}
	query := []float32{5, 0}
	if _, ok := c.search(s, query, 3); ok && !slices.Equal(query, []float32{5, 0}) {
		c.errorf("searching: the query was modified to %v", query)
	}
	for i := range vectors {
		copy(vectors[i], []float32{-1, -1})
		given[i] = newChunk[C]("overwritten.md", i, "overwritten", nil)
	}
	c.expect(s, []float32{5, 0}, 3, []ScoredChunk[C]{{chunks[0], 1}, {chunks[1], 0.6}, {chunks[2], 0}})
}

func (c *storeCheck[C]) cancellation() {
	chunks := numbered[C](2)
	s, ok := c.store(chunks[:1], [][]float32{{1, 0}})
	if !ok {
		return
	}
	done, cancel := context.WithCancel(c.ctx)
	cancel()
	_, err := s.Search(done, []float32{1, 0}, 1)
	c.wantError(err, "searching after the context was cancelled")
	if b, ok := s.(BatchSearcher[C]); ok {
		_, err := b.SearchBatch(done, [][]float32{{1, 0}}, 1)
		c.wantError(err, "searching for a batch after the context was cancelled")
	}
	c.wantError(s.Add(done, chunks[1:], [][]float32{{0, 1}}), "adding after the context was cancelled")
}
