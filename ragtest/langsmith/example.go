package langsmith

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/big"

	"github.com/google/uuid"
	sdk "github.com/langchain-ai/langsmith-go"
	"github.com/langchain-ai/langsmith-go/shared"

	"github.com/rageval/rageval/internal/retryhttp"
	"github.com/rageval/rageval/ragtest"
)

// pageSize is how many objects a page has at most.
const pageSize = 100

// example is an example of a dataset: the same object as a line of a golden file.
type example struct {
	ID       string                     `json:"id"`
	Inputs   json.RawMessage            `json:"inputs"`
	Outputs  json.RawMessage            `json:"outputs,omitempty"`
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// splitKey is the key under which the service notes the split of an example in its
// metadata: "base" for those that were given none.
const splitKey = "dataset_split"

// exampleID returns the ID of the example of a query in a dataset.
func exampleID(dataset string, query ragtest.QueryID) (string, error) {
	namespace, err := uuid.Parse(dataset)
	if err != nil {
		return "", fmt.Errorf("the ID of the dataset is %q, want a UUID", dataset)
	}
	return uuid.NewSHA1(namespace, []byte(query)).String(), nil
}

// examples returns the examples of a dataset in order of their IDs, so that pages do
// not shift; asOf is the exact time of a version, "" for the latest.
func (c *client) examples(ctx context.Context, dataset, asOf string) iter.Seq2[example, error] {
	params := sdk.ExampleListParams{
		Dataset: sdk.F(dataset),
		Order:   sdk.F(sdk.ExampleListParamsOrderID),
		Limit:   sdk.F[int64](pageSize),
		Offset:  sdk.F[int64](0),
	}
	if asOf != "" {
		params.AsOf = sdk.F[sdk.ExampleListParamsAsOfUnion](shared.UnionString(asOf))
	}
	return func(yield func(example, error) bool) {
		pages := c.Examples.ListAutoPaging(ctx, params)
		for pages.Next() {
			var e example
			current := pages.Current()
			// The SDK's own types hold numbers as float64.
			if err := json.Unmarshal([]byte(current.JSON.RawJSON()), &e); err != nil {
				yield(example{}, fmt.Errorf("reading example %s: %w", current.ID, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := pages.Err(); err != nil {
			yield(example{}, fmt.Errorf("listing examples: %w", retryhttp.Cause(err)))
		}
	}
}

// index finds the example of a query. It holds IDs only.
type index struct {
	dataset string
	ids     map[string]bool
	queries map[string]string // the ID of an example by the query ID in its metadata
}

func newIndex(dataset string) *index {
	return &index{dataset: dataset, ids: map[string]bool{}, queries: map[string]string{}}
}

func (x *index) add(e example) {
	x.ids[e.ID] = true
	for _, key := range []string{"queryId", "query_id"} {
		var query string
		if json.Unmarshal(e.Metadata[key], &query) == nil && query != "" {
			x.queries[query] = e.ID
		}
	}
}

// find returns the ID of the example of a query: the one that the query was loaded
// from, else the one that uploading the query creates, else one that another tool made
// for it. ok is false if the dataset has none; the ID is then the one that uploading
// creates.
func (x *index) find(query ragtest.QueryID, loadedFrom string) (id string, ok bool, err error) {
	own, err := exampleID(x.dataset, query)
	if err != nil {
		return "", false, err
	}
	for _, id := range []string{loadedFrom, own, string(query), x.queries[string(query)]} {
		if x.ids[id] {
			return id, true, nil
		}
	}
	return own, false, nil
}

// equalJSON reports whether two JSON texts mean the same value: numbers are compared
// as such, and members in any order.
func equalJSON(a, b []byte) bool {
	x, errX := parseJSON(a)
	y, errY := parseJSON(b)
	return errX == nil && errY == nil && equalValue(x, y)
}

func parseJSON(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

func equalValue(x, y any) bool {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key := range x {
			if other, ok := y[key]; !ok || !equalValue(x[key], other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalValue(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := y.(json.Number)
		return ok && (x == y || equalNumber(string(x), string(y)))
	}
	return x == y
}

func equalNumber(x, y string) bool {
	const precision = 512 // bits: numbers beyond are told apart by their text at most
	a, _, errA := big.ParseFloat(x, 10, precision, big.ToNearestEven)
	b, _, errB := big.ParseFloat(y, 10, precision, big.ToNearestEven)
	return errA == nil && errB == nil && a.Cmp(b) == 0
}

// mustJSON encodes what is JSON already.
func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
