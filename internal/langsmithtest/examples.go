package langsmithtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// example is an example with its history.
type example struct {
	ID       string
	number   int // in order of creation
	versions []exampleVersion
}

type exampleVersion struct {
	asOf    time.Time
	content *content // nil: deleted
}

type content struct {
	Inputs   object `json:"inputs"`
	Outputs  object `json:"outputs"`
	Metadata object `json:"metadata"`
}

// at returns what an example is at a time, nil if it does not exist then.
func (e *example) at(asOf *time.Time) *content {
	for i := len(e.versions) - 1; i >= 0; i-- {
		if v := e.versions[i]; asOf == nil || !v.asOf.After(*asOf) {
			return v.content
		}
	}
	return nil
}

// put stores an example. Like the service, it puts those without a split into the
// split "base", which it notes in their metadata.
func (d *dataset) put(id string, c content, at time.Time) {
	c.Metadata = maps.Clone(c.Metadata)
	if c.Metadata == nil {
		c.Metadata = object{}
	}
	if _, ok := c.Metadata["dataset_split"]; !ok {
		c.Metadata["dataset_split"] = json.RawMessage(`["base"]`)
	}
	e := d.examples[id]
	if e == nil {
		e = &example{ID: id, number: len(d.examples)}
		d.examples[id] = e
	}
	e.versions = append(e.versions, exampleVersion{at, &c})
}

func (s *Server) listExamples(r request) (any, error) {
	if err := r.query.only("dataset", "as_of", "order", "descending", "limit", "offset"); err != nil {
		return nil, err
	}
	dataset, err := r.query.id("dataset")
	if err != nil {
		return nil, err
	}
	d, err := s.dataset(dataset)
	if err != nil {
		return nil, err
	}
	var asOf *time.Time
	if s, ok := r.query["as_of"]; ok {
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			asOf = &t
		} else {
			v, err := d.version(s, time.Time{})
			if err != nil {
				return nil, err
			}
			asOf = &v.AsOf
		}
	}
	list := d.at(asOf)
	switch order := r.query["order"]; order {
	case "id":
	case "", "recent", "recently_created":
		slices.SortFunc(list, func(a, b *example) int { return b.number - a.number })
	default:
		return nil, invalid("order is %q", order)
	}
	if descending, err := strconv.ParseBool(r.query["descending"]); err == nil && descending {
		slices.Reverse(list)
	}
	list, err = page(r.query, list)
	if err != nil {
		return nil, err
	}
	answer := make([]any, len(list))
	for i, e := range list {
		c := e.at(asOf)
		answer[i] = map[string]any{
			"id": e.ID, "dataset_id": d.ID, "name": fmt.Sprintf("#%d @ %s", e.number, d.Name),
			"created_at": e.versions[0].asOf, "modified_at": e.versions[len(e.versions)-1].asOf,
			"inputs": c.Inputs, "outputs": c.Outputs, "metadata": c.Metadata, "source_run_id": nil, "attachment_urls": nil,
		}
	}
	return answer, nil
}

// ExampleBulkCreate of the OpenAPI document.
type exampleCreate struct {
	DatasetID      id       `json:"dataset_id" required:"true"`
	ID             *id      `json:"id"`
	CreatedAt      *instant `json:"created_at"`
	Inputs         object   `json:"inputs"`
	Metadata       object   `json:"metadata"`
	Outputs        object   `json:"outputs"`
	SourceRunID    *id      `json:"source_run_id"`
	Split          any      `json:"split"`
	Legacy         bool     `json:"use_legacy_message_format"`
	RunAttachments []string `json:"use_source_run_attachments"`
	RunIO          bool     `json:"use_source_run_io"`
}

