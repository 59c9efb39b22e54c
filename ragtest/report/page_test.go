package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// handbook is a corpus with a document in which characters are not UTF-16 units.
func handbook(t testing.TB) *spans.Corpus {
	t.Helper()
	var docs []*spans.Document
	for _, d := range [][2]string{
		{"leave.md", "Everybody has thirty days of leave. December 24 is a normal working day. Unused days expire on 31 March of the next year. Ask your lead."},
		{"weather.md", "The anemometer 🌬️ turns in the wind. In winter ❄️ its heater comes on below three degrees. 𝔻ata are sent each minute."},
		{"backups.md", "Backups are written to Falkenstein and copied to Helsinki. A printed key lies in the safe. Nobody restores alone."},
	} {
		doc, err := spans.NewDocument(spans.DocumentID(d[0]), d[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	return corpus
}

func relevant(t testing.TB, corpus *spans.Corpus, id spans.DocumentID, text string) spans.Span {
	t.Helper()
	doc, ok := corpus.Document(id)
	if !ok {
		t.Fatalf("there is no document %s", id)
	}
	s, err := chunkers.Locate(doc, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// evaluate returns a result over the handbook.
func evaluate(t testing.TB, size, overlap int) *ragtest.Result {
	t.Helper()
	corpus := handbook(t)
	query := func(id, text string, s ...spans.Span) ragtest.TokenQuery {
		return ragtest.TokenQuery{Query: ragtest.Query{ID: ragtest.QueryID(id), Text: text, Metadata: map[string]string{"kind": "of " + id}}, Relevant: s}
	}
	c := chunkers.FixedSize{Size: size, Overlap: overlap}
	r, err := ragtest.TokenLevel{
		Name: c.String(), Corpus: corpus, Chunker: c, Embedder: lexical.Embedder{}, K: 2,
		Metrics: []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanMRR, ragtest.SpanRecall.At(1)},
		Queries: []ragtest.TokenQuery{
			query("carry", "When do unused days of leave expire?", relevant(t, corpus, "leave.md", "Unused days expire on 31 March of the next year.")),
			query("heater", "When does the heater of the anemometer come on?", relevant(t, corpus, "weather.md", "In winter ❄️ its heater comes on below three degrees.")),
			query("copies", "Where are backups copied to?", relevant(t, corpus, "backups.md", "copied to Helsinki"), relevant(t, corpus, "leave.md", "Ask your lead.")),
			query("nothing", "What is not written anywhere?"),
		},
	}.Evaluate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r.Thresholds = []ragtest.ThresholdResult{{Metric: "span_recall", Want: ">= 0.5", Got: 0.6, Pass: true}, {Metric: "span_mrr", Want: ">= 0.9", Got: 0.6}}
	r.Diagnostics.Warnings = []string{"the first warning"}
	r.ExperimentURL = "javascript:alert(document.domain)"
	return r
}

// chunkLevel returns a result at chunk level over the handbook.
func chunkLevel(t testing.TB) *ragtest.Result {
	t.Helper()
	corpus := handbook(t)
	chunker := chunkers.FixedSize{Size: 40}
	var ids []chunkers.ChunkID
	for doc := range corpus.All() {
		texts, err := chunker.Chunk(context.Background(), doc.Text())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, chunkers.NewChunkID(texts[0]), chunkers.NewChunkID(texts[1]))
	}
	r, err := ragtest.ChunkLevel{
		Name: "chunks", Corpus: corpus, Chunker: chunker, Embedder: lexical.Embedder{}, K: 2,
		Queries: []ragtest.ChunkQuery{{Query: ragtest.Query{ID: "leave", Text: "How many days of leave?"}, Relevant: ids[:3]}},
	}.Evaluate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pageOf(t testing.TB, p Page) []byte {
	t.Helper()
	page, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// pages are one of each kind.
// sweptPage is of two results and of what a sweep's report knows of others.
func sweptPage(t testing.TB, corpus *spans.Corpus) Page {
	p := Page{Corpus: corpus}
	for _, kind := range []string{"fixed", "recursive"} {
		for i, size := range []int{40, 80} {
			for _, overlap := range []int{0, 10} {
				for _, k := range []int{1, 3} {
					r := *evaluate(t, 40, 0)
					r.K = k
					r.Components.Chunker = fmt.Sprintf("%s/size=%d/overlap=%d", kind, size, overlap)
					r.Name = fmt.Sprintf("chunker=%s/k=%d", r.Components.Chunker, k)
					r.Budgets = nil
					r.Metrics = slices.Clone(r.Metrics)
					r.Metrics[0].Value = 0.3 + 0.1*float64(k+i) + 0.02*float64(len(p.Results)%3)
					if len(p.Results) > 1 {
						r.Queries = slices.Clone(r.Queries)
						for j, q := range r.Queries {
							r.Queries[j] = ragtest.QueryResult{ID: q.ID, Scores: q.Scores}
						}
					}
					p.Results = append(p.Results, &r)
				}
				p.Curves = append(p.Curves, Curve{fmt.Sprintf("%s/size=%d/overlap=%d", kind, size, overlap), "cl100k", []CurvePoint{{100, 0.2}, {200, 0.5 + float64(i)/10}}})
			}
		}
	}
	return p
}

func pages(t testing.TB) map[string]Page {
	corpus := handbook(t)
	a, b, c, d := evaluate(t, 40, 0), evaluate(t, 60, 0), evaluate(t, 40, 10), evaluate(t, 60, 10)
	return map[string]Page{
		"one":   {Corpus: corpus, Results: []*ragtest.Result{a}},
		"two":   {Corpus: corpus, Results: []*ragtest.Result{a, b}},
		"four":  {Corpus: corpus, Results: []*ragtest.Result{a, b, c, d}},
		"chunk": {Corpus: corpus, Results: []*ragtest.Result{chunkLevel(t)}},
		"sweep": sweptPage(t, corpus),
	}
}

const payload = `</script></style></title><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"'` + "`" + `><svg onload=window.pwned=1> <!--<script> ]]> javascript:window.pwned=1 ${window.pwned=1} \u003cscript\u003e{{.}} ` + "\n\u2028\u0000\u202e"

// poison puts the payload before every string in v but those that are not text.
func poison(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		if v.String() != "" && path != ".Level" && path != ".ExperimentURL" {
			v.SetString(payload + v.String())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Trace" {
				poison(v.Field(i), path+"."+f.Name)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), path)
		}
	case reflect.Map:
		poisoned := map[string]string{}
		for key, value := range v.Interface().(map[string]string) {
			poisoned[payload+key] = payload + value
		}
		if len(poisoned) > 0 {
			v.Set(reflect.ValueOf(poisoned))
		}
	}
}

// poisoned returns the page with the payload in every text of its results.
func poisoned(p Page) Page {
	p.Corpus, p.Title = nil, payload
	results := p.Results
	p.Results = nil
	for _, r := range results {
		c := *r
		data, _ := json.Marshal(r)
		if err := json.Unmarshal(data, &c); err != nil {
			panic(err)
		}
		poison(reflect.ValueOf(&c), "")
		p.Results = append(p.Results, &c)
	}
	p.Curves = slices.Clone(p.Curves)
	for i := range p.Curves {
		p.Curves[i].Name, p.Curves[i].Unit = p.Curves[i].Name+payload, payload
	}
	return p
}

// structure returns the elements of a page with their attributes, without the
// values that differ between texts.
func structure(t *testing.T, page []byte) []string {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("the page has the comment %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if n.Namespace == "svg" && !slices.Contains([]string{"svg", "g", "path", "text", "rect"}, n.Data) {
			t.Errorf("a figure holds the element %s", n.Data)
		}
		element := n.Data
		for _, a := range n.Attr {
			element += " " + a.Key
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("element %s has the attribute %s=%q", n.Data, a.Key, a.Val)
			}
			if a.Key == "href" || a.Key == "src" || a.Key == "class" || a.Key == "id" {
				element += "=" + a.Val
			}
		}
		if n.Namespace == "" { // texts have another width in a figure
			list = append(list, element)
		}
	}
	return list
}

