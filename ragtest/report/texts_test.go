package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// textAt returns what the page shows of a document's characters [start, end).
func textAt(d docData, start, end int) (string, bool) {
	for _, p := range d.Parts {
		runes := []rune(p.Text)
		if p.Start <= start && end <= p.Start+len(runes) {
			return string(runes[start-p.Start : end-p.Start]), true
		}
	}
	return "", false
}

// Each retrieved and each relevant text is in the page, at its place, whether the
// documents are known or only what was retrieved of them.
func TestThePageHoldsWhatIsMarked(t *testing.T) {
	for name, corpus := range map[string]*spans.Corpus{"with the corpus": handbook(t), "without": nil} {
		r := evaluate(t, 40, 10)
		d := dataOf(t, pageOf(t, Page{Corpus: corpus, Results: []*ragtest.Result{r}}))
		for i, q := range r.Queries {
			for j, h := range q.Hits {
				hit := d.Queries[i].Runs[0].Hits[j]
				if got, ok := textAt(d.Docs[hit.Doc], hit.Start, hit.End); !ok || got != h.Text || d.Docs[hit.Doc].ID != h.Doc || hit.Text != nil {
					t.Errorf("%s: query %s: rank %d: got %q of %s, want %q of %s", name, q.ID, h.Rank, got, d.Docs[hit.Doc].ID, h.Text, h.Doc)
				}
			}
			for j, p := range q.Relevant {
				shown := d.Queries[i].Relevant[j]
				if got, ok := textAt(d.Docs[shown.Doc], shown.Start, shown.End); !ok || got != p.Text {
					t.Errorf("%s: query %s: relevant %d: got %q, want %q", name, q.ID, j, got, p.Text)
				}
			}
			if got, want := len(d.Queries[i].Runs[0].Missed), len(q.Missed); got != want {
				t.Errorf("%s: query %s: got %d missed passages, want %d", name, q.ID, got, want)
			}
		}
	}
}

// A run over another corpus is shown with its own texts.
func TestARunOverAnotherCorpusKeepsItsTexts(t *testing.T) {
	a, b := evaluate(t, 40, 0), *evaluate(t, 40, 0)
	b.CorpusFingerprint = "another"
	d := dataOf(t, pageOf(t, Page{Corpus: handbook(t), Results: []*ragtest.Result{a, &b}}))
	q := d.Queries[0]
	if q.Runs[0].Hits[0].Doc == q.Runs[1].Hits[0].Doc {
		t.Error("the two corpora share a document")
	}
	if q.Runs[1].Relevant == nil {
		t.Error("the relevant text of the second run is not its own")
	}
	if got := d.Docs[q.Runs[1].Hits[0].Doc]; got.Len != 0 || len(got.Parts) == 0 {
		t.Errorf("got the document %+v, want parts of one that is not known", got)
	}
}

func TestAChunkThatRewritesItsTextIsShownAsIndexed(t *testing.T) {
	r := evaluate(t, 40, 0)
	r.Queries[0].Hits[0].Text = "Context: " + r.Queries[0].Hits[0].Text
	d := dataOf(t, pageOf(t, Page{Corpus: handbook(t), Results: []*ragtest.Result{r}}))
	if hit := d.Queries[0].Runs[0].Hits[0]; hit.Text == nil || d.Texts[*hit.Text] != r.Queries[0].Hits[0].Text {
		t.Errorf("got %+v, want the text %q", hit, r.Queries[0].Hits[0].Text)
	}
}

func TestPiecesMergeIntoTheTextTheyAreOf(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	text := []rune(strings.Repeat("a𝔻é\u0301ß🌬️漢", 9))
	for range 2000 {
		var pieces []segment
		covered := make([]bool, len(text))
		for range random.IntN(8) {
			start := random.IntN(len(text))
			end := start + random.IntN(len(text)-start+1)
			pieces = append(pieces, segment{Start: start, Text: string(text[start:end])})
			for i := start; i < end; i++ {
				covered[i] = true
			}
		}
		last := -1
		for _, p := range merge(pieces) {
			n := utf8.RuneCountInString(p.Text)
			if p.Start <= last {
				t.Fatalf("seed %d: %v: the part at %d is not apart from that before it", seed, pieces, p.Start)
			}
			if got, want := p.Text, string(text[p.Start:p.Start+n]); got != want {
				t.Fatalf("seed %d: %v: got %q at %d, want %q", seed, pieces, got, p.Start, want)
			}
			for i := range n {
				covered[p.Start+i] = false
			}
			last = p.Start + n
		}
		for i, left := range covered {
			if left {
				t.Fatalf("seed %d: %v: character %d is lost", seed, pieces, i)
			}
		}
	}
}

