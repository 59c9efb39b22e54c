package sweep

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Evaluate evaluates the grid, or its shard. Every field and combination is validated
// before anything is chunked. An error names the cell or the configuration; what was
// finished by then is kept in Dir. When ctx is done Evaluate returns its cause promptly, and no
// goroutine stays behind.
func (g Grid) Evaluate(ctx context.Context) (*Report, error) {
	began := time.Now()
	p, err := g.plan()
	if err != nil {
		return nil, err
	}
	s := &sweeper{plan: p, chunked: make([]*chunking, len(p.chunkers))}
	if s.keeper, err = newKeeper(g.Dir); err != nil {
		return nil, err
	}
	for _, e := range p.Embedders {
		s.embedders = append(s.embedders, newSharedEmbedder(e, nil))
	}
	for _, g := range p.groups {
		if p.Shard.has(g.number) {
			s.mine = append(s.mine, g)
			for _, r := range g.rankings {
				s.total += len(r.cells)
			}
		}
	}
	if err := s.evaluate(ctx); err != nil {
		return nil, err
	}
	r, err := s.report()
	if err != nil {
		return nil, err
	}
	r.Elapsed = time.Since(began)
	return r, nil
}

// sweeper evaluates a plan.
type sweeper struct {
	*plan
	keeper    keeper
	mine      []*group // of the shard
	embedders []*sharedEmbedder
	pools     []*ragtest.TokenPool       // by embedder; nil for one that has none
	chunked   []*chunking                // by chunker; nil: not yet, or done
	spare     ragtest.VectorStore[chunk] // made to learn the name of stores, and not used yet
	storeName string
	work      Work
	usage     []ragtest.Usage
	done      int // cells
	total     int
}

// chunking is what one chunker made.
type chunking struct {
	chunks  *ragtest.TokenChunks // nil: the retrievers bring their own
	content string               // hash of the chunks
	pending []*pending
}

// pending is a group of which something is not kept yet.
type pending struct {
	*group
	keys  []rankingKeys // by ranking
	depth int
}

type rankingKeys struct {
	cells []string // "" for a cell that was kept
	curve string   // "" if there is none to draw
}

func (k rankingKeys) isDone() bool {
	return k.curve == "" && !slices.ContainsFunc(k.cells, func(key string) bool { return key != "" })
}

func (s *sweeper) evaluate(ctx context.Context) (err error) {
	if s.Dir != "" && s.NewStore != nil && len(s.embedders) > 0 {
		if s.spare, err = s.newStore(); err != nil {
			return err
		}
		s.storeName = nameOf(s.spare)
		defer func() {
			if closing := closeStore(s.spare); err == nil {
				err = closing
			}
		}()
	}
	if !s.OneAtATime {
		for c := range s.chunkers {
			if s.chunked[c], err = s.chunk(ctx, c); err != nil {
				return err
			}
		}
		if err := s.pool(); err != nil {
			return err
		}
	}
	for c := range s.chunkers {
		if s.OneAtATime {
			if s.chunked[c], err = s.chunk(ctx, c); err != nil {
				return err
			}
		}
		for _, g := range s.chunked[c].pending {
			if err := s.evaluateGroup(ctx, s.chunked[c], g); err != nil {
				return err
			}
		}
		s.chunked[c] = nil
	}
	return nil
}

// newStore returns the spare store, if there is one, or makes one; nil for the
// default.
func (s *sweeper) newStore() (ragtest.VectorStore[chunk], error) {
	if store := s.spare; store != nil {
		s.spare = nil
		return store, nil
	}
	if s.NewStore == nil {
		return nil, nil
	}
	store, err := s.NewStore()
	if err != nil {
		return nil, fmt.Errorf("field NewStore: %w", err)
	}
	return store, nil
}

func closeStore(store ragtest.VectorStore[chunk]) error {
	if c, ok := store.(io.Closer); ok {
		if err := c.Close(); err != nil {
			return fmt.Errorf("closing the store %s: %w", nameOf(store), err)
		}
	}
	return nil
}

// mostPooled is how much memory, in bytes, the scores of texts that several chunkers
// make may take. Beyond, their vectors are kept instead.
const mostPooled = 1 << 30

