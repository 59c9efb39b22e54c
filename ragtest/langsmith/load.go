package langsmith

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// LoadTokenTruth loads the latest version of the token-level dataset of a name, as the
// zero [Dataset] does; name may be "" for [TokenDataset].
func LoadTokenTruth(ctx context.Context, name string, corpus *spans.Corpus) ([]ragtest.TokenQuery, error) {
	queries, _, err := Dataset{Name: name}.LoadToken(ctx, corpus)
	return queries, err
}

// LoadChunkTruth loads the latest version of the chunk-level dataset of a name, as the
// zero [Dataset] does; name may be "" for [ChunkDataset]. The corpus may be nil.
func LoadChunkTruth(ctx context.Context, name string, corpus *spans.Corpus) ([]ragtest.ChunkQuery, error) {
	queries, _, err := Dataset{Name: name}.LoadChunk(ctx, corpus)
	return queries, err
}

// LoadToken loads the queries of the dataset, in order of their IDs. It reads what
// [fixtures.TruthReader] reads from a golden file, also from datasets that other tools
// made, and verifies every span against the corpus in the same way: the error lists
// all examples that fail. It also takes spans that have offsets only, which cannot be
// verified but to lie within their documents: the report counts them as Trusted. The Line of what the report lists is the place of the
// example in order of example ID, from 1.
//
// The ID of a query is the one in the metadata of its example, else that of the
// example. If they differ, the query's metadata have "exampleId". They have
// "dataset_split" if the example is in other splits than the service's default.
func (d Dataset) LoadToken(ctx context.Context, corpus *spans.Corpus) ([]ragtest.TokenQuery, fixtures.LoadReport, error) {
	read := func(where func(int) string, lines []byte) ([]ragtest.TokenQuery, fixtures.LoadReport, error) {
		return fixtures.TruthReader{DropUnlocated: d.DropUnlocated, TrustOffsets: true}.DecodeToken(where, lines, corpus)
	}
	return load(ctx, d, tokenLevel, read, func(q ragtest.TokenQuery) ragtest.QueryID { return q.ID })
}

// LoadChunk loads the queries of the dataset, in order of their IDs, as LoadToken
// does. The corpus may be nil: it is only compared with the fingerprint in the
// metadata of the dataset.
func (d Dataset) LoadChunk(ctx context.Context, corpus *spans.Corpus) ([]ragtest.ChunkQuery, fixtures.LoadReport, error) {
	read := func(where func(int) string, lines []byte) ([]ragtest.ChunkQuery, fixtures.LoadReport, error) {
		return fixtures.TruthReader{DropUnlocated: d.DropUnlocated, TrustOffsets: true}.DecodeChunk(where, lines, corpus)
	}
	return load(ctx, d, chunkLevel, read, func(q ragtest.ChunkQuery) ragtest.QueryID { return q.ID })
}

func load[Q any](ctx context.Context, d Dataset, l level, read func(where func(int) string, lines []byte) ([]Q, fixtures.LoadReport, error), id func(Q) ragtest.QueryID) ([]Q, fixtures.LoadReport, error) {
	name := cmp.Or(d.Name, l.dataset)
	lines, ids, err := d.lines(ctx, name, l)
	if err != nil {
		return nil, fixtures.LoadReport{}, fmt.Errorf("loading dataset %q: %w", name, err)
	}
	queries, report, err := read(func(line int) string {
		if line == 0 {
			return "its examples"
		}
		return "example " + ids[line-1]
	}, lines)
	if errors.Is(err, fixtures.ErrWrongLevel) {
		err = l.wrongLevel()
	}
	if err != nil {
		return nil, fixtures.LoadReport{}, fmt.Errorf("loading dataset %q: %w", name, err)
	}
	slices.SortFunc(queries, func(a, b Q) int { return cmp.Compare(id(a), id(b)) })
	return queries, report, nil
}

// lines returns the dataset as the lines of a golden file, and what each line is: the
// IDs of the examples, "" for the header.
func (d Dataset) lines(ctx context.Context, name string, l level) (lines []byte, ids []string, err error) {
	c, err := d.Connection.client()
	if err != nil {
		return nil, nil, err
	}
	at, err := c.find(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if at.kind() == l.other().kind {
		return nil, nil, l.wrongLevel()
	}
	asOf, err := c.version(ctx, at, d.Version)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if header := at.header(l); header != nil {
		ids = append(ids, "")
		if err := e.Encode(header); err != nil {
			return nil, nil, err
		}
	}
	for x, err := range c.examples(ctx, at.id, asOf) {
		if err != nil {
			return nil, nil, err
		}
		if equalJSON(x.Metadata[splitKey], []byte(`["base"]`)) {
			delete(x.Metadata, splitKey) // The service's default, which nobody chose.
		}
		ids = append(ids, x.ID)
		if err := e.Encode(x); err != nil {
			return nil, nil, fmt.Errorf("example %s: %w", x.ID, err)
		}
	}
	return b.Bytes(), ids, nil
}

// header returns what the metadata say of the header of a golden file, nil if they do
// not say of what level the dataset is, nor in what unit its offsets are.
func (s stored) header(l level) map[string]json.RawMessage {
	header := map[string]json.RawMessage{}
	for _, key := range headerKeys {
		if value, ok := s.metadata[key]; ok {
			header[key] = value
		}
	}
	if s.kind() != "" {
		return header
	}
	// What another tool calls kind, corpus or version may be something else.
	maps.DeleteFunc(header, func(key string, _ json.RawMessage) bool { return key != "offsetUnit" && key != "offset_unit" })
	if len(header) == 0 {
		return nil
	}
	header["kind"] = mustJSON(l.kind)
	return header
}
