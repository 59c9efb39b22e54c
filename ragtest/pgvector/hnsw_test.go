package pgvector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
)

func TestMisuse(t *testing.T) {
	_, err := Open[chunkers.Chunk](t.Context(), " ", Options{})
	wantError(t, err, "the connection string is empty")
	_, err = New[chunkers.Chunk](t.Context(), nil, Options{})
	wantError(t, err, "the pool is nil")
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{HNSW: &HNSW{M: 1}}, "field HNSW.M: got 1, want 2 to 100, or 0 for 16"},
		{Options{HNSW: &HNSW{M: 101, EfConstruction: 300}}, "field HNSW.M: got 101"},
		{Options{HNSW: &HNSW{M: 16, EfConstruction: 31}}, "field HNSW.EfConstruction: got 31, want at least 2*M = 32"},
		{Options{HNSW: &HNSW{EfConstruction: 1001}}, "field HNSW.EfConstruction: got 1001, want 4 to 1000"},
		{Options{HNSW: &HNSW{EfSearch: -1}}, "field HNSW.EfSearch: got -1, want 1 to 1000"},
		{Options{HNSW: &HNSW{IterativeScan: "on"}}, `field HNSW.IterativeScan: got "on", want off, strict_order or relaxed_order`},
		{Options{HNSW: &HNSW{MaxScanTuples: -5}}, "field HNSW.MaxScanTuples: got -5"},
		{Options{Schema: strings.Repeat("é", 32)}, "has 64 bytes, want at most 63"},
		{Options{Schema: "a\x00"}, "holds a NUL or is not valid UTF-8"},
	} {
		wantError(t, test.o.validate(), test.want)
	}
	for _, o := range []Options{{}, {Schema: strings.Repeat("é", 31)}, {HNSW: &HNSW{}}, {HNSW: &HNSW{M: 100}}, {HNSW: &HNSW{IterativeScan: "relaxed_order", MaxScanTuples: 1}}} {
		if err := o.validate(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		dim  int
		hnsw *HNSW
		want string // empty: no error
	}{
		{16_000, nil, ""},
		{16_001, nil, "the vectors have dimension 16001: pgvector stores at most 16000"},
		{2000, &HNSW{}, ""},
		{2001, &HNSW{}, "the vectors have dimension 2001: pgvector's HNSW index holds at most 2000: search exactly, or set HNSW.HalfPrecision"},
		{4000, &HNSW{HalfPrecision: true}, ""},
		{4001, &HNSW{}, "pgvector's HNSW index holds at most 2000: search exactly"},
		{4001, &HNSW{HalfPrecision: true}, "pgvector's HNSW index holds at most 4000 at half precision: search exactly"},
	} {
		if err := checkDim(test.dim, test.hnsw); test.want != "" {
			wantError(t, err, test.want)
		} else if err != nil {
			t.Errorf("dimension %d: %v", test.dim, err)
		}
	}
	for _, test := range []struct {
		minor int
		hnsw  HNSW
		want  string
	}{
		{4, HNSW{}, "pgvector 0.4.0 does not have an HNSW index: want version 0.5 or later"},
		{6, HNSW{HalfPrecision: true}, "does not have halfvec, for field HNSW.HalfPrecision: want version 0.7 or later"},
		{7, HNSW{IterativeScan: "strict_order"}, "does not have iterative scans, for field HNSW.IterativeScan: want version 0.8 or later"},
		{7, HNSW{IterativeScan: "off", HalfPrecision: true}, ""},
		{8, HNSW{IterativeScan: "strict_order", HalfPrecision: true}, ""},
	} {
		s := server{minor: test.minor, version: fmt.Sprintf("0.%d.0", test.minor)}
		if err := test.hnsw.supported(s); test.want != "" {
			wantError(t, err, test.want)
		} else if err != nil {
			t.Errorf("version %s: %v", s.version, err)
		}
	}
}

// TestLargestVectors stores and finds vectors at the limits.
func TestLargestVectors(t *testing.T) {
	pool := newPool(t, nil)
	for _, test := range []struct {
		dim     int
		options Options
	}{{maxDim, Options{}}, {maxIndexedDim, Options{HNSW: &HNSW{}}}, {maxIndexedHalf, Options{HNSW: &HNSW{HalfPrecision: true}}}} {
		vectors := randomVectors(7, 5, test.dim)
		s := mustStore(t, pool, test.options, numbered(5), vectors)
		if found, err := s.Search(t.Context(), vectors[3], 2); err != nil || len(found) != 2 || found[0].Chunk.Text != "passage 3" {
			t.Errorf("dimension %d: got %v and error %v", test.dim, found, err)
		}
	}
}