func TestNoContentBecomesMarkup(t *testing.T) {
	for name, p := range pages(t) {
		p.Corpus, p.Title = nil, "title"
		if diff := cmp.Diff(structure(t, pageOf(t, p)), structure(t, pageOf(t, poisoned(p)))); diff != "" {
			t.Errorf("%s: content changes the structure of the page (-harmless +hostile):\n%s", name, diff)
		}
	}
}

// dataOf returns what the page's script reads.
func dataOf(t testing.TB, page []byte) pageData {
	t.Helper()
	_, after, ok := bytes.Cut(page, []byte(`<script type="application/json" id="data">`))
	if !ok {
		t.Fatal("the page has no data")
	}
	data, _, _ := bytes.Cut(after, []byte("</script>"))
	if bytes.Contains(data, []byte("<")) {
		t.Error("the data hold a <")
	}
	var d pageData
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDataHoldTextsAsTheyAre(t *testing.T) {
	p := poisoned(pages(t)["one"])
	d := dataOf(t, pageOf(t, p))
	for i, q := range p.Results[0].Queries {
		got := d.Queries[i]
		if got.ID != q.ID || got.Text != q.Text || !cmp.Equal(got.Metadata, q.Metadata) {
			t.Errorf("query %d: got %q %q %q, want %q %q %q", i, got.ID, got.Text, got.Metadata, q.ID, q.Text, q.Metadata)
		}
		for j, h := range q.Hits {
			hit := got.Runs[0].Hits[j]
			if hit.Text == nil || d.Texts[*hit.Text] != h.Text {
				t.Errorf("query %d: hit %d is not shown with its text %q", i, j, h.Text)
			}
		}
	}
}

// The policy lets the page run and style itself by what it holds, and nothing else.
func TestThePolicyHoldsTheHashesOfThePage(t *testing.T) {
	root, err := html.Parse(bytes.NewReader(pageOf(t, pages(t)["one"])))
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{}
	policy := ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.Data == "meta" && n.Attr[0].Val == "Content-Security-Policy":
			policy = n.Attr[1].Val
		case n.Data == "style" || n.Data == "script" && len(n.Attr) == 0:
			if policy == "" {
				t.Errorf("a %s comes before the policy", n.Data)
			}
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			hashes[n.Data] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		}
	}
	want := fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashes["script"], hashes["style"])
	if policy != want {
		t.Errorf("got the policy %q, want %q", policy, want)
	}
}

