package pgvector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// quoteName quotes an identifier.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }

// SQLSTATE codes.
const (
	duplicateSchema = "42P06"
	uniqueViolation = "23505" // two sessions create a schema of one name at once
)

// alreadyExists reports whether a schema could not be created because there is
// one of its name.
func alreadyExists(err error) bool {
	var reported *pgconn.PgError
	return errors.As(err, &reported) && (reported.Code == duplicateSchema || reported.Code == uniqueViolation)
}

// createSchema creates a schema and returns its name and OID. An empty name
// stands for the first of ragtest_1, ragtest_2, … that is free.
func createSchema(ctx context.Context, pool *pgxpool.Pool, name string) (created string, oid uint32, err error) {
	if name != "" {
		oid, err = tryCreateSchema(ctx, pool, name)
		if alreadyExists(err) {
			err = fmt.Errorf("the schema %q exists already, and a store touches none but its own: choose another name, or drop it", name)
		}
		return name, oid, err
	}
	const attempts = 100 // each means that another process took the name meanwhile
	for range attempts {
		taken, err := schemas(ctx, pool)
		if err != nil {
			return "", 0, err
		}
		name := ""
		for i := 1; name == "" || slices.Contains(taken, name); i++ {
			name = fmt.Sprintf("ragtest_%d", i)
		}
		oid, err := tryCreateSchema(ctx, pool, name)
		if !alreadyExists(err) {
			return name, oid, err
		}
	}
	return "", 0, fmt.Errorf("creating a schema: %d names that were free were taken by others at once", attempts)
}

func schemas(ctx context.Context, pool *pgxpool.Pool) ([]string, error) {
	rows, err := pool.Query(ctx, `SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'ragtest\_%'`)
	if err != nil {
		return nil, detailed(err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func tryCreateSchema(ctx context.Context, pool *pgxpool.Pool, name string) (oid uint32, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf("CREATE SCHEMA %s", quoteName(name))); err != nil {
			return err
		}
		const comment = "made by github.com/rageval/rageval/ragtest/pgvector, which drops it when the test ends"
		if _, err := tx.Exec(ctx, fmt.Sprintf("COMMENT ON SCHEMA %s IS '%s'", quoteName(name), comment)); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT oid FROM pg_namespace WHERE nspname = $1", name).Scan(&oid)
	})
	if err != nil {
		return 0, fmt.Errorf("creating the schema %s: %w", name, detailed(err))
	}
	return oid, nil
}

// table returns the quoted name of the store's table.
func (s *Store[C]) table() string { return pgx.Identifier{s.schema, "chunks"}.Sanitize() }

// columns are those of a chunk, in the order of row.values, and the vector.
var columns = []string{"ordinal", "chunk_id", "doc", "start_char", "end_char", "text", "metadata", "quoted", "embedding"}

// createTable creates the table for vectors of the given dimension.
func (s *Store[C]) createTable(ctx context.Context, tx pgx.Tx, dim int) error {
	_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s (
		ordinal    bigint PRIMARY KEY,
		chunk_id   text NOT NULL,
		doc        text NOT NULL,
		start_char bigint,
		end_char   bigint,
		text       text NOT NULL,
		metadata   jsonb,
		quoted     boolean NOT NULL,
		embedding  %s.vector(%d)
	)`, s.table(), s.server.types, dim))
	if err == nil {
		// Remembered even if the transaction fails: its end may have been lost.
		err = tx.QueryRow(ctx, "SELECT oid FROM pg_class WHERE relnamespace = $1 AND relname = 'chunks'", s.schemaOID).Scan(&s.tableOID)
	}
	if err != nil {
		return fmt.Errorf("creating the table: %w", detailed(err))
	}
	return nil
}

// drop drops table and schema if they are those that the store created, and if
// nothing of others is in the schema or depends on the table.
func (s *Store[C]) drop(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		there, err := s.holdsTable(ctx, tx)
		if err != nil {
			return err
		}
		if there {
			// Once the table is locked, nobody can put another in its place.
			if err := exec(ctx, tx, "LOCK TABLE "+s.table()+" IN ACCESS EXCLUSIVE MODE"); err != nil {
				return err
			}
			if _, err := s.holdsTable(ctx, tx); err != nil {
				return err
			}
			if err := exec(ctx, tx, "DROP TABLE "+s.table()); err != nil {
				return err
			}
		}
		return exec(ctx, tx, "DROP SCHEMA "+quoteName(s.schema))
	})
}

func exec(ctx context.Context, tx pgx.Tx, sql string) error {
	_, err := tx.Exec(ctx, sql)
	return detailed(err)
}

// holdsTable reports whether the store's schema holds its table. It returns an
// error if either is no longer the one that the store created.
func (s *Store[C]) holdsTable(ctx context.Context, tx pgx.Tx) (bool, error) {
	var schema, table *uint32
	err := tx.QueryRow(ctx, `SELECT (SELECT oid FROM pg_namespace WHERE nspname = $1), (SELECT oid FROM pg_class WHERE relnamespace = $2 AND relname = 'chunks')`,
		s.schema, s.schemaOID).Scan(&schema, &table)
	switch {
	case err != nil:
		return false, detailed(err)
	case schema == nil || *schema != s.schemaOID:
		return false, errors.New("it is gone, or no longer the one that the store created")
	case table != nil && *table != s.tableOID:
		return false, errors.New("its table chunks is not the one that the store created")
	}
	return table != nil, nil
}
