package report

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// saved writes a page to a file of its own.
func saved(t *testing.T, name string, p Page) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".html")
	if err := p.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// rowsShown returns the IDs of the queries in the table.
func rowsShown(b *browser) []string {
	b.t.Helper()
	return run[[]string](b, `return [...document.querySelectorAll("#table tbody tr small")].map(e => e.textContent)`)
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

const focused = `return document.activeElement.id || document.activeElement.textContent`

func TestBrowserSortsAndFilters(t *testing.T) {
	b := openBrowser(t)
	p := pages(t)["one"]
	path := saved(t, "one", p)
	b.open(path)
	queries := p.Results[0].Queries
	byScore := func(metric string, sign float64) []string {
		sorted := slices.Clone(queries)
		slices.SortStableFunc(sorted, func(x, y ragtest.QueryResult) int {
			a, _ := x.Score(metric)
			b, _ := y.Score(metric)
			return cmp.Compare(sign*a, sign*b)
		})
		var ids []string
		for _, q := range sorted {
			ids = append(ids, string(q.ID))
		}
		return ids
	}
	var all []string
	for _, q := range queries {
		all = append(all, string(q.ID))
	}
	same(t, "the order of the run", rowsShown(b), all)

	// The heads of columns are buttons: Enter sorts, and again turns round.
	head := func(title string) {
		run[any](b, `[...document.querySelectorAll("#table th button")].find(e => e.textContent === arguments[0]).focus()`, title)
	}
	sortedBy := func() []string {
		return run[[]string](b, `return [...document.querySelectorAll("#table th[aria-sort]")].map(e => e.textContent + " " + e.getAttribute("aria-sort"))`)
	}
	head("span_precision")
	b.press(keyEnter)
	same(t, "ascending precision", rowsShown(b), byScore("span_precision", 1))
	same(t, "the sorted column", sortedBy(), []string{"span_precision ascending"})
	b.press(keyEnter)
	same(t, "descending precision", rowsShown(b), byScore("span_precision", -1))
	same(t, "the sorted column", sortedBy(), []string{"span_precision descending"})
	head("query")
	b.press(keyEnter)
	same(t, "by text", rowsShown(b), []string{"nothing", "carry", "heater", "copies"})

	b.press("/")
	same(t, "the focus after /", run[string](b, focused), "filter")
	b.press("BACKUPS copied")
	same(t, "filtered by text", rowsShown(b), []string{"copies"})
	same(t, "what is announced", run[string](b, `return document.getElementById("status").textContent`), "1 query shown")
	b.press(strings.Repeat(keyBackspace, len("BACKUPS copied")), "of heater")
	same(t, "filtered by metadata", rowsShown(b), []string{"heater"})
	b.press("x")
	same(t, "filtered away", run[string](b, `return document.querySelector("#table tbody").textContent`), "No query matches.")
	b.press(strings.Repeat(keyBackspace, len("of heaterx")))
	choose(b, "show", "missed")
	var missed []string
	for _, id := range []string{"nothing", "carry", "heater", "copies"} {
		at := slices.IndexFunc(queries, func(q ragtest.QueryResult) bool { return string(q.ID) == id })
		if len(queries[at].Missed) > 0 {
			missed = append(missed, id)
		}
	}
	if len(missed) == 0 {
		t.Fatal("no query misses anything")
	}
	same(t, "those that miss something", rowsShown(b), missed)
	b.quiet(path)
}

func choose(b *browser, id, value string) {
	b.t.Helper()
	run[any](b, `const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event("change"))`, id, value)
}

// marks returns what is marked on a query's page, by run, document and kind.
func marks(b *browser) map[string]string {
	b.t.Helper()
	return run[map[string]string](b, `
		const found = {};
		for (const m of document.querySelectorAll("#query .doc mark")) {
			const [run, doc] = m.id.split("-");
			const text = [...m.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data).join("");
			const key = run + " " + m.closest(".doc").querySelector("bdi").textContent + " " + m.className;
			found[key] = (found[key] || "") + text;
		}
		return found;`)
}

// wantMarks returns what should be.
func wantMarks(t *testing.T, corpus *spans.Corpus, run int, q ragtest.QueryResult) map[string]string {
	t.Helper()
	var hits, relevant []spans.Span
	for _, h := range q.Hits {
		hits = append(hits, h.Span)
	}
	for _, p := range q.Relevant {
		relevant = append(relevant, p.Span)
	}
	got, should := spans.Union(hits...), spans.Union(relevant...)
	want := map[string]string{}
	for kind, set := range map[string]spans.Set{"both": got.Intersect(should), "missed": should.Subtract(got), "retrieved": got.Subtract(should)} {
		for s := range set.All() {
			doc, _ := corpus.Document(s.Doc)
			text, err := doc.Slice(s)
			if err != nil {
				t.Fatal(err)
			}
			want[fmt.Sprintf("run%d %s %s", run, s.Doc, kind)] += text
		}
	}
	return want
}

func TestBrowserOpensQueriesByKeyboard(t *testing.T) {
	b := openBrowser(t)
	p := pages(t)["one"]
	path := saved(t, "one", p)
	b.open(path)
	queries := p.Results[0].Queries
	first := fmt.Sprintf(`return document.activeElement.matches("#table tbody a") && document.activeElement.textContent === %q`, queries[0].Text)
	b.press("/")
	for range 20 {
		if run[bool](b, first) {
			break
		}
		b.press(keyTab)
	}
	if !run[bool](b, first) {
		t.Fatal("Tab does not come to the first query")
	}
	b.press(keyEnter)
	for i, q := range queries {
		b.until(`return !document.getElementById("query").hidden && document.querySelector("#query h2").textContent === arguments[0]`, q.Text)
		same(t, "the focus", run[string](b, focused), q.Text)
		if !run[bool](b, `return document.getElementById("overview").hidden`) {
			t.Error("the overview is not hidden")
		}
		same(t, fmt.Sprintf("the marks of query %s", q.ID), marks(b), wantMarks(t, p.Corpus, 0, q))
		same(t, fmt.Sprintf("the missed passages of query %s", q.ID), run[int](b, `return document.querySelectorAll("#query .misses li").length`), len(q.Missed))
		for j, m := range q.Missed {
			text := run[string](b, `return document.querySelectorAll("#query .misses li")[arguments[0]].textContent`, j)
			if !strings.Contains(text, m.Text) || !strings.Contains(text, "lost by "+m.Lost) || m.Rank > 0 && !strings.Contains(text, fmt.Sprintf("at rank %d", m.Rank)) {
				t.Errorf("query %s: got the missed passage %q, want %+v", q.ID, text, m)
			}
		}
		var hits []string
		for _, h := range q.Hits {
			hits = append(hits, fmt.Sprintf("#%d %s", h.Rank, h.Text))
		}
		same(t, "the hits", run[[]string](b, `return [...document.querySelectorAll("#query .hits li")].map(e => e.querySelector(".rank").textContent + " " + e.querySelector("blockquote").textContent)`), hits)
		if i < len(queries)-1 {
			b.press(keyRight)
		}
	}
	b.press(keyLeft)
	back := queries[len(queries)-2]
	b.until(`return document.querySelector("#query h2").textContent === arguments[0]`, back.Text)
	b.press(keyEscape)
	b.until(`return document.getElementById("query").hidden && !document.getElementById("overview").hidden`)
	same(t, "the focus after Escape", run[string](b, focused), back.Text)
	b.quiet(path)
}

func TestBrowserShowsTwoRunsSideBySide(t *testing.T) {
	b := openBrowser(t)
	p := pages(t)["two"]
	path := saved(t, "two", p)
	b.open(path)
	for i, q := range p.Results[0].Queries {
		run[any](b, `document.querySelectorAll("#table tbody tr")[arguments[0]].click()`, i)
		b.until(`const h = document.querySelector("#query h2"); return !!h && h.textContent === arguments[0]`, q.Text)
		want := wantMarks(t, p.Corpus, 0, q)
		maps.Copy(want, wantMarks(t, p.Corpus, 1, p.Results[1].Queries[i]))
		same(t, "the marks of "+string(q.ID), marks(b), want)
		b.press(keyEscape)
		b.until(`return document.getElementById("query").hidden`)
	}
	changes := run[[]string](b, `return [...document.querySelectorAll("#table tbody tr")].map(e => e.cells[3].textContent)`)
	for i, q := range p.Results[0].Queries {
		old, _ := q.Score("span_recall")
		now, _ := p.Results[1].Queries[i].Score("span_recall")
		same(t, "the change of "+string(q.ID), changes[i], plus(now-old))
	}
	choose(b, "run-b", "-1")
	same(t, "the columns of one run", run[[]string](b, `return [...document.querySelectorAll("#table th")].map(e => e.textContent)`),
		[]string{"query", "span_recall", "span_precision", "span_mrr", "span_recall@1", "missed", "lost by"})
	b.quiet(path)
}

func TestBrowserSortsTheRanking(t *testing.T) {
	b := openBrowser(t)
	p := pages(t)["four"]
	path := saved(t, "four", p)
	b.open(path)
	names := func() []string {
		return run[[]string](b, `return [...document.querySelectorAll("table.sortable tbody tr")].map(e => e.cells[1].textContent)`)
	}
	ranked := names()
	run[any](b, `document.querySelector("table.sortable th button").focus()`)
	b.press(keyEnter, keyEnter)
	slices.Reverse(ranked)
	same(t, "by rank, descending", names(), ranked)
	b.quiet(path)
}

// Whatever texts contain, nothing of them runs, loads or breaks the page.
func TestBrowserRunsNothingOfTheContent(t *testing.T) {
	b := openBrowser(t)
	for name, p := range pages(t) {
		p = poisoned(p)
		path := saved(t, name, p)
		b.open(path)
		for i, q := range p.Results[0].Queries {
			run[any](b, `document.querySelectorAll("#table tbody tr a")[arguments[0]].click()`, i)
			b.until(`const h = document.querySelector("#query h2"); return !!h && h.textContent === arguments[0]`, q.Text)
			b.press(keyEscape)
			b.until(`return document.getElementById("query").hidden`)
		}
		if run[bool](b, `return "pwned" in window || document.images.length > 0 || document.querySelectorAll("script").length !== 2`) {
			t.Errorf("%s: content became markup", name)
		}
		b.quiet(path)
	}
}

// The page fits a phone, and shows in light and in dark.
func TestBrowserShowsEveryPageOnEveryScreen(t *testing.T) {
	b := openBrowser(t)
	for name, p := range pages(t) {
		path := saved(t, name, p)
		backs := map[string]bool{}
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			for _, width := range []int{1280, 390, 320} {
				b.size(width, 1200, width < 600)
				b.open(path)
				check := func(what string) {
					t.Helper()
					if run[bool](b, `return /\b(null|undefined|NaN)\b/.test(document.body.innerText)`) {
						t.Errorf("%s: %s: the page shows a value that is none", name, what)
					}
					b.shoot(fmt.Sprintf("%s-%s-%d-%s", name, what, width, scheme))
					if got := run[int](b, `return document.documentElement.scrollWidth`); got > width {
						t.Errorf("%s: %s: the page is %d pixels wide on a screen of %d", name, what, got, width)
					}
				}
				check("overview")
				run[any](b, `document.querySelector("#table tbody a").click()`)
				b.until(`return !document.getElementById("query").hidden`)
				check("query")
			}
			backs[run[string](b, `return getComputedStyle(document.body).backgroundColor`)] = true
		}
		if len(backs) != 2 {
			t.Errorf("%s: got the backgrounds %v, want one for light and one for dark", name, backs)
		}
		b.quiet(path)
	}
}

