package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn2x1[context.Context, []byte, error](&writeFn{})
}

// shardLen is how many bytes of documents become a shard.
const shardLen = 16 << 20

// Evaluate adds the evaluation of a sweep to a pipeline. The collection that it returns
// has one element, a []byte: the JSON form of the [sweep.Report], with a final newline,
// as [sweep.Report.Write] writes it.
func Evaluate(s sdk.Scope, sw Sweep, c Corpus) (sdk.PCollection, error) {
	if err := sw.check(); err != nil {
		return sdk.PCollection{}, err
	}
	if !c.Documents.IsValid() || !c.Fingerprint.IsValid() {
		return sdk.PCollection{}, errors.New("evaluating a sweep: the corpus lacks Documents or Fingerprint")
	}
	shards := sw.Shards
	if shards == 0 {
		shards = c.Bytes*len(sw.Chunkers)/shardLen + 1
	}
	description, err := json.Marshal(sw)
	if err != nil {
		return sdk.PCollection{}, fmt.Errorf("encoding the sweep: %w", err)
	}
	s = s.Scope("beam.Evaluate")
	sweep := sdk.Create(s, description)
	depth := sw.depth()

	occurrences, cuts := sdk.ParDo2(s.Scope("chunk"), &chunkFn{Chunkers: sw.Chunkers, Shards: shards}, c.Documents)
	queries := sdk.ParDo(s.Scope("embed queries"), &queriesFn{}, sweep)
	found, embedded := sdk.ParDo2(s.Scope("embed and search"), &searchFn{Chunkers: len(sw.Chunkers), Embedders: sw.Embedders, Depth: depth},
		sdk.GroupByKey(s, occurrences), sdk.SideInput{Input: queries})
	rankings := sdk.CombinePerKey(s.Scope("merge"), &bestFn{Depth: depth}, found)
	cut := sdk.CombinePerKey(s.Scope("count chunks"), addTallies, cuts)
	sdk.ParDo0(s.Scope("check chunks"), &checkFn{Chunkers: sw.Chunkers, MaxUnlocated: sw.MaxUnlocated}, cut)
	tallies := sdk.CombinePerKey(s.Scope("count texts"), addTallies, sdk.Flatten(s, cut, embedded))

	wanted := sdk.ParDo(s.Scope("find documents"), &wantFn{}, sweep, sdk.SideInput{Input: rankings})
	documents := sdk.ParDo(s.Scope("select documents"), &selectFn{}, c.Documents, sdk.SideInput{Input: wanted})
	// One group, so that the documents go to one worker and not to all.
	one := sdk.CoGroupByKey(s, sdk.AddFixedKey(s, sweep), sdk.AddFixedKey(s, documents))
	return sdk.ParDo(s.Scope("score"), &scoreFn{}, one, sdk.SideInput{Input: rankings}, sdk.SideInput{Input: tallies}, sdk.SideInput{Input: queries}, sdk.SideInput{Input: c.Fingerprint}), nil
}

// Write writes the report, the element of a collection, to a file, of any of Beam's
// file systems, as the worker that writes it sees it.
// An error says that nothing is known of such a file system in this program.
func Write(s sdk.Scope, path string, report sdk.PCollection) error {
	fs, err := filesystem.New(context.Background(), path)
	if err != nil {
		return fmt.Errorf("writing the report to %s: %w", path, err)
	}
	sdk.ParDo0(s.Scope("beam.Write"), &writeFn{Path: path}, report)
	return fs.Close()
}

type writeFn struct{ Path string }

func (fn *writeFn) ProcessElement(ctx context.Context, report []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the report to %s: %w", fn.Path, err)
		}
	}()
	fs, err := filesystem.New(ctx, fn.Path)
	if err != nil {
		return err
	}
	defer fs.Close()
	file, err := fs.OpenWrite(ctx, fn.Path)
	if err != nil {
		return err
	}
	if _, err := file.Write(report); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