func TestTextsAreLeftOutToKeepTheBudget(t *testing.T) {
	text := strings.Repeat("word ", 1000)
	doc, err := spans.NewDocument("d", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		t.Fatal(err)
	}
	l := newLibrary(corpus)
	at := l.document(corpus.Fingerprint(), "d")
	for _, start := range []int{1000, 3000} {
		if same, err := l.want(at, spans.Span{Doc: "d", Start: start, End: start + 50}, text[start:start+50]); !same || err != nil {
			t.Fatal(same, err)
		}
	}
	l.text("a text of its own")
	for _, c := range []struct {
		budget, parts, characters, left int
	}{
		{6000, 1, 5000, 0},   // the whole document
		{3000, 2, 1700, 0},   // 400 characters around each span
		{600, 2, 500, 0},     // 100
		{200, 2, 100, 0},     // none
		{100, 1, 50, 67},     // the first span, and the text of its own
		{10, 0, 0, 100 + 17}, // nothing
	} {
		kept, texts, left := l.segments(c.budget)
		characters, size := 0, 0
		for _, p := range kept[0] {
			characters += len(p.Text)
			size += jsonLen(p.Text)
		}
		for _, t := range texts {
			if t != "" {
				size += jsonLen(t)
			}
		}
		if len(kept[0]) != c.parts || characters != c.characters || left != c.left {
			t.Errorf("budget %d: got %d parts of %d characters and %d left out, want %d, %d and %d", c.budget, len(kept[0]), characters, left, c.parts, c.characters, c.left)
		}
		if size > c.budget {
			t.Errorf("budget %d: got %d bytes", c.budget, size)
		}
	}
}

func TestJSONLength(t *testing.T) {
	for _, s := range []string{"", "plain", "<b>&\"\\\n\r\t\x01\x1f\u2028é🌬️", payload} {
		data, err := encode(s)
		if err != nil {
			t.Fatal(err)
		}
		// The line separators that JavaScript once refused are escaped beyond need.
		extra := 3 * (strings.Count(s, "\u2028") + strings.Count(s, "\u2029"))
		if got := jsonLen(s) + extra; got != len(data) {
			t.Errorf("%q: got %d bytes, want %d", s, got, len(data))
		}
		var back string
		if err := json.Unmarshal(data, &back); err != nil || back != s {
			t.Errorf("got %q back, %v, want %q", back, err, s)
		}
	}
}

// tenThousand returns the result of a run of 10,000 queries, and its corpus of 2,000
// documents.
func tenThousand(t testing.TB) (*spans.Corpus, *ragtest.Result) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	words := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			fmt.Fprintf(&b, "%s%d ", []string{"anemometer", "station", "leave", "invoice", "the", "of", "relay"}[random.IntN(7)], random.IntN(90))
		}
		return b.String()[:n]
	}
	const documents, length, chunk = 2000, 8000, 800
	var docs []*spans.Document
	for i := range documents {
		doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("folder%d/document%d.md", i%20, i)), words(length), nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	metrics := []string{"span_recall", "span_precision", "span_iou"}
	r := &ragtest.Result{Name: "ten thousand", Level: "token", K: 5, Chunks: documents * length / chunk, CorpusFingerprint: corpus.Fingerprint()}
	for _, m := range metrics {
		r.Metrics = append(r.Metrics, ragtest.Score{Metric: m, Value: 0.5})
	}
	r.RecallLosses = []ragtest.Loss{{Stage: ragtest.LossUnlocatable}, {Stage: ragtest.LossBudget}, {Stage: ragtest.LossRetriever, Amount: 0.5}, {Stage: ragtest.LossIndex}, {Stage: ragtest.LossReranker}}
	r.PrecisionLosses = []ragtest.Loss{{Stage: ragtest.LossGranularity, Amount: 0.3}, {Stage: ragtest.LossWrongChunks, Amount: 0.2}}
	passage := func(size int) (spans.Span, string) {
		doc := docs[random.IntN(documents)]
		start := random.IntN(length/chunk) * chunk
		s := spans.Span{Doc: doc.ID(), Start: start, End: start + size}
		return s, doc.Text()[start : start+size]
	}
	for i := range 10_000 {
		q := ragtest.QueryResult{ID: ragtest.QueryID(fmt.Sprintf("query_%012x", i)), Text: words(90) + fmt.Sprint(i), Metadata: map[string]string{"difficulty": "hard", "queryType": "factoid"}}
		for range metrics {
			q.Scores = append(q.Scores, ragtest.Score{Value: random.Float64()})
		}
		for j := range q.Scores {
			q.Scores[j].Metric = metrics[j]
		}
		for rank := range 5 {
			s, text := passage(chunk)
			q.Hits = append(q.Hits, ragtest.Hit{Rank: rank + 1, ChunkID: fmt.Sprintf("pa_chunk_%012x", random.Uint64()>>16), Doc: s.Doc, Span: s, Score: random.Float64(), Text: text})
		}
		s, text := passage(120)
		q.Relevant = []ragtest.Passage{{Doc: s.Doc, Span: s, Text: text}}
		q.Missed = []ragtest.Passage{{Doc: s.Doc, Span: s, Text: text, Lost: ragtest.LossRetriever, Rank: random.IntN(900) + 6}}
		q.RecallLosses, q.PrecisionLosses = r.RecallLosses, r.PrecisionLosses
		q.Ceilings = []ragtest.Score{{Metric: "span_recall", Value: 1}}
		r.Queries = append(r.Queries, q)
	}
	return corpus, r
}