// pool makes the pools of the embedders that use the default store.
func (s *sweeper) pool() error {
	s.pools = make([]*ragtest.TokenPool, len(s.embedders))
	for i, e := range s.embedders {
		var evaluation ragtest.TokenLevel
		var chunks []*ragtest.TokenChunks
		for _, c := range s.chunked {
			for _, g := range c.pending {
				if g.embedder != nil && g.source == i {
					evaluation = s.common(g.group)
					chunks = append(chunks, c.chunks)
				}
			}
		}
		if len(chunks) == 0 {
			continue
		}
		if s.NewStore == nil {
			evaluation.Embedder = e
			pool, err := ragtest.NewTokenPool(evaluation, chunks...)
			if err != nil {
				return err
			}
			if pool.Bytes() <= mostPooled {
				s.pools[i] = pool
				continue
			}
		}
		e.later = s.textsAgain(i)
	}
	return nil
}

// textsAgain returns how many chunkings make each text that an embedder embeds for
// more than one.
func (s *sweeper) textsAgain(embedder int) map[string]int {
	times := map[string]int{}
	for _, c := range s.chunked {
		if c == nil || !slices.ContainsFunc(c.pending, func(g *pending) bool { return g.source == embedder }) {
			continue
		}
		for text := range distinct(c.chunks.Chunks()) {
			times[text]++
		}
	}
	for text, n := range times {
		if n == 1 {
			delete(times, text)
		}
	}
	return times
}

// chunk chunks the corpus with one chunker, and finds out what is pending.
func (s *sweeper) chunk(ctx context.Context, chunker int) (*chunking, error) {
	c := &chunking{}
	var groups []*group
	for _, g := range s.mine {
		if g.chunker == chunker {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return c, nil
	}
	if s.chunkers[chunker] != nil {
		var err error
		if c.chunks, err = s.common(groups[0]).Chunk(ctx); err != nil {
			return nil, fmt.Errorf("chunker %s: %w", nameOf(s.chunkers[chunker]), err)
		}
		s.usage = append(s.usage, c.chunks.Usage()...)
		s.work.Chunked.Done += s.Corpus.Len()
		if s.Dir != "" {
			d := newDigest()
			d.chunks(c.chunks.Chunks())
			c.content = d.sum()
		}
	}
	for _, g := range groups {
		p, err := s.findKept(ctx, c, g)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.rankings[0].cells[0].Configuration.name(), err)
		}
		if p != nil {
			c.pending = append(c.pending, p)
		}
	}
	return c, nil
}

// findKept fills in what is kept of a group, and returns what is not; nil if nothing
// is missing.
func (s *sweeper) findKept(ctx context.Context, c *chunking, g *group) (*pending, error) {
	p := &pending{group: g}
	for _, r := range g.rankings {
		p.depth = max(p.depth, r.depth())
	}
	if c.chunks != nil {
		p.depth = max(p.depth, s.Budget.depth(c.chunks.Chunks()))
	}
	var content []string
	if s.Dir != "" {
		var err error
		if content, err = s.content(ctx, c, g); err != nil {
			return nil, err
		}
	}
	missing := false
	for _, r := range g.rankings {
		keys, err := s.loadRanking(r, content, p.depth)
		if err != nil {
			return nil, err
		}
		p.keys = append(p.keys, keys)
		missing = missing || !keys.isDone()
	}
	if !missing {
		return nil, nil
	}
	return p, nil
}

// content returns what all results of a group depend on.
func (s *sweeper) content(ctx context.Context, c *chunking, g *group) ([]string, error) {
	vectors := newDigest()
	if g.embedder != nil {
		e := s.embedders[g.source]
		for batch := range slices.Chunk(s.Queries, queryBatch) {
			texts := make([]string, len(batch))
			for i, q := range batch {
				texts[i] = q.Text
			}
			embedded, err := e.EmbedQueries(ctx, texts)
			if err != nil {
				return nil, fmt.Errorf("embedding the queries: %w", err)
			}
			vectors.vectors(embedded)
		}
	}
	content := []string{s.Corpus.Fingerprint(), fingerprint(s.Queries), c.content, vectors.sum(), nameOf(g.embedder), nameOf(g.retriever)}
	if g.embedder != nil {
		content = append(content, s.storeName)
	}
	return append(append(content, s.options()), s.metrics...), nil
}

