package report

import (
	"testing"

	"github.com/rageval/rageval/ragtest"
)

func BenchmarkHTML(b *testing.B) {
	corpus, r := tenThousand(b)
	p := Page{Corpus: corpus, Results: []*ragtest.Result{r}}
	corpus.Fingerprint()
	b.ReportAllocs()
	for b.Loop() {
		page := pageOf(b, p)
		b.SetBytes(int64(len(page)))
	}
}
