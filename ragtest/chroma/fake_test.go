package chroma_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake is a server that speaks the part of Chroma's API that a store needs, as
// strictly as its description says, and does what was measured on the real one:
// it ignores records whose ID it has, and ranks equal distances in an order of
// its own. Unlike the real one it searches exactly.
type fake struct {
	URL string

	mu          sync.Mutex
	complaints  []string
	maxBatch    int
	key         string // wanted in x-chroma-token; "": none
	collections map[string]*fakeCollection
	requests    map[string]int // by operation
	// fault may answer a request itself: the n-th, from 1, of the operation.
	fault func(w http.ResponseWriter, r *http.Request, operation string, n int) bool
	// alter may alter an answer of success.
	alter func(operation string, answer any) any
}

type fakeCollection struct {
	name    string
	hnsw    map[string]any
	order   []string
	records map[string]fakeRecord
}

type fakeRecord struct {
	document  string
	metadata  map[string]any
	embedding []float32
}

// newFake starts a server on loopback.
func newFake(tb testing.TB) *fake {
	tb.Helper()
	f := newFakeInMemory()
	server := httptest.NewServer(f)
	f.URL = server.URL
	tb.Cleanup(server.Close)
	tb.Cleanup(func() { f.complain(tb) })
	return f
}

// startServer starts a server that is to be closed.
func startServer() *httptest.Server { return httptest.NewServer(newFakeInMemory()) }

// complain fails the test if there were requests that Chroma does not know.
func (f *fake) complain(tb testing.TB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.complaints {
		tb.Error(c)
	}
}

func (f *fake) complainf(format string, args ...any) {
	f.complaints = append(f.complaints, fmt.Sprintf(format, args...))
}

// newFakeInMemory returns a server that is reached with itself as transport.
func newFakeInMemory() *fake {
	f := &fake{URL: "http://fake", maxBatch: 5461, collections: map[string]*fakeCollection{}, requests: map[string]int{}}
	f.collections["production"] = &fakeCollection{name: "production", records: map[string]fakeRecord{}}
	return f
}

// RoundTrip answers without a network.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	f.ServeHTTP(rec, r)
	return rec.Result(), nil
}

const (
	fakeDatabase = "/api/v2/tenants/default_tenant/databases/default_database/collections"
	fakeID       = "id-of-"
)

type fakeError struct {
	status int
	Kind   string `json:"error"`
	Text   string `json:"message"`
}

func refuse(status int, format string, args ...any) *fakeError {
	return &fakeError{status, "InvalidArgumentError", fmt.Sprintf(format, args...)}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	operation, name := f.operation(r)
	f.mu.Lock()
	f.requests[operation]++
	n, fault := f.requests[operation], f.fault
	f.mu.Unlock()
	if fault != nil && fault(w, r, operation, n) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	var answer any
	var refused *fakeError
	if f.key != "" && r.Header.Get("x-chroma-token") != f.key {
		refused = refuse(http.StatusUnauthorized, "not authorized: %s", r.Header.Get("x-chroma-token"))
	} else {
		answer, refused = f.do(operation, name, r, body)
	}
	if refused != nil {
		w.WriteHeader(refused.status)
		answer = refused
	} else if f.alter != nil {
		answer = f.alter(operation, answer)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		f.complainf("encoding an answer: %v", err)
	}
	_, _ = w.Write(data) // the client may have gone away
}

// operation returns what the request asks for, and of which collection.
func (f *fake) operation(r *http.Request) (operation, name string) {
	path := r.URL.EscapedPath()
	if path == "/api/v2/pre-flight-checks" {
		return r.Method + " checks", ""
	}
	rest, ok := strings.CutPrefix(path, fakeDatabase)
	if !ok {
		return r.Method + " " + path, ""
	}
	name, verb, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	return strings.TrimSpace(r.Method + " " + verb), name
}