// options identifies the settings that all cells have, with the metadata that they
// depend on; "" for none.
func (p *plan) options() string {
	if !p.EquivalentText && len(p.SliceBy) == 0 {
		return ""
	}
	d := newDigest()
	d.text(fmt.Sprint(p.EquivalentText))
	d.text(p.SliceBy...)
	for _, q := range p.Queries {
		for _, key := range p.SliceBy {
			value, ok := q.Metadata[key]
			d.text(fmt.Sprint(ok), value)
		}
	}
	return d.sum()
}

// queryBatch is how many queries are embedded at a time.
const queryBatch = 256

// loadRanking fills in the cells and the curve of a ranking that are kept, and
// returns the keys of those that are not.
func (s *sweeper) loadRanking(r *ranking, content []string, depth int) (rankingKeys, error) {
	keys := rankingKeys{cells: make([]string, len(r.cells))}
	key := func(kind string, numbers ...int) string {
		d := newDigest()
		d.number(keptVersion)
		d.number(len(content))
		d.text(content...)
		d.text(nameOf(r.reranker), kind)
		for _, n := range numbers {
			d.number(n)
		}
		return d.sum()
	}
	for i := range r.cells {
		c := &r.cells[i]
		keys.cells[i] = key("cell", r.fetchK, c.K)
		found, ok, err := s.keeper.load(keys.cells[i])
		if err != nil {
			return keys, err
		}
		if ok && found.Cell != nil {
			c.take(*found.Cell)
			keys.cells[i] = ""
			s.done++
			s.work.Kept++
		}
	}
	if s.Budget.set {
		keys.curve = key("curve of "+s.Budget.String(), r.fetchK, depth)
		found, ok, err := s.keeper.load(keys.curve)
		if err != nil {
			return keys, err
		}
		if ok && found.Curve != nil {
			r.curve.take(*found.Curve)
			keys.curve = ""
		}
	}
	return keys, nil
}

// evaluateGroup evaluates what is missing of a group.
func (s *sweeper) evaluateGroup(ctx context.Context, c *chunking, g *pending) (err error) {
	e := s.common(g.group)
	var pool *ragtest.TokenPool
	if g.embedder != nil {
		e.Embedder = s.embedders[g.source]
		if s.pools != nil {
			pool = s.pools[g.source]
		}
		if e.Store, err = s.newStore(); err != nil {
			return err
		}
		defer func() {
			if closing := closeStore(e.Store); err == nil {
				err = closing
			}
		}()
	}
	var prepared *ragtest.PreparedTokenLevel
	if pool != nil {
		prepared, err = pool.Prepare(ctx, e.Chunker, c.chunks, g.depth)
	} else {
		prepared, err = e.Prepare(ctx, c.chunks, g.depth)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", g.rankings[0].cells[0].Configuration.name(), err)
	}
	if g.embedder != nil && pool == nil {
		s.embedders[g.source].done(c.chunks.Chunks())
	}
	s.work.Retrieved.Done += len(s.Queries)
	for i, r := range g.rankings {
		if g.keys[i].isDone() {
			continue
		}
		if err := s.evaluateRanking(ctx, c, g, r, g.keys[i], prepared); err != nil {
			return err
		}
	}
	s.usage = append(s.usage, prepared.Usage()...)
	if s.Progress != nil {
		s.Progress(s.done, s.total, g.rankings[0].cells[0].Configuration.name())
	}
	return nil
}

