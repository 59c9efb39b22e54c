package pgvector

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connect returns a pool for the connection string. It opens no connection yet.
func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	if strings.TrimSpace(dsn) == "" {
		return nil, errors.New("the connection string is empty, want a URL postgres://… or a list of keywords host=… dbname=…")
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// The parser's words may quote a piece of a password in which a
		// character is not escaped.
		return nil, errors.New(`parsing the connection string: want a URL postgres://… or a list of keywords host=… dbname=… (it is not shown, since it may hold a password, in which every character but letters, digits and "-._~" must be percent-encoded in a URL)`)
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// server is what a store must know of its server.
type server struct {
	pglite       bool   // COPY from a client hangs the server
	types        string // the quoted schema of pgvector's types and operators
	major, minor int    // of pgvector's version
	version      string // of pgvector
}

func (s server) atLeast(major, minor int) bool {
	return s.major > major || s.major == major && s.minor >= minor
}

func askServer(ctx context.Context, pool *pgxpool.Pool) (server, error) {
	var (
		product, database, serverEncoding, clientEncoding string
		available                                         bool
		version, schema                                   *string
	)
	err := pool.QueryRow(ctx, `
		SELECT version(), current_database()::text, current_setting('server_encoding'), current_setting('client_encoding'),
			EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector'), e.extversion, n.nspname::text
		FROM (SELECT) AS one
		LEFT JOIN pg_extension e ON e.extname = 'vector'
		LEFT JOIN pg_namespace n ON n.oid = e.extnamespace`,
	).Scan(&product, &database, &serverEncoding, &clientEncoding, &available, &version, &schema)
	switch {
	case err != nil:
		return server{}, detailed(err)
	case serverEncoding != "UTF8":
		return server{}, fmt.Errorf("the database %q has the encoding %s, want UTF8", database, serverEncoding)
	case clientEncoding != "UTF8":
		return server{}, fmt.Errorf("the connection has the client_encoding %s, want UTF8", clientEncoding)
	case version == nil && available:
		return server{}, fmt.Errorf("the database %q does not have the extension vector: run CREATE EXTENSION vector in it", database)
	case version == nil:
		return server{}, errors.New("the server has no pgvector: install it, and run CREATE EXTENSION vector in the database")
	}
	s := server{pglite: strings.Contains(product, "PGlite"), types: quoteName(*schema), version: *version}
	if _, err := fmt.Sscanf(*version, "%d.%d", &s.major, &s.minor); err != nil {
		return server{}, fmt.Errorf("the extension vector has the version %q, want one like 0.8.0", *version)
	}
	return s, nil
}

// because returns the cause for which ctx is done, if it is, in place of what
// the connection made of it.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// detailed adds the detail and the hint of an error that the server reports.
func detailed(err error) error {
	var reported *pgconn.PgError
	if !errors.As(err, &reported) || reported.Detail == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.ReplaceAll(reported.Detail, "\n", "; "))
}
