package sweep

import (
	"fmt"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

// Work is what a sweep did, and what evaluating its cells one by one would have done.
// What was kept from earlier sweeps is not part of it.
type Work struct {
	Cells     int    // in all
	Kept      int    // of them found in Grid.Dir
	Chunked   Saving // documents
	Embedded  Saving // texts of chunks
	Queries   Saving // queries embedded
	Retrieved Saving // queries retrieved for
	Reranked  Saving // queries reranked for
}

// Saving is a number of operations of one kind.
type Saving struct{ Done, Alone int }

// add adds what a cell would have done alone.
func (w *Work) add(c Cell, r *ragtest.Result) {
	n := len(r.Queries)
	if c.Chunker != "" {
		w.Chunked.Alone += r.Diagnostics.Documents
	}
	if c.Embedder != "" {
		w.Embedded.Alone += r.Diagnostics.EmbeddedTexts
		w.Queries.Alone += n
	}
	w.Retrieved.Alone += n
	if c.Reranker != "" {
		w.Reranked.Alone += n
	}
}

// String says what was done and what that saved, in one line. Nothing was saved where
// finding out what is kept, for which documents are chunked and queries embedded, took
// more than the cells that were left.
func (w Work) String() string {
	parts := []string{fmt.Sprintf("%d cells", w.Cells)}
	if w.Kept > 0 {
		parts[0] += fmt.Sprintf(", %d of them kept from before", w.Kept)
	}
	for _, x := range []struct {
		what string
		Saving
	}{
		{"chunked %d documents", w.Chunked}, {"embedded %d texts", w.Embedded}, {"embedded %d queries", w.Queries},
		{"retrieved for %d queries", w.Retrieved}, {"reranked for %d queries", w.Reranked},
	} {
		if x.Alone == 0 {
			continue
		}
		part := fmt.Sprintf(x.what, x.Done)
		if x.Done <= x.Alone {
			part += fmt.Sprintf(" instead of %d", x.Alone)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
