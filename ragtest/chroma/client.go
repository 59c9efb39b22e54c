package chroma

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/rageval/rageval/internal/retryhttp"
)

// client makes the requests of Chroma's v2 REST API that a store needs. All of
// them may be answered twice without harm.
type client struct {
	http        *http.Client // repeats requests; a status other than 2xx is an error
	header      http.Header
	api         string // URL of the API
	collections string // URL of the collections of the database
}

// do makes a request and decodes what is answered. A nil body is none, and a nil
// answer is not looked at.
func (c *client) do(ctx context.Context, method, url string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		sent = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		return err
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		return retryhttp.Cause(err)
	}
	defer resp.Body.Close()
	if answer == nil {
		return nil
	}
	d := json.NewDecoder(resp.Body)
	d.UseNumber()
	if err := d.Decode(answer); err != nil {
		return fmt.Errorf("decoding the answer to %s %s: %w", method, req.URL.Redacted(), err)
	}
	return nil
}

// refused reports whether the server answered with the given status, and in how
// many attempts.
func refused(err error, status int) (attempts int, ok bool) {
	var e *retryhttp.Error
	if errors.As(err, &e) && e.Status == status {
		return e.Attempts, true
	}
	return 0, false
}

// maxBatch returns how many records a request may hold.
func (c *client) maxBatch(ctx context.Context) (int, error) {
	var answer struct {
		MaxBatchSize int `json:"max_batch_size"`
	}
	if err := c.do(ctx, http.MethodGet, c.api+"/pre-flight-checks", nil, &answer); err != nil {
		return 0, err
	}
	if answer.MaxBatchSize < 1 {
		return 0, fmt.Errorf("the server states a max_batch_size of %d, want 1 or more", answer.MaxBatchSize)
	}
	return answer.MaxBatchSize, nil
}

const space = "cosine"

// collection is what the server tells of one.
type collection struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Configuration struct {
		HNSW  map[string]any `json:"hnsw"`
		SPANN map[string]any `json:"spann"` // the index of Chroma Cloud
	} `json:"configuration_json"`
}

// check returns an error unless the collection is the one that was asked for.
func (c *collection) check(name string, hnsw HNSW) error {
	if c.ID == "" || c.Name != name {
		return fmt.Errorf("the server made a collection of the name %q and the ID %q, want the name %q and some ID", c.Name, c.ID, name)
	}
	index := c.Configuration.HNSW
	if index == nil {
		index = c.Configuration.SPANN
	}
	if index["space"] != space {
		return fmt.Errorf("the server made a collection of the space %v, want %s", index["space"], space)
	}
	for _, s := range hnsw.settings() {
		if got := index[s.name]; s.value != 0 && got != json.Number(fmt.Sprint(s.value)) {
			return fmt.Errorf("the server made a collection of the %s %v, want %d", s.name, got, s.value)
		}
	}
	return nil
}

// create makes a collection. Its name must be one that nobody else could choose.
func (c *client) create(ctx context.Context, name string, hnsw HNSW) (*collection, error) {
	index := map[string]any{"space": space}
	for _, s := range hnsw.settings() {
		if s.value != 0 {
			index[s.name] = s.value
		}
	}
	body := map[string]any{"name": name, "configuration": map[string]any{"hnsw": index}}
	made := new(collection)
	err := c.do(ctx, http.MethodPost, c.collections, body, made)
	if attempts, ok := refused(err, http.StatusConflict); ok && attempts > 1 {
		// The answer to an earlier attempt was lost.
		err = c.do(ctx, http.MethodGet, c.named(name), nil, made)
	}
	return made, err
}

func (c *client) named(name string) string { return c.collections + "/" + url.PathEscape(name) }

// delete deletes a collection if it is there.
func (c *client) delete(ctx context.Context, name string) error {
	err := c.do(ctx, http.MethodDelete, c.named(name), nil, nil)
	if _, ok := refused(err, http.StatusNotFound); ok {
		return nil
	}
	return err
}

// records are the records of one request, by column.
type records struct {
	IDs        []string         `json:"ids"`
	Embeddings [][]float32      `json:"embeddings"`
	Documents  []string         `json:"documents"`
	Metadatas  []map[string]any `json:"metadatas"`
}

func (c *client) add(ctx context.Context, id string, r *records) error {
	return c.do(ctx, http.MethodPost, c.named(id)+"/add", r, nil)
}

// count returns the number of records.
func (c *client) count(ctx context.Context, id string) (int, error) {
	var n int
	err := c.do(ctx, http.MethodGet, c.named(id)+"/count", nil, &n)
	return n, err
}

// near is a record that was found: its ID and its distance to the query.
type near struct {
	id       string
	distance float32
}

// query returns, for each vector, up to n records, as the server ranks them.
func (c *client) query(ctx context.Context, id string, vectors [][]float32, n int) ([][]near, error) {
	body := struct {
		QueryEmbeddings [][]float32 `json:"query_embeddings"`
		NResults        int         `json:"n_results"`
		Include         []string    `json:"include"`
	}{vectors, n, []string{"distances"}}
	var answer struct {
		IDs       [][]string   `json:"ids"`
		Distances [][]*float32 `json:"distances"` // null for NaN
	}
	if err := c.do(ctx, http.MethodPost, c.named(id)+"/query", body, &answer); err != nil {
		return nil, err
	}
	if len(answer.IDs) != len(vectors) || len(answer.Distances) != len(vectors) {
		return nil, fmt.Errorf("the server answered %d lists of IDs and %d of distances to %d queries", len(answer.IDs), len(answer.Distances), len(vectors))
	}
	found := make([][]near, len(vectors))
	for q, ids := range answer.IDs {
		distances := answer.Distances[q]
		if len(ids) != len(distances) {
			return nil, fmt.Errorf("the server answered %d IDs and %d distances to a query", len(ids), len(distances))
		}
		if len(ids) > n {
			return nil, fmt.Errorf("the server answered %d records to a query, want at most %d", len(ids), n)
		}
		found[q] = make([]near, len(ids))
		for i, id := range ids {
			if distances[i] == nil {
				return nil, fmt.Errorf("the server answered no distance for the record %q", id)
			}
			found[q][i] = near{id, *distances[i]}
		}
	}
	return found, nil
}

// record is what the server holds of a chunk beside its vector.
type record struct {
	document string
	metadata map[string]any // strings, [json.Number] and bool
}

// get returns the records of the given IDs, which must differ.
func (c *client) get(ctx context.Context, id string, ids []string) (map[string]record, error) {
	body := map[string]any{"ids": ids, "include": []string{"documents", "metadatas"}}
	var answer struct {
		IDs       []string         `json:"ids"`
		Documents []*string        `json:"documents"`
		Metadatas []map[string]any `json:"metadatas"`
	}
	if err := c.do(ctx, http.MethodPost, c.named(id)+"/get", body, &answer); err != nil {
		return nil, err
	}
	if n := len(answer.IDs); n != len(ids) || len(answer.Documents) != n || len(answer.Metadatas) != n {
		return nil, fmt.Errorf("the server answered %d IDs, %d documents and %d metadatas where %d were asked for: the collection was changed by other means",
			n, len(answer.Documents), len(answer.Metadatas), len(ids))
	}
	byID := make(map[string]record, len(ids))
	for i, id := range answer.IDs {
		if answer.Documents[i] == nil {
			return nil, fmt.Errorf("record %q has no document: it was not added by this package", id)
		}
		byID[id] = record{*answer.Documents[i], answer.Metadatas[i]}
	}
	return byID, nil
}