func (s *Server) createExamples(r request) (any, error) {
	all, err := decodeArray[exampleCreate](r.body)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, invalid("there is no example")
	}
	d, err := s.dataset(string(all[0].DatasetID))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(all))
	seen := map[string]bool{}
	for i, e := range all {
		switch {
		case e.DatasetID != all[0].DatasetID:
			return nil, invalid("examples of several datasets")
		case len(e.Inputs) == 0:
			return nil, invalid("element %d: the field inputs is missing", i)
		case e.ID == nil:
			return nil, invalid("element %d: no ID, so that sending it again would make another example", i)
		}
		ids[i] = string(*e.ID)
		if seen[ids[i]] {
			return nil, invalid("element %d: ID %s twice", i, ids[i])
		}
		seen[ids[i]] = true
		if known := d.examples[ids[i]]; known != nil && known.at(nil) != nil {
			return nil, refuse(http.StatusConflict, "Examples with these IDs exist already")
		}
	}
	at := d.changed(s)
	answer := make([]any, len(all))
	for i, e := range all {
		d.put(ids[i], content{e.Inputs, e.Outputs, e.Metadata}, at)
		answer[i] = map[string]any{"id": ids[i], "dataset_id": d.ID, "name": "#" + strconv.Itoa(i), "inputs": e.Inputs}
	}
	return answer, nil
}

// ExampleUpdateWithID of the OpenAPI document.
type exampleUpdate struct {
	ID          id     `json:"id" required:"true"`
	Attachments object `json:"attachments_operations"`
	DatasetID   *id    `json:"dataset_id"`
	Inputs      object `json:"inputs"`
	Metadata    object `json:"metadata"`
	Outputs     object `json:"outputs"`
	Overwrite   bool   `json:"overwrite"`
	Split       any    `json:"split"`
}

func (s *Server) updateExamples(r request) (any, error) {
	all, err := decodeArray[exampleUpdate](r.body)
	if err != nil {
		return nil, err
	}
	changed := map[*dataset]time.Time{}
	for _, u := range all {
		d, e := s.example(string(u.ID))
		if e == nil {
			return nil, refuse(http.StatusNotFound, "Example not found")
		}
		if u.DatasetID != nil && string(*u.DatasetID) != d.ID {
			return nil, invalid("example %s belongs to dataset %s", e.ID, d.ID)
		}
		c := *e.at(nil)
		for _, f := range []struct{ into, from *object }{{&c.Inputs, &u.Inputs}, {&c.Outputs, &u.Outputs}, {&c.Metadata, &u.Metadata}} {
			if *f.from != nil {
				*f.into = *f.from
			}
		}
		if _, ok := changed[d]; !ok {
			changed[d] = d.changed(s)
		}
		d.put(e.ID, c, changed[d])
	}
	return map[string]any{"message": "Examples updated"}, nil
}

// example returns an example that exists, and its dataset.
func (s *Server) example(id string) (*dataset, *example) {
	for _, d := range s.datasets {
		if e := d.examples[id]; e != nil && e.at(nil) != nil {
			return d, e
		}
	}
	return nil, nil
}

func (s *Server) deleteExample(r request) (any, error) {
	d, e := s.example(r.path[1])
	if e == nil {
		return nil, refuse(http.StatusNotFound, "Example not found")
	}
	e.versions = append(e.versions, exampleVersion{d.changed(s), nil})
	return map[string]any{"message": "Example deleted"}, nil
}

// Example is what a server holds of an example.
type Example struct {
	ID       string
	versions []exampleVersion
}

// Changes returns how often the example was created or changed.
func (e Example) Changes() int { return len(e.versions) }

// JSON returns what the example is now, as compact JSON with sorted keys.
func (e Example) JSON() string {
	return string(mustJSON(e.versions[len(e.versions)-1].content))
}

// QueryID returns the queryId in the metadata of the example.
func (e Example) QueryID() string {
	return strings.Trim(string(e.versions[len(e.versions)-1].content.Metadata["queryId"]), `"`)
}

// ExampleID is how the ID of an example follows from its dataset and its query.
func ExampleID(dataset, query string) string {
	return uuid.NewSHA1(uuid.MustParse(dataset), []byte(query)).String()
}

func mustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
