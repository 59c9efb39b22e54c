// Package report shows results to people: as one HTML file, as a summary in
// Markdown for a pull request, and as figures for a paper.
//
// A test writes a report of each run with a reporter:
//
//	ragtest.RunTokenLevel(t, ragtest.TokenLevel{
//		…
//		Reporters: []ragtest.Reporter{report.HTML{TB: t, Corpus: corpus}, report.Markdown{}},
//	})
//
// and go test -artifacts keeps report.html among its artifacts. [Page] makes one
// of results that are at hand, such as those read from ragtest.json: one; two
// side by side; or more, ranked. Package sweep makes one of a sweep.
//
// The HTML file is complete in itself. It loads nothing, and its content security
// policy lets it load and run nothing but what it holds, by hash. Documents,
// queries and names are shown as text, whatever they contain. The table of queries
// is drawn from data in the file, a hundred rows at a time; a query's page marks
// in its documents what was relevant and what was retrieved. It follows the
// system's light or dark theme.
//
// The data are kept to 17 MiB: documents are shown in whole if that is little
// enough, else with less and less text around what was retrieved or relevant,
// and at last without what comes last. Queries that do not fit even so are those
// with the highest scores. Of many runs the queries of the best are shown, up to
// 20,000 together. The page says what it leaves out.
//
// A report of 10,000 queries with five chunks each, out of 16 MB of documents, has
// 18 MB and is ready 0.7 s after Chromium 156 begins to open it (November 2026, two
// cores of an AMD EPYC; go test -run BrowserOpensTenThousand -v with
// RAGTEST_CHROMEDRIVER naming a chromedriver).
//
// The same results give the same bytes.
package report
