package pgvector

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rageval/rageval/internal/exact"
)

// Add appends chunks with their vectors, all or none of them. Nothing of them is
// kept in memory. The first Add creates the table.
func (s *Store[C]) Add(ctx context.Context, chunks []C, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.add(ctx, chunks, vectors); err != nil {
		return fmt.Errorf("adding to the pgvector store: %w", because(ctx, err))
	}
	return nil
}

func (s *Store[C]) add(ctx context.Context, chunks []C, vectors [][]float32) error {
	if s.closed {
		return errClosed
	}
	if err := exact.ValidateChunks(len(chunks), vectors, s.dim); err != nil {
		return err
	}
	if ctx.Err() != nil || len(chunks) == 0 {
		return context.Cause(ctx)
	}
	if err := checkDim(len(vectors[0]), s.hnsw); err != nil {
		return err
	}
	var refused *copyRefused
	err := s.load(ctx, chunks, vectors, s.copies)
	if errors.As(err, &refused) && ctx.Err() == nil {
		if err = s.load(ctx, chunks, vectors, false); err == nil {
			s.copies = false
		}
	}
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if unitVector(v) == nil {
			s.zeros = append(s.zeros, int64(s.n+i))
		}
	}
	s.n += len(chunks)
	s.dim = len(vectors[0])
	return nil
}

// copyRefused is the error of a COPY that the server has refused, which it may
// well do while it accepts an INSERT.
type copyRefused struct{ err *pgconn.PgError }

func (e *copyRefused) Error() string { return e.err.Error() }
func (e *copyRefused) Unwrap() error { return e.err }

// load adds rows in one transaction.
func (s *Store[C]) load(ctx context.Context, chunks []C, vectors [][]float32, copies bool) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if s.dim == 0 {
			if err := s.createTable(ctx, tx, len(vectors[0])); err != nil {
				return err
			}
		}
		if copies {
			return s.copyRows(ctx, tx, chunks, vectors)
		}
		return s.insertRows(ctx, tx, chunks, vectors)
	})
}

func (s *Store[C]) copyRows(ctx context.Context, tx pgx.Tx, chunks []C, vectors [][]float32) error {
	values := func(i int) ([]any, error) {
		r := encode(chunks[i])
		return []any{int64(s.n + i), r.id, r.doc, r.start, r.end, r.text, r.metadata, r.quoted, vectorBinary(unitVector(vectors[i]))}, nil
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{s.schema, "chunks"}, columns, pgx.CopyFromSlice(len(chunks), values))
	var reported *pgconn.PgError
	if errors.As(err, &reported) {
		return fmt.Errorf("copying %d rows: %w", len(chunks), &copyRefused{reported})
	}
	if err != nil {
		return fmt.Errorf("copying %d rows: %w", len(chunks), err)
	}
	return nil
}

// insertBatch is the number of rows of one INSERT.
const insertBatch = 256

// insertRows sends the columns as arrays, so that one statement and one round
// trip serve many rows in every mode of the protocol.
func (s *Store[C]) insertRows(ctx context.Context, tx pgx.Tx, chunks []C, vectors [][]float32) error {
	insert := fmt.Sprintf(`INSERT INTO %s (%s)
		SELECT o, i, d, b, e, t, m::jsonb, q, v::%s.vector
		FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::boolean[], $9::text[]) AS r (o, i, d, b, e, t, m, q, v)`,
		s.table(), strings.Join(columns, ", "), s.server.types)
	for first := 0; first < len(chunks); first += insertBatch {
		n := min(insertBatch, len(chunks)-first)
		var (
			ordinals   = make([]int64, n)
			ids, docs  = make([]string, n), make([]string, n)
			start, end = make([]*int64, n), make([]*int64, n)
			texts      = make([]string, n)
			metadata   = make([]*string, n)
			quoted     = make([]bool, n)
			embeddings = make([]*string, n)
		)
		for i := range n {
			r := encode(chunks[first+i])
			ordinals[i] = int64(s.n + first + i)
			ids[i], docs[i], start[i], end[i], texts[i], metadata[i], quoted[i] = r.id, r.doc, r.start, r.end, r.text, r.metadata, r.quoted
			embeddings[i] = vectorText(unitVector(vectors[first+i]))
		}
		if _, err := tx.Exec(ctx, insert, ordinals, ids, docs, start, end, texts, metadata, quoted, embeddings); err != nil {
			return fmt.Errorf("inserting rows %d to %d: %w", s.n+first, s.n+first+n-1, detailed(err))
		}
	}
	return nil
}
