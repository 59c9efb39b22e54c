package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/catalog"
	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/cmd/ragtest/internal/sweepfile"
	"github.com/rageval/rageval/ragtest/cohere"
	"github.com/rageval/rageval/ragtest/embedcache"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/model2vec"
	"github.com/rageval/rageval/ragtest/openai"
	"github.com/rageval/rageval/ragtest/sweep"
)

type chunk = chunkers.PositionAwareChunk

// grid is a sweep.Grid with what is to be closed after it.
type grid struct {
	sweep.Grid
	retrievers []string // the names by which the settings call Retrievers
	caches     []*embedcache.Cache
}

// configured is a chunker under the name of a configuration.
type configured struct {
	catalog.Chunker
	name string
}

// configMark comes before the name of a configuration in that of its chunkers.
const configMark = "/config="

func (c configured) String() string { return c.Chunker.String() + configMark + c.name }

// newGrid returns the grid of settings but for its collection.
func newGrid(settings sweepfile.Settings) (_ *grid, err error) {
	g := &grid{Grid: sweep.Grid{K: settings.KValues, FetchK: settings.FetchK, MaxUnlocated: settings.MaxUnlocated, Budget: budgetOf(settings.Budget)}}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if settings.FetchK != nil && settings.Rerankers == nil {
		return nil, errors.New("fetch_k is the number of candidates of rerankers, and there are none")
	}
	for _, name := range settings.Metrics {
		i := slices.IndexFunc(spanMetrics, func(m ragtest.TokenMetric) bool { return m.Name() == name })
		if i < 0 {
			return nil, settings.At("metrics", name, fmt.Errorf("metric %q is unknown: want one of %s", name, strings.Join(names(spanMetrics), ", ")))
		}
		g.Metrics = append(g.Metrics, spanMetrics[i])
	}
	for _, spec := range settings.Rerankers {
		r, err := newReranker(spec)
		if err != nil {
			return nil, settings.At("rerankers", spec, err)
		}
		g.Rerankers = append(g.Rerankers, r)
	}
	sources := map[string]string{} // what a name makes, as it calls itself
	allowed := map[string][]string{}
	for _, c := range settings.Configurations {
		key, specs := "configurations."+c.Name+".embedders", c.Embedders
		if specs == nil {
			key, specs = "embedders", settings.Embedders
		}
		for _, spec := range specs {
			if sources[spec] == "" {
				name, err := g.addSource(spec, settings.OutputDir)
				if err != nil {
					return nil, settings.At(key, spec, err)
				}
				for other, same := range sources {
					if same == name {
						return nil, fmt.Errorf("embedders %q and %q are the same, or two that are both called %s", withoutURL(min(other, spec)), withoutURL(max(other, spec)), name)
					}
				}
				sources[spec] = name
			}
		}
		for _, name := range c.Chunkers {
			chunker, err := catalog.Parse(name)
			if err != nil {
				return nil, err
			}
			if c.Name != "" {
				chunker = configured{chunker, c.Name}
			}
			g.Chunkers = append(g.Chunkers, chunker)
			for _, spec := range specs {
				allowed[chunker.String()] = append(allowed[chunker.String()], sources[spec])
			}
		}
	}
	g.Skip = func(c sweep.Configuration) bool {
		return !slices.Contains(allowed[c.Chunker], c.Embedder+c.Retriever) // one of which is empty
	}
	return g, nil
}

// close closes the caches, whose files then depend on nothing but what they hold.
func (g *grid) close() error {
	var errs []error
	for _, c := range g.caches {
		if c.Stats().Embedded > 0 {
			errs = append(errs, c.Record())
		}
		errs = append(errs, c.Close())
	}
	g.caches = nil
	return errors.Join(errs...)
}

func budgetOf(b sweepfile.Budget) sweep.Budget {
	switch {
	case b.Size == 0:
		return sweep.Budget{}
	case b.Unit == "o200k":
		return sweep.AtLength(b.Size, tokens.Length(tokens.O200K))
	case b.Unit == "cl100k":
		return sweep.AtTokens(b.Size)
	}
	return sweep.AtCharacters(b.Size)
}

// spanMetrics are those that a sweep can be ranked by.
var spanMetrics = []ragtest.TokenMetric{
	ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanHitRate, ragtest.SpanMRR, ragtest.SpanNDCG, ragtest.SpanMAP,
	ragtest.SpanPrecisionRedundant, ragtest.SpanIoURedundant,
}

func names(metrics []ragtest.TokenMetric) []string {
	var list []string
	for _, m := range metrics {
		list = append(list, m.Name())
	}
	return list
}

// component is what a name such as "openai:MODEL@URL" says.
type component struct{ kind, model, url string }

// parseComponent cuts a name. A model may have a colon, and an address begins with
// http, so that a model may have an @, too.
func parseComponent(spec string) component {
	var c component
	if i := strings.Index(spec, "@http"); i >= 0 {
		spec, c.url = spec[:i], spec[i+1:]
	}
	c.kind, c.model, _ = strings.Cut(spec, ":")
	return c
}

// withoutURL returns the name without its address, in which somebody may have put a key.
func withoutURL(spec string) string {
	spec, _, _ = strings.Cut(spec, "@http")
	return spec
}

var lexicalForm = regexp.MustCompile(`^lexical(?:/dim=([1-9][0-9]{0,6}))?$`)

