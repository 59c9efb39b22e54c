package langsmith

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	sdk "github.com/langchain-ai/langsmith-go"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/retryhttp"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Limits of one request that creates or updates examples.
const (
	batchExamples = 100
	batchBytes    = 8 << 20
)

// Uploaded says what an upload found and did. The numbers are of examples.
type Uploaded struct {
	DatasetID string
	Created   int
	Updated   int // they differed
	Unchanged int
	Deleted   int // only with Prune
	Others    int // in the dataset, but of none of the queries; left alone
}

// UploadTokenTruth makes the dataset of a name hold the queries, as the zero [Dataset]
// does; name may be "" for [TokenDataset].
func UploadTokenTruth(ctx context.Context, name string, corpus *spans.Corpus, queries []ragtest.TokenQuery) (Uploaded, error) {
	return Dataset{Name: name}.UploadToken(ctx, corpus, queries)
}

// UploadChunkTruth makes the dataset of a name hold the queries, as the zero [Dataset]
// does; name may be "" for [ChunkDataset]. The corpus may be nil.
func UploadChunkTruth(ctx context.Context, name string, corpus *spans.Corpus, queries []ragtest.ChunkQuery) (Uploaded, error) {
	return Dataset{Name: name}.UploadChunk(ctx, corpus, queries)
}

// UploadToken makes the dataset hold the queries. It creates the dataset if need be,
// the examples that are missing and no other, updates those that differ, and deletes
// none unless Prune is set: uploading again changes nothing. Queries and spans are
// verified first, and all that is wrong is listed in one error.
//
// An example belongs to a query if the query was loaded from it, or has the ID that
// the query gives it, or names the query's ID in its metadata.
//
// An upload that fails on its way has uploaded a part; call it again.
func (d Dataset) UploadToken(ctx context.Context, corpus *spans.Corpus, queries []ragtest.TokenQuery) (Uploaded, error) {
	lines, err := fixtures.EncodeTokenTruth(corpus, queries)
	return d.upload(ctx, tokenLevel, lines, err)
}

// UploadChunk makes the dataset hold the queries, as UploadToken does. The corpus may
// be nil: the dataset then has no fingerprint. If the queries' metadata have
// "chunker", the name of the chunker that made the chunk IDs, it goes to the metadata
// of the dataset: it must be the same for all of them.
func (d Dataset) UploadChunk(ctx context.Context, corpus *spans.Corpus, queries []ragtest.ChunkQuery) (Uploaded, error) {
	lines, err := fixtures.EncodeChunkTruth(corpus, queries)
	return d.upload(ctx, chunkLevel, lines, err)
}

func (d Dataset) upload(ctx context.Context, l level, lines []byte, err error) (Uploaded, error) {
	name := cmp.Or(d.Name, l.dataset)
	if err == nil && d.Version != "" {
		err = fmt.Errorf("field Version: got %q, want none: only the latest version of a dataset can be changed", d.Version)
	}
	var done Uploaded
	if err == nil {
		done, err = d.uploadLines(ctx, name, l, lines)
	}
	if err != nil {
		return Uploaded{}, fmt.Errorf("uploading dataset %q: %w", name, err)
	}
	return done, nil
}

func (d Dataset) uploadLines(ctx context.Context, name string, l level, lines []byte) (Uploaded, error) {
	header, wanted, err := parseLines(lines)
	if err != nil {
		return Uploaded{}, err
	}
	c, err := d.Connection.client()
	if err != nil {
		return Uploaded{}, err
	}
	at, err := c.find(ctx, name)
	if errors.Is(err, errNoDataset) {
		at, err = c.create(ctx, name, l, header)
	}
	if err != nil {
		return Uploaded{}, err
	}
	if at.kind() == l.other().kind {
		return Uploaded{}, l.wrongLevel()
	}
	if err := c.setMetadata(ctx, at, header); err != nil {
		return Uploaded{}, err
	}
	created := map[string]bool{}
	const attempts = 5
	for attempt := 1; ; attempt++ {
		plan, err := c.plan(ctx, at.id, wanted)
		if err != nil {
			return Uploaded{}, err
		}
		err = c.carryOut(ctx, at.id, plan, d.Prune, created)
		// Somebody else, or a request of ours whose answer was lost, created an
		// example in the meantime, or deleted one.
		if s := statusOf(err); attempt < attempts && (s == http.StatusConflict || s == http.StatusNotFound) {
			continue
		}
		if err != nil {
			return Uploaded{}, err
		}
		done := Uploaded{DatasetID: at.id, Created: len(created), Updated: len(plan.update), Unchanged: plan.unchanged}
		for _, e := range plan.unchangedIDs {
			if created[e] {
				done.Unchanged-- // It was created in an earlier attempt.
			}
		}
		if d.Prune {
			done.Deleted = len(plan.others)
		} else {
			done.Others = len(plan.others)
		}
		return done, nil
	}
}

