package langsmithtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

type dataset struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	DataType    string          `json:"data_type"`
	TenantID    string          `json:"tenant_id"`
	CreatedAt   time.Time       `json:"created_at"`
	ModifiedAt  time.Time       `json:"modified_at"`
	Sessions    int             `json:"session_count"`
	Examples    int             `json:"example_count"`
	Metadata    json.RawMessage `json:"metadata"`

	versions []version // in order of time
	examples map[string]*example
}

type version struct {
	AsOf time.Time `json:"as_of"`
	Tags []string  `json:"tags"`
}

const latest = "latest"

// changed begins a new version, and returns its time.
func (d *dataset) changed(s *Server) time.Time {
	now := s.now()
	for i := range d.versions {
		d.versions[i].Tags = slices.DeleteFunc(d.versions[i].Tags, func(tag string) bool { return tag == latest })
	}
	d.versions = append(d.versions, version{now, []string{latest}})
	d.ModifiedAt = now
	return now
}

// version returns the one of a tag, or the last one at a time.
func (d *dataset) version(tag string, at time.Time) (*version, error) {
	for i := len(d.versions) - 1; i >= 0; i-- {
		v := &d.versions[i]
		if tag != "" && slices.Contains(v.Tags, tag) || tag == "" && !v.AsOf.After(at) {
			return v, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "Dataset version not found")
}

func (s *Server) dataset(id string) (*dataset, error) {
	for _, d := range s.datasets {
		if d.ID == id {
			return d, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "Dataset not found")
}

func (s *Server) datasetNamed(name string) *dataset {
	for _, d := range s.datasets {
		if d.Name == name {
			return d
		}
	}
	return nil
}

func (s *Server) listDatasets(r request) (any, error) {
	if err := r.query.only("name", "name_contains", "limit", "offset"); err != nil {
		return nil, err
	}
	found := []*dataset{}
	for _, d := range s.datasets {
		if name, ok := r.query["name"]; ok && name != d.Name || !strings.Contains(d.Name, r.query["name_contains"]) {
			continue
		}
		d.Examples = len(d.at(nil))
		found = append(found, d)
	}
	return page(r.query, found)
}

// DatasetCreate of the OpenAPI document.
type datasetCreate struct {
	Name            string   `json:"name" required:"true"`
	ID              *id      `json:"id"`
	CreatedAt       *instant `json:"created_at"`
	DataType        string   `json:"data_type"`
	Description     string   `json:"description"`
	External        bool     `json:"externally_managed"`
	Extra           object   `json:"extra"`
	InputsSchema    object   `json:"inputs_schema_definition"`
	OutputsSchema   object   `json:"outputs_schema_definition"`
	Transformations []object `json:"transformations"`
}

func (s *Server) createDataset(r request) (any, error) {
	var c datasetCreate
	if err := decode(r.body, &c); err != nil {
		return nil, err
	}
	if c.DataType == "" {
		c.DataType = "kv"
	}
	if err := in("data_type", c.DataType, "kv", "llm", "chat"); err != nil {
		return nil, err
	}
	if s.datasetNamed(c.Name) != nil {
		return nil, refuse(http.StatusConflict, "Dataset with this name already exists.")
	}
	d := s.newDataset(c.Name, c.Extra["metadata"])
	d.Description, d.DataType = c.Description, c.DataType
	if c.ID != nil {
		d.ID = string(*c.ID)
	}
	return d, nil
}

func (s *Server) newDataset(name string, metadata json.RawMessage) *dataset {
	now := s.now()
	d := &dataset{ID: s.newID(), Name: name, DataType: "kv", TenantID: Tenant, CreatedAt: now, ModifiedAt: now, Metadata: metadata, examples: map[string]*example{}}
	s.datasets = append(s.datasets, d)
	return d
}

// DatasetUpdate of the OpenAPI document.
type datasetUpdate struct {
	Baseline        *id      `json:"baseline_experiment_id"`
	Description     *string  `json:"description"`
	InputsSchema    object   `json:"inputs_schema_definition"`
	Metadata        object   `json:"metadata"`
	Name            *string  `json:"name"`
	OutputsSchema   object   `json:"outputs_schema_definition"`
	PatchExamples   object   `json:"patch_examples"`
	Transformations []object `json:"transformations"`
}

func (s *Server) updateDataset(r request) (any, error) {
	d, err := s.dataset(r.path[1])
	if err != nil {
		return nil, err
	}
	var u datasetUpdate
	if err := decode(r.body, &u); err != nil {
		return nil, err
	}
	if u.Metadata != nil {
		d.Metadata = mustJSON(u.Metadata)
	}
	if u.Description != nil {
		d.Description = *u.Description
	}
	d.ModifiedAt = s.now()
	return d, nil
}

func (s *Server) getVersion(r request) (any, error) {
	d, err := s.dataset(r.path[1])
	if err != nil {
		return nil, err
	}
	tag, hasTag := r.query["tag"]
	asOf, hasTime := r.query["as_of"]
	if hasTag == hasTime {
		return nil, invalid("want one of the parameters as_of and tag")
	}
	var at time.Time
	if hasTime {
		if at, err = time.Parse(time.RFC3339Nano, asOf); err != nil {
			return nil, invalid("as_of is %q, want a time", asOf)
		}
	}
	return d.version(tag, at)
}

type tagUpdate struct {
	AsOf instant `json:"as_of" required:"true"`
	Tag  string  `json:"tag" required:"true"`
}

func (s *Server) tagVersion(r request) (any, error) {
	d, err := s.dataset(r.path[1])
	if err != nil {
		return nil, err
	}
	var u tagUpdate
	if err := decode(r.body, &u); err != nil {
		return nil, err
	}
	v, err := d.version("", u.AsOf.Time)
	if err != nil {
		return nil, err
	}
	if !v.AsOf.Equal(u.AsOf.Time) {
		return nil, invalid("as_of is %v, want an exact version such as %v", u.AsOf, v.AsOf)
	}
	for i := range d.versions {
		d.versions[i].Tags = slices.DeleteFunc(d.versions[i].Tags, func(tag string) bool { return tag == u.Tag })
	}
	v.Tags = append(v.Tags, u.Tag)
	return v, nil
}

// Dataset is what a server holds of a dataset.
type Dataset struct {
	ID       string
	Metadata string              // compact JSON, "" for none
	Examples []Example           // in order of ID
	Versions map[string][]string // the tags of each version, by its time in RFC 3339
}

// Dataset returns the dataset of a name, nil if there is none.
func (s *Server) Dataset(name string) *Dataset {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.datasetNamed(name)
	if d == nil {
		return nil
	}
	view := &Dataset{ID: d.ID, Versions: map[string][]string{}}
	if d.Metadata != nil {
		view.Metadata = string(compact(d.Metadata))
	}
	for _, e := range d.at(nil) {
		view.Examples = append(view.Examples, Example{e.ID, e.versions})
	}
	for _, v := range d.versions {
		view.Versions[v.AsOf.Format(time.RFC3339Nano)] = slices.Clone(v.Tags)
	}
	return view
}

// AddDataset makes a dataset as another tool would: of examples that are JSON objects
// with inputs, outputs and metadata, all optional, to which the server gives IDs. The
// metadata of the dataset are JSON, "" for none.
func (s *Server) AddDataset(name, metadata string, examples ...string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var raw json.RawMessage
	if metadata != "" {
		raw = json.RawMessage(metadata)
	}
	d := s.newDataset(name, raw)
	for _, text := range examples {
		var c content
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			panic(err)
		}
		d.put(s.newID(), c, d.changed(s))
	}
	return d.ID
}

// at returns the examples that exist at a time, in order of ID; nil is the latest.
func (d *dataset) at(asOf *time.Time) []*example {
	var list []*example
	for _, id := range slices.Sorted(maps.Keys(d.examples)) {
		if e := d.examples[id]; e.at(asOf) != nil {
			list = append(list, e)
		}
	}
	return list
}
