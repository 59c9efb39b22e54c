package pgvector

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

// Search returns the k chunks whose vectors are most similar to the query, best
// first, ties by insertion order; all chunks if there are fewer than k. With
// [HNSW] they are the best of those that the index finds.
func (s *Store[C]) Search(ctx context.Context, query []float32, k int) ([]ragtest.ScoredChunk[C], error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.search(ctx, [][]float32{query}, k, func(int) string { return "query" })
	if err != nil {
		return nil, fmt.Errorf("searching the pgvector store: %w", because(ctx, err))
	}
	return found[0], nil
}

// SearchBatch returns what [Store.Search] returns for each query. Queries are
// sent in groups, several groups at once, so that neither the way to the server
// nor its processors wait for each other.
func (s *Store[C]) SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]ragtest.ScoredChunk[C], error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.search(ctx, queries, k, func(i int) string { return fmt.Sprintf("query %d", i) })
	if err != nil {
		return nil, fmt.Errorf("searching the pgvector store: %w", because(ctx, err))
	}
	return found, nil
}

const (
	groupsAtOnce = 4
	groupSize    = 16 // queries
)

// search needs s.mu to be held. name tells which query an error is about.
func (s *Store[C]) search(ctx context.Context, queries [][]float32, k int, name func(i int) string) ([][]ragtest.ScoredChunk[C], error) {
	if s.closed {
		return nil, errClosed
	}
	if k < 0 {
		return nil, fmt.Errorf("k is %d, want 0 or more", k)
	}
	for i, query := range queries {
		if err := exact.ValidateVector(query, s.dim); err != nil {
			return nil, fmt.Errorf("%s %w", name(i), err)
		}
	}
	k = min(k, s.n)
	if s.hnsw != nil && s.hnsw.IterativeScan == "off" && k > maxEf {
		return nil, fmt.Errorf("k is %d: an HNSW index finds at most %d chunks unless HNSW.IterativeScan is set", k, maxEf)
	}
	found := make([][]ragtest.ScoredChunk[C], len(queries))
	if k == 0 || len(queries) == 0 {
		return found, context.Cause(ctx)
	}
	if err := s.buildIndex(ctx); err != nil {
		return nil, err
	}
	groups := (len(queries) + groupSize - 1) / groupSize
	err := parallel.Do(ctx, groupsAtOnce, groups, func(ctx context.Context, g int) error {
		first := g * groupSize
		last := min(first+groupSize, len(queries))
		return s.searchGroup(ctx, queries[first:last], found[first:last], k)
	})
	return found, err
}

// searchGroup sends the queries together. PostgreSQL takes what is sent so for
// one transaction, to which the settings are confined.
func (s *Store[C]) searchGroup(ctx context.Context, queries [][]float32, found [][]ragtest.ScoredChunk[C], k int) error {
	var batch pgx.Batch
	exactly := s.exactStatement()
	if s.hnsw == nil {
		for i, query := range queries {
			batch.Queue(exactly, vectorText(unitVector(query)), k).Query(s.read(&found[i], k))
		}
		return detailed(s.pool.SendBatch(ctx, &batch).Close())
	}
	approximately, candidates := s.indexStatement(), max(k, s.hnsw.EfSearch)
	zeros := s.zeros[:min(k, len(s.zeros))]
	settings, values := s.settings(candidates)
	batch.Queue(settings, values...)
	for i, query := range queries {
		if unit := unitVector(query); unit == nil {
			batch.Queue(exactly, nil, k).Query(s.read(&found[i], k))
		} else {
			batch.Queue(approximately, vectorText(unit), k, candidates, zeros).Query(s.read(&found[i], k))
		}
	}
	return detailed(s.pool.SendBatch(ctx, &batch).Close())
}

const rowColumns = "ordinal, chunk_id, doc, start_char, end_char, text, metadata::text, quoted, distance"

// exactStatement compares the query ($1; NULL: the zero vector) with all
// vectors. The distance to and from the zero vector is that of score 0.
func (s *Store[C]) exactStatement() string {
	return fmt.Sprintf(`
		SELECT %s FROM (SELECT *, coalesce(embedding OPERATOR(%s.<=>) $1::%[2]s.vector, 1) AS distance FROM %s) AS compared
		ORDER BY distance, ordinal LIMIT $2`,
		rowColumns, s.server.types, s.table())
}

// indexStatement takes the best $3 from the index, in which zero vectors are
// not, and the first zero vectors, whose ordinals are $4. Without the "+ 0" the
// planner would rely on the order of the index, which an iterative scan relaxes.
func (s *Store[C]) indexStatement() string {
	return fmt.Sprintf(`
		SELECT %[1]s FROM (
			(SELECT *, (embedding OPERATOR(%[2]s.<=>) $1::%[2]s.vector) + 0 AS distance FROM %[3]s
				ORDER BY %[4]s OPERATOR(%[2]s.<=>) %[5]s LIMIT $3)
			UNION ALL
			(SELECT *, 1 FROM %[3]s WHERE ordinal = ANY ($4::bigint[]))
		) AS candidates
		ORDER BY distance, ordinal LIMIT $2`,
		rowColumns, s.server.types, s.table(), s.indexedValue("embedding"), s.indexedValue("$1::"+s.server.types+".vector"))
}

// settings returns a statement, with its arguments, that holds until the end of
// the transaction. Without sequential scans and sorts the planner has no cheaper
// way to the candidates than the index; but the cost that it puts on the last
// sort would have the statement compiled, which takes longer than to execute it.
func (s *Store[C]) settings(candidates int) (sql string, values []any) {
	sql = "SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), set_config('hnsw.ef_search', $1, true)"
	values = []any{strconv.Itoa(min(candidates, maxEf))}
	if s.server.atLeast(0, 8) {
		sql += ", set_config('hnsw.iterative_scan', $2, true), set_config('hnsw.max_scan_tuples', $3, true)"
		values = append(values, s.hnsw.IterativeScan, strconv.Itoa(s.hnsw.MaxScanTuples))
	}
	return sql, values
}

// read returns a function that stores the chunks of a result, k at most, in
// found.
func (s *Store[C]) read(found *[]ragtest.ScoredChunk[C], k int) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		ranking := make([]ragtest.ScoredChunk[C], 0, k)
		for rows.Next() {
			var r row
			var ordinal int64
			var distance float64
			if err := rows.Scan(&ordinal, &r.id, &r.doc, &r.start, &r.end, &r.text, &r.metadata, &r.quoted, &distance); err != nil {
				return fmt.Errorf("reading a row: %w", err)
			}
			if ordinal < 0 || ordinal >= int64(s.n) {
				return fmt.Errorf("%s holds a row of ordinal %d, want 0 to %d: it was changed by other means", s.table(), ordinal, s.n-1)
			}
			chunk, err := decode[C](r)
			if err != nil {
				return fmt.Errorf("row %d of %s: %w", ordinal, s.table(), err)
			}
			ranking = append(ranking, ragtest.ScoredChunk[C]{Chunk: chunk, Score: 1 - distance})
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if s.hnsw == nil && len(ranking) != k {
			return fmt.Errorf("%s holds %d rows, want %d: it was changed by other means", s.table(), len(ranking), s.n)
		}
		*found = ranking
		return nil
	}
}
