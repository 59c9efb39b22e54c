package pgvector

import (
	"context"
	"fmt"
	"strings"
)

// HNSW asks for approximate search in a hierarchical navigable small world
// graph. The zero value is pgvector's default. The package comment tells what
// the settings are worth.
//
// The index is built by the first search after the first Add, which is several
// times faster than building it while chunks are added; later additions go into
// it one by one. The server's maintenance_work_mem should hold it: 100,000
// vectors of 384 components take 0.2 GB. It can be set in the connection string
// (options=-c%20maintenance_work_mem=1GB).
//
// Searches use the index even where the server's planner would rather compare
// all vectors, as it does in small tables. Of the candidates that the index
// finds, the k most similar are returned, in the order and with the scores of
// exact search.
type HNSW struct {
	M              int // connections of a node and layer, 2 to 100; 0: 16
	EfConstruction int // candidates while building, 4 to 1000 and at least 2*M; 0: 64, or 2*M if that is more

	// EfSearch is the number of candidates while searching, 1 to 1000; 0: 40.
	// A search for more chunks than that has as many candidates as chunks.
	EfSearch int

	// IterativeScan lets the server go on where the candidates do not
	// suffice: "strict_order" or "relaxed_order", from pgvector 0.8 on.
	// Empty: "off", and a search for more than 1000 chunks is an error.
	IterativeScan string

	// MaxScanTuples is where an iterative scan ends; 0: 20,000.
	MaxScanTuples int

	// HalfPrecision indexes 16-bit floats (pgvector's halfvec, from version
	// 0.7 on), which halves the index and admits vectors of up to 4,000
	// components in place of 2,000. The table holds full precision.
	HalfPrecision bool
}

// Limits of pgvector.
const (
	maxDim         = 16_000 // of a vector in a table
	maxIndexedDim  = 2_000  // of a vector in an index
	maxIndexedHalf = 4_000  // of a halfvec in an index
	maxEf          = 1_000
)

func (o Options) validate() error {
	if len(o.Schema) > 63 {
		return fmt.Errorf("field Schema: %q has %d bytes, want at most 63", o.Schema, len(o.Schema))
	}
	if needsQuoting(o.Schema) {
		return fmt.Errorf("field Schema: %q holds a NUL or is not valid UTF-8", o.Schema)
	}
	if o.HNSW == nil {
		return nil
	}
	h := o.HNSW.complete()
	switch {
	case h.M < 2 || h.M > 100:
		return fmt.Errorf("field HNSW.M: got %d, want 2 to 100, or 0 for 16", h.M)
	case h.EfConstruction < 4 || h.EfConstruction > maxEf:
		return fmt.Errorf("field HNSW.EfConstruction: got %d, want 4 to %d, or 0 for 64", h.EfConstruction, maxEf)
	case h.EfConstruction < 2*h.M:
		return fmt.Errorf("field HNSW.EfConstruction: got %d, want at least 2*M = %d", h.EfConstruction, 2*h.M)
	case h.EfSearch < 1 || h.EfSearch > maxEf:
		return fmt.Errorf("field HNSW.EfSearch: got %d, want 1 to %d, or 0 for 40", h.EfSearch, maxEf)
	case h.IterativeScan != "off" && h.IterativeScan != "strict_order" && h.IterativeScan != "relaxed_order":
		return fmt.Errorf("field HNSW.IterativeScan: got %q, want off, strict_order or relaxed_order", h.IterativeScan)
	case h.MaxScanTuples < 1 || h.MaxScanTuples > 1<<31-1:
		return fmt.Errorf("field HNSW.MaxScanTuples: got %d, want 1 to %d, or 0 for 20,000", h.MaxScanTuples, 1<<31-1)
	}
	return nil
}

// complete returns a copy without zero values.
func (h HNSW) complete() *HNSW {
	if h.M == 0 {
		h.M = 16
	}
	if h.EfConstruction == 0 {
		h.EfConstruction = max(64, 2*h.M)
	}
	if h.EfSearch == 0 {
		h.EfSearch = 40
	}
	if h.IterativeScan == "" {
		h.IterativeScan = "off"
	}
	if h.MaxScanTuples == 0 {
		h.MaxScanTuples = 20_000
	}
	return &h
}