// parseLines returns the header and the records of a golden file that was just
// encoded.
func parseLines(lines []byte) (header map[string]json.RawMessage, records []example, err error) {
	for line := range bytes.Lines(lines) {
		if header == nil {
			err = json.Unmarshal(line, &header)
		} else {
			var e example
			err = json.Unmarshal(line, &e)
			records = append(records, e)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return header, records, nil
}

// plan is what makes a dataset hold the wanted examples.
type plan struct {
	create, update []example
	others         []string // IDs
	unchanged      int
	unchangedIDs   []string
}

func (c *client) plan(ctx context.Context, dataset string, wanted []example) (*plan, error) {
	known := newIndex(dataset)
	existing := map[string]example{}
	for e, err := range c.examples(ctx, dataset, "") {
		if err != nil {
			return nil, err
		}
		known.add(e)
		existing[e.ID] = e
	}
	p := &plan{}
	for _, e := range wanted {
		var query string
		if err := json.Unmarshal(e.Metadata["queryId"], &query); err != nil {
			return nil, err
		}
		id, ok, err := known.find(ragtest.QueryID(query), e.ID)
		if err != nil {
			return nil, err
		}
		e.ID = id
		if !ok {
			p.create = append(p.create, e)
			continue
		}
		was, ok := existing[id]
		if !ok {
			return nil, fmt.Errorf("two queries belong to the example %s, query %s one of them", id, query)
		}
		delete(existing, id)
		if _, ok := e.Metadata[splitKey]; !ok && was.Metadata[splitKey] != nil {
			e.Metadata = maps.Clone(e.Metadata)
			e.Metadata[splitKey] = was.Metadata[splitKey]
		}
		if equalJSON(mustJSON(e), mustJSON(was)) {
			p.unchanged++
			p.unchangedIDs = append(p.unchangedIDs, id)
		} else {
			p.update = append(p.update, e)
		}
	}
	p.others = slices.Sorted(maps.Keys(existing))
	return p, nil
}

// carryOut notes the examples that it has created.
func (c *client) carryOut(ctx context.Context, dataset string, p *plan, prune bool, created map[string]bool) error {
	err := inBatches(p.create, func(batch []example) error {
		body := make([]sdk.ExampleBulkNewParamsBody, len(batch))
		for i, e := range batch {
			body[i] = sdk.ExampleBulkNewParamsBody{
				DatasetID: sdk.F(dataset),
				ID:        sdk.F(e.ID),
				Inputs:    sdk.Raw[map[string]any](e.Inputs),
				Outputs:   sdk.Raw[map[string]any](e.Outputs),
				Metadata:  sdk.Raw[map[string]any](json.RawMessage(mustJSON(e.Metadata))),
			}
			created[e.ID] = true
		}
		if _, err := c.Examples.Bulk.New(ctx, sdk.ExampleBulkNewParams{Body: body}); err != nil {
			return fmt.Errorf("creating %d examples: %w", len(batch), retryhttp.Cause(err))
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = inBatches(p.update, func(batch []example) error {
		body := make([]sdk.ExampleBulkPatchAllParamsBody, len(batch))
		for i, e := range batch {
			body[i] = sdk.ExampleBulkPatchAllParamsBody{
				ID:        sdk.F(e.ID),
				DatasetID: sdk.F(dataset),
				Inputs:    sdk.Raw[map[string]any](e.Inputs),
				Outputs:   sdk.Raw[map[string]any](e.Outputs),
				Metadata:  sdk.Raw[map[string]any](json.RawMessage(mustJSON(e.Metadata))),
			}
		}
		if _, err := c.Examples.Bulk.PatchAll(ctx, sdk.ExampleBulkPatchAllParams{Body: body}); err != nil {
			return fmt.Errorf("updating %d examples: %w", len(batch), retryhttp.Cause(err))
		}
		return nil
	})
	if err != nil || !prune {
		return err
	}
	for _, id := range p.others {
		// One at a time: how the service separates several IDs in a query is not
		// what the SDK does.
		if _, err := c.Examples.Delete(ctx, id); err != nil && statusOf(err) != http.StatusNotFound {
			return fmt.Errorf("deleting example %s: %w", id, retryhttp.Cause(err))
		}
	}
	return nil
}

// inBatches calls send with consecutive examples, as many as a request may have.
func inBatches(all []example, send func([]example) error) error {
	for len(all) > 0 {
		n, size := 0, 0
		for n < min(len(all), batchExamples) {
			size += len(mustJSON(all[n]))
			if n > 0 && size > batchBytes {
				break
			}
			n++
		}
		if err := send(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}