func TestLinksLeadToWebAddressesOnly(t *testing.T) {
	for address, want := range map[string]string{
		"https://smith.langchain.com/o/1/compare?selectedSessions=2": "https://smith.langchain.com/o/1/compare?selectedSessions=2",
		"http://127.0.0.1:8080/":                                     "http://127.0.0.1:8080/",
		"javascript:alert(1)":                                        "",
		" javascript:alert(1)":                                       "",
		"JAVASCRIPT:alert(1)":                                        "",
		"data:text/html,<script>1</script>":                          "",
		"//evil.example":                                             "",
		"https://a.example/\"onclick=alert(1)":                       "https://a.example/%22onclick=alert%281%29",
		"java\nscript:alert(1)":                                      "",
	} {
		got := webAddress(address)
		if strings.ReplaceAll(strings.ReplaceAll(got, "(", "%28"), ")", "%29") != want {
			t.Errorf("%q: got the link %q, want %q", address, got, want)
		}
	}
}

func TestEqualResultsGiveEqualBytes(t *testing.T) {
	for name, p := range pages(t) {
		first := pageOf(t, p)
		old := runtime.GOMAXPROCS(1)
		again := pageOf(t, pages(t)[name])
		runtime.GOMAXPROCS(old)
		if !bytes.Equal(first, again) {
			t.Errorf("%s: the bytes differ", name)
		}
		text, err := p.Markdown()
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := p.Markdown(); text != second {
			t.Errorf("%s: the summaries differ", name)
		}
	}
}

func TestResultsAreNotModified(t *testing.T) {
	for name, p := range pages(t) {
		before, err := json.Marshal(p.Results)
		if err != nil {
			t.Fatal(err)
		}
		pageOf(t, p)
		if after, _ := json.Marshal(p.Results); !bytes.Equal(before, after) {
			t.Errorf("%s: the results were modified", name)
		}
	}
}