func (s *sweeper) evaluateRanking(ctx context.Context, c *chunking, g *pending, r *ranking, keys rankingKeys, prepared *ragtest.PreparedTokenLevel) error {
	candidates, rerankedChars := g.depth, 0
	if r.reranker != nil {
		candidates = r.fetchK
	}
	ranked, err := prepared.Rank(ctx, r.reranker, candidates)
	if err != nil {
		return fmt.Errorf("%s: %w", r.curve.Configuration.name(), err)
	}
	if r.reranker != nil {
		s.work.Reranked.Done += len(s.Queries)
		for _, list := range ranked.Candidates() {
			for _, h := range list {
				rerankedChars += utf8.RuneCountInString(h.Chunk.IndexText())
			}
		}
	}
	for i := range r.cells {
		if keys.cells[i] == "" {
			continue
		}
		cell := &r.cells[i]
		result, err := ranked.Judge(ctx, cell.Name, cell.K)
		if err != nil {
			return fmt.Errorf("%s: %w", cell.Name, err)
		}
		cell.record(result)
		cell.RerankedChars = rerankedChars
		cell.EmbeddedChars = prepared.EmbeddedCharacters()
		s.work.add(*cell, result)
		if s.Visit != nil {
			if err := s.price(cell); err != nil {
				return err
			}
			if err := s.Visit(*cell, result); err != nil {
				return fmt.Errorf("%s: visiting: %w", cell.Name, err)
			}
		}
		if err := s.keeper.save(keys.cells[i], kept{Cell: cell}); err != nil {
			return fmt.Errorf("%s: %w", cell.Name, err)
		}
		s.done++
	}
	if keys.curve != "" {
		total := 0
		if c.chunks != nil {
			total = len(c.chunks.Chunks())
		}
		r.curve.measure(s.Budget, s.recaller(ranked), ranked.Ranked(), total)
		if err := s.keeper.save(keys.curve, kept{Curve: &r.curve}); err != nil {
			return fmt.Errorf("%s: %w", r.curve.Configuration.name(), err)
		}
	}
	return nil
}

// recaller returns what says how much recall growing parts of a query's ranking have.
func (s *sweeper) recaller(r *ragtest.TokenRanking) func(query int) func(chunks []scored) float64 {
	return func(query int) func([]scored) float64 {
		q := s.Queries[query]
		if s.EquivalentText || len(q.Alternatives) > 0 {
			return func(chunks []scored) float64 { return r.Recall(query, chunks) }
		}
		relevant := spans.Union(q.Relevant...)
		left, seen := relevant, 0
		return func(chunks []scored) float64 {
			for ; seen < len(chunks); seen++ {
				left = left.Subtract(spans.Union(chunks[seen].Chunk.Span))
			}
			if relevant.Empty() {
				return 1
			}
			return float64(relevant.Len()-left.Len()) / float64(relevant.Len())
		}
	}
}

// price sets the cost of a cell.
func (s *sweeper) price(c *Cell) error {
	c.Cost = float64(c.EmbeddedChars + c.RerankedChars)
	if s.Cost != nil {
		c.Cost = s.Cost(*c)
	}
	if math.IsNaN(c.Cost) || math.IsInf(c.Cost, 0) {
		return fmt.Errorf("%s: field Cost: got %v, want a finite number", c.Name, c.Cost)
	}
	return nil
}

// take takes over what was measured for a cell, under whatever name.
func (c *Cell) take(from Cell) {
	from.Index, from.Name, from.Configuration, from.K = c.Index, c.Name, c.Configuration, c.K
	from.Cost = 0
	*c = from
}

func (c *Curve) take(from Curve) {
	from.Index, from.Configuration = c.Index, c.Configuration
	*c = from
}

// report collects the cells and curves.
func (s *sweeper) report() (*Report, error) {
	r := &Report{Name: s.Name, CorpusFingerprint: s.Corpus.Fingerprint(), QueriesFingerprint: fingerprint(s.Queries),
		Metrics: s.metrics, GridCells: s.cells, Work: s.work, Usage: ragtest.SumUsage(s.usage)}
	r.Work.Cells = s.done
	for _, e := range s.embedders {
		r.Work.Embedded.Done += e.embedded
		r.Work.Queries.Done += e.queried
	}
	if s.Budget.set {
		r.Budget = s.Budget.String()
	}
	for _, q := range s.Queries {
		id := q.ID
		if id == "" {
			id = ragtest.NewQueryID(q.Text)
		}
		r.Queries = append(r.Queries, id)
	}
	names := newDigest()
	for _, g := range s.groups {
		for _, ranking := range g.rankings {
			for _, c := range ranking.cells {
				names.text(c.Name)
			}
		}
	}
	if options := s.options(); options != "" {
		names.text(options)
	}
	r.Grid = names.sum()
	for _, g := range s.mine {
		for _, ranking := range g.rankings {
			for _, c := range ranking.cells {
				if err := s.price(&c); err != nil {
					return nil, err
				}
				r.Cells = append(r.Cells, c)
			}
			if s.Budget.set {
				r.Curves = append(r.Curves, ranking.curve)
			}
		}
	}
	slices.SortFunc(r.Cells, func(a, b Cell) int { return a.Index - b.Index })
	return r, nil
}