func TestBrowserOpensTenThousandQueries(t *testing.T) {
	b := openBrowser(t)
	corpus, r := tenThousand(t)
	path := saved(t, "large", Page{Corpus: corpus, Results: []*ragtest.Result{r}})
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b.open(path)
	ready := run[float64](b, `return performance.getEntriesByName("ready")[0].startTime`)
	painted := run[float64](b, `return Math.max(0, ...performance.getEntriesByType("paint").map(e => e.startTime))`)
	t.Logf("%.1f MB, ready %.0f ms after navigation began, painted by %.0f ms", float64(file.Size())/1e6, ready, painted)
	sorted := run[float64](b, `const t = performance.now(); document.querySelectorAll("#table th button")[1].click(); return performance.now() - t`)
	t.Logf("sorted in %.0f ms", sorted)
	same(t, "the rows on a page", len(rowsShown(b)), 100)
	run[any](b, `[...document.querySelectorAll(".pager button")].find(e => e.textContent === "Next").click()`)
	same(t, "the count", run[string](b, `return document.getElementById("count").textContent`), "101–200 of 10,000 queries")
	b.press("/")
	b.press(string(r.Queries[42].ID))
	same(t, "the query that is searched for", rowsShown(b), []string{string(r.Queries[42].ID)})
	run[any](b, `document.querySelector("#table tbody a").click()`)
	b.until(`return !document.getElementById("query").hidden`)
	same(t, "the marks", marks(b), wantMarks(t, corpus, 0, r.Queries[42]))
	// What is shown and what is said to be left out make up the documents.
	for range 30 {
		if !run[bool](b, `const more = document.querySelector("#query button.gap"); if (more) more.click(); return !!more`) {
			break
		}
	}
	lengths := run[[]int](b, `return [...document.querySelectorAll("#query .doc .text")].map(e => {
		let n = 0;
		for (const gap of e.querySelectorAll(".gap")) n += Number(gap.textContent.replaceAll(",", "").match(/^\d+/)[0]);
		for (const other of e.querySelectorAll(".gap, .rank, .visually-hidden")) other.remove();
		return n + Array.from(e.textContent).length;
	})`)
	for _, n := range lengths {
		same(t, "the length of a document", n, 8000)
	}
	if len(lengths) == 0 {
		t.Error("no document is shown")
	}
	b.quiet(path)
}
