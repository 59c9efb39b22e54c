package langsmith

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	sdk "github.com/langchain-ai/langsmith-go"
	"github.com/langchain-ai/langsmith-go/option"
	"github.com/langchain-ai/langsmith-go/shared"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/retryhttp"
)

// Names of datasets that are given none.
const (
	TokenDataset = "rag-eval-token-level-v1"
	ChunkDataset = "rag-eval-chunk-level-v1"
)

// Dataset is a dataset in LangSmith that holds ground truth, each query with what is
// relevant to it as one example. The zero value is the default dataset of either
// level, as the environment names the workspace. Its methods may be called
// concurrently.
//
// An example is what a line of a golden file is: see [fixtures.WriteTokenTruth].
// What the header of such a file says is in the metadata of the dataset: kind,
// schemaVersion, offsetUnit, corpus (the fingerprint) and, at chunk level, chunker.
// The ID of an example is the UUID of version 5 (RFC 9562) of the query's ID in the
// namespace of the dataset's ID, so that whoever uploads the query, in whatever
// language, means the same example.
type Dataset struct {
	Name string // "": TokenDataset or ChunkDataset

	// Version is the one to load: the tag of a version, or a time in RFC 3339 for
	// what the dataset was then; "": the latest. A dataset with a Version cannot be
	// uploaded.
	Version string

	// Prune makes uploads delete the examples that belong to none of the queries.
	Prune bool

	// DropUnlocated makes loads leave out spans that have no place in the corpus: see
	// [fixtures.TruthReader].
	DropUnlocated bool

	Connection Connection
}

// level is the kind of ground truth.
type level struct {
	kind    string // in the metadata of a dataset
	dataset string
	load    string // the function that loads it
}

var (
	tokenLevel = level{"token-level", TokenDataset, "LoadTokenTruth"}
	chunkLevel = level{"chunk-level", ChunkDataset, "LoadChunkTruth"}
)

// other returns the level that l is not.
func (l level) other() level {
	if l == tokenLevel {
		return chunkLevel
	}
	return tokenLevel
}

// wrongLevel is an [fixtures.ErrWrongLevel] for a dataset that holds the level other
// than l.
func (l level) wrongLevel() error {
	return fmt.Errorf("%w: the dataset holds %s ground truth, want %s: load it with %s", fixtures.ErrWrongLevel, l.other().kind, l.kind, l.other().load)
}

// headerKeys are the metadata of a dataset that are the header of a golden file, also
// as other tools spell them.
var headerKeys = []string{"kind", "schemaVersion", "schema_version", "offsetUnit", "offset_unit", "corpus", "chunker"}

// stored is a dataset as the service has it.
type stored struct {
	id, tenant string
	metadata   map[string]json.RawMessage
}

// What there is not.
var (
	errNoDataset = errors.New("there is no such dataset")
	errNoVersion = errors.New("there is no such version")
)

// find returns the dataset of a name.
func (c *client) find(ctx context.Context, name string) (stored, error) {
	pages := c.Datasets.ListAutoPaging(ctx, sdk.DatasetListParams{Name: sdk.F(name), Limit: sdk.F[int64](pageSize)})
	for pages.Next() {
		if d := pages.Current(); d.Name == name {
			return newStored(&d)
		}
	}
	if err := pages.Err(); err != nil {
		return stored{}, fmt.Errorf("looking up the dataset: %w", retryhttp.Cause(err))
	}
	return stored{}, errNoDataset
}

func newStored(d *sdk.Dataset) (stored, error) {
	var raw struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(d.JSON.RawJSON()), &raw); err != nil {
		return stored{}, fmt.Errorf("reading the dataset's metadata: %w", err)
	}
	return stored{id: d.ID, tenant: d.TenantID, metadata: raw.Metadata}, nil
}

// kind returns the level that the metadata name, "" if they name none.
func (s stored) kind() string {
	var kind string
	_ = json.Unmarshal(s.metadata["kind"], &kind) // another tool's metadata may hold anything
	if kind == tokenLevel.kind || kind == chunkLevel.kind {
		return kind
	}
	return ""
}

// create returns the dataset of a name, which it creates unless somebody else was
// faster.
func (c *client) create(ctx context.Context, name string, l level, metadata map[string]json.RawMessage) (stored, error) {
	d, err := c.Datasets.New(ctx, sdk.DatasetNewParams{
		Name:        sdk.F(name),
		DataType:    sdk.F(sdk.DataTypeKv),
		Description: sdk.F("Ground truth of retrieval, " + l.kind + ", uploaded by rageval"),
		Extra:       sdk.Raw[map[string]any](map[string]any{"metadata": metadata}),
	})
	if statusOf(err) == http.StatusConflict {
		return c.find(ctx, name)
	}
	if err != nil {
		return stored{}, fmt.Errorf("creating the dataset: %w", retryhttp.Cause(err))
	}
	return newStored(d)
}

// setMetadata makes the metadata of a dataset hold the given ones.
func (c *client) setMetadata(ctx context.Context, d stored, metadata map[string]json.RawMessage) error {
	merged := maps.Clone(d.metadata)
	if merged == nil {
		merged = map[string]json.RawMessage{}
	}
	for _, key := range headerKeys {
		delete(merged, key)
	}
	maps.Copy(merged, metadata)
	if equalJSON(mustJSON(merged), mustJSON(d.metadata)) {
		return nil
	}
	_, err := c.Datasets.Update(ctx, d.id, sdk.DatasetUpdateParams{Metadata: sdk.Raw[sdk.DatasetUpdateParamsMetadataUnion](merged)})
	if err != nil {
		return fmt.Errorf("updating the dataset's metadata: %w", retryhttp.Cause(err))
	}
	return nil
}

// version returns the exact time of the version that is wanted, as the service writes
// it; "" if the latest is and the dataset never had an example.
func (c *client) version(ctx context.Context, d stored, wanted string) (string, error) {
	version, name := wanted, "tag"
	if version == "" {
		// The service wants one parameter. Its clock may be ahead of ours.
		version = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	}
	if _, err := time.Parse(time.RFC3339Nano, version); err == nil {
		name = "as_of"
	}
	v, err := c.Datasets.GetVersion(ctx, d.id, sdk.DatasetGetVersionParams{}, option.WithQuery(name, version))
	switch {
	case statusOf(err) == http.StatusNotFound && wanted == "":
		return "", nil
	case statusOf(err) == http.StatusNotFound:
		return "", fmt.Errorf("version %q: %w", wanted, errNoVersion)
	case err != nil:
		return "", fmt.Errorf("looking up the dataset's version: %w", retryhttp.Cause(err))
	}
	// A parsed time would lose digits when the SDK writes it into a query.
	var raw struct {
		AsOf string `json:"as_of"`
	}
	if err := json.Unmarshal([]byte(v.JSON.RawJSON()), &raw); err != nil {
		return "", fmt.Errorf("reading the dataset's version: %w", err)
	}
	return raw.AsOf, nil
}

// tag tags a version, given by its exact time.
func (c *client) tag(ctx context.Context, d stored, asOf, tag string) error {
	_, err := c.Datasets.UpdateTags(ctx, d.id, sdk.DatasetUpdateTagsParams{
		AsOf: sdk.F[sdk.DatasetUpdateTagsParamsAsOfUnion](shared.UnionString(asOf)),
		Tag:  sdk.F(tag),
	})
	if err != nil {
		return fmt.Errorf("tagging the dataset's version: %w", retryhttp.Cause(err))
	}
	return nil
}