// addSource adds the embedder or retriever of that name, and returns what it calls
// itself. The vectors of services are kept in a file in dir, if that is not empty.
func (g *grid) addSource(spec, dir string) (string, error) {
	c := parseComponent(spec)
	var e ragtest.Embedder
	switch {
	case lexicalForm.MatchString(spec):
		dim, _ := strconv.Atoi(lexicalForm.FindStringSubmatch(spec)[1])
		e = lexical.Embedder{Dim: dim}
	case isRetriever(spec):
		r, err := newRetriever[chunk](spec)
		if err != nil {
			return "", err
		}
		g.Retrievers, g.retrievers = append(g.Retrievers, r), append(g.retrievers, spec)
		return fmt.Sprint(r), nil
	case strings.HasPrefix(spec, sweepfile.ModelPrefix) && spec != sweepfile.ModelPrefix:
		m, err := model2vec.Open(strings.TrimPrefix(spec, sweepfile.ModelPrefix))
		if err != nil {
			return "", err
		}
		e = m
	case c.kind == "openai":
		return g.addService(openai.Embedder{Model: c.model, BaseURL: c.url}, dir)
	case c.kind == "cohere":
		return g.addService(cohere.Embedder{Model: c.model, BaseURL: c.url}, dir)
	default:
		return "", fmt.Errorf("embedder %q is unknown: want lexical, lexical/dim=N, bm25, bm25/k1=X/b=Y, hybrid, model2vec:FOLDER, openai:MODEL or cohere:MODEL", withoutURL(spec))
	}
	g.Embedders = append(g.Embedders, e)
	return fmt.Sprint(e), nil
}

var bm25Form = regexp.MustCompile(`^bm25(?:/k1=([0-9.]{1,9}))?(?:/b=([0-9.]{1,9}))?$`)

// isRetriever reports whether a name is that of a retriever, and not of an embedder.
func isRetriever(spec string) bool { return spec == "hybrid" || bm25Form.MatchString(spec) }

// newRetriever returns the retriever of that name, which is one.
func newRetriever[C chunkers.Indexed](spec string) (ragtest.Retriever[C], error) {
	if spec == "hybrid" {
		return &hybrid[C]{fuse[C]()}, nil
	}
	r := lexical.NewBM25[C]()
	m := bm25Form.FindStringSubmatch(spec)
	for i, to := range []*float64{&r.K1, &r.B} {
		if m[i+1] == "" {
			continue
		}
		var err error
		if *to, err = strconv.ParseFloat(m[i+1], 64); err != nil {
			return nil, fmt.Errorf("retriever %s: found %q, want a number", spec, m[i+1])
		}
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("retriever %s: %w", spec, err)
	}
	return r, nil
}

// hybrid fuses BM25 and the lexical embedder. Index begins anew, which the store of a
// dense retriever cannot.
type hybrid[C chunkers.Indexed] struct{ ragtest.Retriever[C] }

func fuse[C chunkers.Indexed]() ragtest.Retriever[C] {
	return lexical.Fuse(lexical.NewBM25[C](), ragtest.Dense(lexical.Embedder{}, ragtest.NewMemoryStore[C]()))
}

func (h *hybrid[C]) Index(ctx context.Context, chunks []C) error {
	h.Retriever = fuse[C]()
	return h.Retriever.Index(ctx, chunks)
}

func (h *hybrid[C]) String() string { return "hybrid" }

var unfitForFile = regexp.MustCompile(`[^A-Za-z0-9._=-]+`)

// cached is an embedder whose vectors are kept, under its own name.
type cached struct {
	*embedcache.Cache
	name string
}

func (c cached) String() string { return c.name }

// addService adds an embedder whose vectors cost money or time.
func (g *grid) addService(e ragtest.Embedder, dir string) (string, error) {
	name := fmt.Sprint(e)
	if v, ok := e.(chunkers.Validator); ok {
		if err := v.Validate(); err != nil {
			return "", fmt.Errorf("embedder %s: %w", name, err)
		}
	}
	if dir != "" {
		folder := filepath.Join(dir, "embeddings")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return "", fmt.Errorf("keeping vectors: %w", err)
		}
		cache, err := embedcache.Open(filepath.Join(folder, unfitForFile.ReplaceAllString(name, "_")+".embeddings"), e, embedcache.Options{Model: name})
		if err != nil {
			return "", err
		}
		g.caches = append(g.caches, cache)
		e = cached{cache, name}
	}
	g.Embedders = append(g.Embedders, e)
	return fmt.Sprint(e), nil
}

// newReranker returns the reranker of that name, nil for none.
func newReranker(spec string) (ragtest.Reranker[chunk], error) {
	c := parseComponent(spec)
	apis := map[string]cohere.API{"cohere": cohere.Cohere, "jina": cohere.Jina, "voyage": cohere.Voyage, "tei": cohere.TEI}
	api, ok := apis[c.kind]
	switch {
	case spec == "none":
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("reranker %q is unknown: want none, cohere:MODEL, jina:MODEL, voyage:MODEL or tei@URL", withoutURL(spec))
	}
	r := cohere.Reranker[chunk]{API: api, Model: c.model, BaseURL: c.url}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("reranker %s: %w", withoutURL(spec), err)
	}
	return r, nil
}