func (f *fake) do(operation, name string, r *http.Request, body []byte) (any, *fakeError) {
	if operation == "GET checks" {
		return map[string]any{"max_batch_size": f.maxBatch, "supports_base64_encoding": true}, nil
	}
	if operation == "POST" && name == "" {
		return f.create(r, body)
	}
	if operation == "GET" || operation == "DELETE" {
		c, ok := f.collections[name]
		if !ok {
			return nil, refuse(http.StatusNotFound, "Collection [%s] does not exists", name)
		}
		if operation == "DELETE" {
			delete(f.collections, name)
			return map[string]any{}, nil
		}
		return c.describe(), nil
	}
	c, ok := f.collections[strings.TrimPrefix(name, fakeID)]
	if !ok || !strings.HasPrefix(name, fakeID) {
		return nil, refuse(http.StatusNotFound, "Collection [%s] does not exists.", name)
	}
	switch operation {
	case "POST add":
		return f.add(c, r, body)
	case "POST query":
		return f.query(c, r, body)
	case "POST get":
		return f.get(c, r, body)
	case "GET count":
		return len(c.order), nil
	}
	f.complainf("got the request %s %s, which Chroma does not know", r.Method, r.URL)
	return nil, refuse(http.StatusMethodNotAllowed, "unknown")
}

// decodeStrictly refuses what the real server refuses: a wrong content type,
// fields that it does not know, anything after the object.
func decodeStrictly(r *http.Request, body []byte, request any) *fakeError {
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "Content-Type %q", got)
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(request); err != nil {
		return refuse(http.StatusUnprocessableEntity, "Failed to deserialize the JSON body: %v", err)
	}
	if d.More() {
		return refuse(http.StatusBadRequest, "trailing characters")
	}
	return nil
}

func (c *fakeCollection) describe() any {
	return map[string]any{"id": fakeID + c.name, "name": c.name, "configuration_json": map[string]any{"hnsw": c.hnsw, "spann": nil}}
}

func (f *fake) create(r *http.Request, body []byte) (any, *fakeError) {
	var request struct {
		Name          string `json:"name"`
		Configuration struct {
			HNSW struct {
				Space          string `json:"space"`
				EFConstruction *int   `json:"ef_construction"`
				EFSearch       *int   `json:"ef_search"`
				MaxNeighbors   *int   `json:"max_neighbors"`
			} `json:"hnsw"`
		} `json:"configuration"`
	}
	if err := decodeStrictly(r, body, &request); err != nil {
		return nil, err
	}
	if _, ok := f.collections[request.Name]; ok {
		return nil, &fakeError{http.StatusConflict, "ChromaError", "Collection [" + request.Name + "] already exists"}
	}
	hnsw := request.Configuration.HNSW
	settings := map[string]any{"space": cmp.Or(hnsw.Space, "l2"), "ef_construction": 100, "ef_search": 100, "max_neighbors": 16, "resize_factor": 1.2}
	for key, value := range map[string]*int{"ef_construction": hnsw.EFConstruction, "ef_search": hnsw.EFSearch, "max_neighbors": hnsw.MaxNeighbors} {
		if value != nil {
			settings[key] = *value
		}
	}
	c := &fakeCollection{name: request.Name, hnsw: settings, records: map[string]fakeRecord{}}
	f.collections[c.name] = c
	return c.describe(), nil
}

