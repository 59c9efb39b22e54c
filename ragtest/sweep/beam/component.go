package beam

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/catalog"
	"github.com/rageval/rageval/ragtest"
)

// Reranker is a [ragtest.Reranker] at token level.
type Reranker = ragtest.Reranker[chunkers.PositionAwareChunk]

// The components that workers can make, by kind.
var (
	chunkerKinds  = kinds[chunkers.PositionAwareChunker]{what: "chunker"}
	embedderKinds = kinds[ragtest.Embedder]{what: "embedder"}
	rerankerKinds = kinds[Reranker]{what: "reranker"}
	metricsByName = map[string]ragtest.TokenMetric{}
)

func init() {
	for _, m := range []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanHitRate, ragtest.SpanMRR,
		ragtest.SpanNDCG, ragtest.SpanMAP, ragtest.SpanPrecisionRedundant, ragtest.SpanIoURedundant} {
		metricsByName[m.Name()] = m
	}
}

// RegisterEmbedder makes a kind of embedder known to the workers, which know functions
// and models by name only. The name of an embedder is its kind, and what follows the
// first slash, if there is one, goes to make: of "lexical/dim=512" that is "dim=512".
// The embedder must give a text the same vector on every worker and every call, and
// must be safe for concurrent use; it is made once on each worker and closed by none.
// Names are part of the pipeline's description and of the report: make reads keys from
// the worker's environment.
//
// Like the other Register functions it is called from an init function, and panics if
// the kind is empty, holds a slash, or is registered already.
func RegisterEmbedder(kind string, make func(settings string) (ragtest.Embedder, error)) {
	embedderKinds.register(kind, make)
}

// RegisterChunker makes a kind of chunker known to the workers, in addition to those
// of package catalog, before which it has precedence. Chunkers must cut a document in
// the same way each time.
func RegisterChunker(kind string, make func(settings string) (chunkers.PositionAwareChunker, error)) {
	chunkerKinds.register(kind, make)
}

// RegisterReranker makes a kind of reranker known to the workers. It is used by the one
// that scores.
func RegisterReranker(kind string, make func(settings string) (Reranker, error)) {
	rerankerKinds.register(kind, make)
}

// RegisterMetric makes a metric of your own known to the workers by its name, in
// addition to those of package ragtest.
func RegisterMetric(m ragtest.TokenMetric) {
	if _, ok := metricsByName[m.Name()]; ok {
		panic(fmt.Sprintf("beam: the metric %s is registered already", m.Name()))
	}
	metricsByName[m.Name()] = m
}

// kinds are the components of one interface by their kind.
type kinds[T any] struct {
	what string
	make map[string]func(settings string) (T, error)

	mu   sync.Mutex
	made map[string]T // by name: a model may take long to load
}

func (k *kinds[T]) register(kind string, make func(string) (T, error)) {
	if _, ok := k.make[kind]; ok || kind == "" || strings.Contains(kind, "/") || make == nil {
		panic(fmt.Sprintf("beam: registering the %s %q: want a kind that is not empty, holds no slash and is not registered already, and a function", k.what, kind))
	}
	if k.make == nil {
		k.make = map[string]func(string) (T, error){}
	}
	k.make[kind] = make
}

// new returns the component with a name, the same one each time.
func (k *kinds[T]) new(name string) (T, error) {
	var none T
	kind, settings, _ := strings.Cut(name, "/")
	make, ok := k.make[kind]
	if !ok {
		return none, fmt.Errorf("%s %q: the kind %q is not registered in this binary, only %q are", k.what, name, kind, slices.Sorted(maps.Keys(k.make)))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if c, ok := k.made[name]; ok {
		return c, nil
	}
	c, err := make(settings)
	if err != nil {
		return none, fmt.Errorf("%s %q: %w", k.what, name, err)
	}
	if k.made == nil {
		k.made = map[string]T{}
	}
	k.made[name] = c
	return c, nil
}

func newChunker(name string) (chunkers.PositionAwareChunker, error) {
	kind, _, _ := strings.Cut(name, "/")
	if _, ok := chunkerKinds.make[kind]; ok {
		return chunkerKinds.new(name)
	}
	return catalog.Parse(name)
}

// newMetric returns the metric with a name such as "span_recall" or "span_recall@3".
func newMetric(name string) (ragtest.TokenMetric, error) {
	base, cut, at := strings.Cut(name, "@")
	m, ok := metricsByName[base]
	if !ok {
		return m, fmt.Errorf("metric %q: want one of %q, with or without a cut-off such as @3", name, slices.Sorted(maps.Keys(metricsByName)))
	}
	if !at {
		return m, nil
	}
	k, err := strconv.Atoi(cut)
	if err != nil || k < 1 {
		return m, fmt.Errorf("metric %q: the cut-off is %q, want a number from 1 on", name, cut)
	}
	return m.At(k), nil
}

// newAll returns the components with the given names, nil for nil.
func newAll[T any](field string, names []string, make func(string) (T, error)) ([]T, error) {
	if names == nil {
		return nil, nil
	}
	list := []T{}
	for i, name := range names {
		c, err := make(name)
		if err != nil {
			return nil, fmt.Errorf("field %s: element %d: %w", field, i, err)
		}
		list = append(list, c)
	}
	return list, nil
}