func TestTenThousandQueriesStaySmall(t *testing.T) {
	corpus, r := tenThousand(t)
	brief := *r // comparing runs takes its time for each metric
	brief.Metrics = r.Metrics[:1]
	for name, p := range map[string]Page{
		"one":          {Corpus: corpus, Results: []*ragtest.Result{r}},
		"side by side": {Corpus: corpus, Results: []*ragtest.Result{&brief, &brief}},
	} {
		page := pageOf(t, p)
		t.Logf("%s: %.1f MB", name, float64(len(page))/1e6)
		if len(page) >= 20e6 {
			t.Errorf("%s: got %d bytes, want less than 20 MB", name, len(page))
		}
	}
}

func TestQueriesThatDoNotFitAreThoseWithTheHighestScores(t *testing.T) {
	const n = 6000
	r := &ragtest.Result{Name: "long", Level: "token", K: 1, Metrics: []ragtest.Score{{Metric: "span_recall", Value: 0.5}}}
	for i := range n {
		score := float64(i*7%n) / n
		r.Queries = append(r.Queries, ragtest.QueryResult{ID: ragtest.QueryID(fmt.Sprint(i)), Text: strings.Repeat("long ", 800), Scores: []ragtest.Score{{Metric: "span_recall", Value: score}}})
	}
	page := pageOf(t, Page{Results: []*ragtest.Result{r}})
	if len(page) >= 20e6 || len(page) < 14e6 {
		t.Errorf("got %d bytes, want up to 17 MiB", len(page))
	}
	shown := dataOf(t, page).Queries
	highest, last := 0.0, -1
	for _, q := range shown {
		highest = max(highest, q.Runs[0].Scores[0])
		i, err := strconv.Atoi(string(q.ID))
		if err != nil || i <= last {
			t.Fatalf("query %s comes after %d", q.ID, last)
		}
		last = i
	}
	if want := float64(len(shown)-1) / n; highest != want {
		t.Errorf("got scores up to %v, want the %d lowest, up to %v", highest, len(shown), want)
	}
	if want := fmt.Sprintf("Left out here to keep the file small: %d queries with the highest scores.", n-len(shown)); !strings.Contains(string(page), want) {
		t.Errorf("the page does not say %q", want)
	}
}

// A sweep has more runs than a page can open the queries of.
func TestManyRunsStaySmall(t *testing.T) {
	var many []*ragtest.Result
	for i := range 150 {
		r := &ragtest.Result{Name: fmt.Sprintf("recursive/size=%d/overlap=%d", 100*(i/10), 10*(i%10)), Level: "token", K: 5, Metrics: []ragtest.Score{{Metric: "span_recall", Value: float64(i) / 200}}}
		r.Components.Chunker = r.Name
		for q := range 472 {
			result := ragtest.QueryResult{ID: ragtest.QueryID(fmt.Sprint(q)), Text: "a query of about the usual length, with a number", Scores: []ragtest.Score{{Metric: "span_recall", Value: float64(q*i%472) / 472}}}
			for rank := range 5 {
				s := spans.Span{Doc: "document", Start: 100 * ((q*7 + rank*31 + i) % 500)}
				s.End = s.Start + 100
				result.Hits = append(result.Hits, ragtest.Hit{Rank: rank + 1, ChunkID: "pa_chunk_0123456789ab", Doc: s.Doc, Span: s, Score: 0.5, Text: strings.Repeat("0123456789", 10)})
			}
			r.Queries = append(r.Queries, result)
		}
		many = append(many, r)
	}
	page := pageOf(t, Page{Results: many})
	t.Logf("%.1f MB", float64(len(page))/1e6)
	if len(page) >= 20e6 {
		t.Errorf("got %d bytes, want less than 20 MB", len(page))
	}
	runs := dataOf(t, page).Runs
	if len(runs) != 20_000/472 || runs[0].Name != many[149].Name {
		t.Errorf("got %d runs from %s on, want 42 from the best on", len(runs), runs[0].Name)
	}
	if want := "Left out here to keep the file small: 108 runs that rank lowest."; !strings.Contains(string(page), want) {
		t.Errorf("the page does not say %q", want)
	}
}