func TestErrors(t *testing.T) {
	a, b := evaluate(t, 40, 0), evaluate(t, 60, 0)
	twice, nan, far, other := *a, *a, *a, *a
	twice.Queries = append(twice.Queries[:len(twice.Queries):len(twice.Queries)], twice.Queries[0])
	nan.Metrics = []ragtest.Score{{Metric: "span_recall", Value: math.NaN()}}
	far.Queries = []ragtest.QueryResult{{ID: "q", Hits: []ragtest.Hit{{Rank: 1, Doc: "leave.md", Span: spans.Span{Doc: "leave.md", Start: 3, End: 4000}}}}}
	other.Metrics = []ragtest.Score{{Metric: "mine", Value: 1}}
	for want, p := range map[string]Page{
		"reporting: field Results: there is none, want at least one": {},
		"reporting: field Results: result 1 is nil":                  {Results: []*ragtest.Result{a, nil}},
		`reporting: result 0 (): level: got "", want token or chunk`: {Results: []*ragtest.Result{{}}},
		"is chunk-level, and the first token-level":                  {Results: []*ragtest.Result{a, chunkLevel(t)}},
		"has the query carry twice":                                  {Results: []*ragtest.Result{&twice}},
		"mean of span_recall: got NaN, want a finite number":         {Results: []*ragtest.Result{&nan}},
		"fixed/size=40: query q: rank 1: ":                           {Corpus: handbook(t), Results: []*ragtest.Result{&far}},
		"the results have no metric in common":                       {Results: []*ragtest.Result{a, &other}},
		`field RankBy: not all results have the metric "x", want one of span_recall, span_precision, span_mrr, span_recall@1`: {Results: []*ragtest.Result{a, b}, RankBy: "x"},
	} {
		if _, err := p.HTML(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got the error %v, want %q", err, want)
		}
		if p.Corpus == nil {
			if _, err := p.Markdown(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Markdown: got the error %v, want %q", err, want)
			}
		}
	}
}

func TestTwoRunsOverOtherQueriesAreShownWithoutAComparison(t *testing.T) {
	a, b := evaluate(t, 40, 0), *evaluate(t, 60, 0)
	b.Queries = b.Queries[1:]
	p := Page{Results: []*ragtest.Result{a, &b}}
	page := string(pageOf(t, p))
	if want := "The runs cannot be compared: run 1 (fixed/size=60): it lacks the query carry"; !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
	d := dataOf(t, []byte(page))
	if d.Queries[0].Runs[0] == nil || d.Queries[0].Runs[1] != nil {
		t.Error("the query that the second run lacks is not shown as lacking")
	}
}

func TestRunsOfOneNameAreToldApart(t *testing.T) {
	a := evaluate(t, 40, 0)
	for _, want := range [][]string{{"fixed/size=40 (old)", "fixed/size=40 (new)"}, {"fixed/size=40", "fixed/size=40 (2)", "fixed/size=40 (3)"}} {
		p := Page{}
		for range want {
			p.Results = append(p.Results, a)
		}
		var got []string
		for _, r := range dataOf(t, pageOf(t, p)).Runs {
			got = append(got, r.Name)
		}
		if !cmp.Equal(got, want) {
			t.Errorf("got the names %q, want %q", got, want)
		}
	}
}

// What is left of precision is the metric's mean, also where nothing was retrieved,
// and a result without losses, such as a baseline, claims nothing.
func TestLossTables(t *testing.T) {
	r := evaluate(t, 40, 0)
	empty := *r
	empty.Metrics = []ragtest.Score{{Metric: "span_recall", Value: 0.25}, {Metric: "span_precision", Value: 0}}
	empty.RecallLosses = []ragtest.Loss{{Stage: ragtest.LossRetriever, Amount: 0.75}}
	empty.PrecisionLosses = []ragtest.Loss{{Stage: ragtest.LossGranularity}, {Stage: ragtest.LossWrongChunks}}
	bare := *r
	bare.RecallLosses, bare.PrecisionLosses, bare.Metrics = nil, nil, r.Metrics[:1]
	var got [][]string
	for _, table := range lossTables([]*ragtest.Result{&empty, &bare}, []string{"a", "b"}) {
		for _, row := range table.Rows {
			var texts []string
			for _, cell := range row {
				texts = append(texts, cell.Text)
			}
			got = append(got, texts)
		}
	}
	want := [][]string{{"a", "0.7500", "0.2500"}, {"b", "–", "–"}, {"a", "0.0000", "0.0000", "0.0000"}, {"b", "–", "–", "–"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the tables (-want +got):\n%s", diff)
	}
}