// String returns "hnsw" with every field that is not zero.
func (h HNSW) String() string {
	var b strings.Builder
	b.WriteString("hnsw")
	for _, field := range []struct {
		name  string
		value int
	}{{"m", h.M}, {"ef_construction", h.EfConstruction}, {"ef_search", h.EfSearch}, {"max_scan_tuples", h.MaxScanTuples}} {
		if field.value != 0 {
			fmt.Fprintf(&b, "/%s=%d", field.name, field.value)
		}
	}
	if h.IterativeScan != "" {
		b.WriteString("/iterative_scan=" + h.IterativeScan)
	}
	if h.HalfPrecision {
		b.WriteString("/half_precision")
	}
	return b.String()
}

// supported returns an error for what the server's pgvector does not have.
func (h HNSW) supported(s server) error {
	for _, need := range []struct {
		what  string
		used  bool
		minor int
	}{
		{"an HNSW index", true, 5},
		{"halfvec, for field HNSW.HalfPrecision", h.HalfPrecision, 7},
		{"iterative scans, for field HNSW.IterativeScan", h.IterativeScan != "" && h.IterativeScan != "off", 8},
	} {
		if need.used && !s.atLeast(0, need.minor) {
			return fmt.Errorf("pgvector %s does not have %s: want version 0.%d or later", s.version, need.what, need.minor)
		}
	}
	return nil
}

// checkDim returns an error for a dimension that the table or the index cannot
// hold.
func checkDim(dim int, h *HNSW) error {
	switch {
	case dim > maxDim:
		return fmt.Errorf("the vectors have dimension %d: pgvector stores at most %d", dim, maxDim)
	case h == nil:
		return nil
	case h.HalfPrecision && dim > maxIndexedHalf:
		return fmt.Errorf("the vectors have dimension %d: pgvector's HNSW index holds at most %d at half precision: search exactly", dim, maxIndexedHalf)
	case !h.HalfPrecision && dim > maxIndexedHalf:
		return fmt.Errorf("the vectors have dimension %d: pgvector's HNSW index holds at most %d: search exactly", dim, maxIndexedDim)
	case !h.HalfPrecision && dim > maxIndexedDim:
		return fmt.Errorf("the vectors have dimension %d: pgvector's HNSW index holds at most %d: search exactly, or set HNSW.HalfPrecision", dim, maxIndexedDim)
	}
	return nil
}

// indexedValue returns what the index holds of an expression of type vector.
func (s *Store[C]) indexedValue(vector string) string {
	if !s.hnsw.HalfPrecision {
		return vector
	}
	return fmt.Sprintf("(%s)::%s.halfvec(%d)", vector, s.server.types, s.dim)
}

// buildIndex builds the index unless it is built. Of several searches that come
// first, one builds and the others wait. An index that is there already is one
// whose building was lost to the store.
func (s *Store[C]) buildIndex(ctx context.Context) error {
	if s.hnsw == nil || s.indexed.Load() {
		return nil
	}
	select {
	case s.indexing <- struct{}{}:
		defer func() { <-s.indexing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.indexed.Load() {
		return nil
	}
	kind := "vector"
	if s.hnsw.HalfPrecision {
		kind = "halfvec"
	}
	_, err := s.pool.Exec(ctx, fmt.Sprintf("CREATE INDEX IF NOT EXISTS chunks_hnsw ON %s USING hnsw ((%s) %s.%s_cosine_ops) WITH (m = %d, ef_construction = %d)",
		s.table(), s.indexedValue("embedding"), s.server.types, kind, s.hnsw.M, s.hnsw.EfConstruction))
	if err != nil {
		return fmt.Errorf("building the HNSW index: %w", detailed(err))
	}
	s.indexed.Store(true)
	return nil
}