func (f *fake) add(c *fakeCollection, r *http.Request, body []byte) (any, *fakeError) {
	var request struct {
		IDs        []string         `json:"ids"`
		Embeddings [][]float32      `json:"embeddings"`
		Documents  []string         `json:"documents"`
		Metadatas  []map[string]any `json:"metadatas"`
	}
	if err := decodeStrictly(r, body, &request); err != nil {
		return nil, err
	}
	n := len(request.IDs)
	if len(request.Embeddings) != n || len(request.Documents) != n || len(request.Metadatas) != n {
		return nil, refuse(http.StatusBadRequest, "Inconsistent number of IDs, embeddings, documents, URIs and metadatas")
	}
	if n == 0 || n > f.maxBatch {
		f.complainf("got %d records in a request, want 1 to %d", n, f.maxBatch)
	}
	for i, id := range request.IDs {
		dim := len(request.Embeddings[i])
		if len(c.order) > 0 {
			dim = len(c.records[c.order[0]].embedding)
		}
		if len(request.Embeddings[i]) != dim || dim == 0 {
			return nil, refuse(http.StatusBadRequest, "Collection expecting embedding with dimension of %d, got %d", dim, len(request.Embeddings[i]))
		}
		if _, ok := c.records[id]; ok {
			continue
		}
		metadata := request.Metadatas[i]
		maps.DeleteFunc(metadata, func(key string, _ any) bool { return strings.HasPrefix(key, "chroma:") })
		for key, value := range metadata {
			switch value.(type) {
			case string, float64, bool:
			default:
				return nil, refuse(http.StatusUnprocessableEntity, "metadata %q is %v", key, value)
			}
		}
		c.order = append(c.order, id)
		c.records[id] = fakeRecord{request.Documents[i], metadata, request.Embeddings[i]}
	}
	return map[string]any{}, nil
}

type fakeNear struct {
	id       string
	distance float32
}

type queryAnswer struct {
	IDs       [][]string   `json:"ids"`
	Distances [][]*float32 `json:"distances"`
	Include   []string     `json:"include"`
}

func (f *fake) query(c *fakeCollection, r *http.Request, body []byte) (any, *fakeError) {
	var request struct {
		QueryEmbeddings [][]float32 `json:"query_embeddings"`
		NResults        int32       `json:"n_results"`
		Include         []string    `json:"include"`
	}
	if err := decodeStrictly(r, body, &request); err != nil {
		return nil, err
	}
	answer := queryAnswer{Include: request.Include}
	for _, q := range request.QueryEmbeddings {
		var all []fakeNear
		for _, id := range slices.Backward(c.order) {
			v := c.records[id].embedding
			if len(v) != len(q) {
				return nil, refuse(http.StatusBadRequest, "Collection expecting embedding with dimension of %d, got %d", len(v), len(q))
			}
			var dot float32
			for i, x := range q {
				dot += x * v[i]
			}
			all = append(all, fakeNear{id, 1 - dot})
		}
		slices.SortStableFunc(all, func(a, b fakeNear) int { return cmp.Compare(a.distance, b.distance) })
		ids, distances := []string{}, []*float32{}
		for _, n := range all[:min(len(all), int(request.NResults))] {
			ids, distances = append(ids, n.id), append(distances, &n.distance)
		}
		answer.IDs, answer.Distances = append(answer.IDs, ids), append(answer.Distances, distances)
	}
	return answer, nil
}

type getAnswer struct {
	IDs       []string         `json:"ids"`
	Documents []*string        `json:"documents"`
	Metadatas []map[string]any `json:"metadatas"`
	Include   []string         `json:"include"`
}

// get answers in insertion order, whatever the order of the IDs.
func (f *fake) get(c *fakeCollection, r *http.Request, body []byte) (any, *fakeError) {
	var request struct {
		IDs     []string `json:"ids"`
		Include []string `json:"include"`
	}
	if err := decodeStrictly(r, body, &request); err != nil {
		return nil, err
	}
	answer := getAnswer{IDs: []string{}, Documents: []*string{}, Metadatas: []map[string]any{}, Include: request.Include}
	for _, id := range c.order {
		if slices.Contains(request.IDs, id) {
			r := c.records[id]
			answer.IDs = append(answer.IDs, id)
			answer.Documents = append(answer.Documents, &r.document)
			answer.Metadatas = append(answer.Metadatas, maps.Clone(r.metadata))
		}
	}
	return answer, nil
}

// names returns the names of the collections, in order.
func (f *fake) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.collections))
}

// count returns how many requests of an operation came.
func (f *fake) count(operation string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[operation]
}
