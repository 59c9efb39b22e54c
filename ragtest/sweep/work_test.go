package sweep_test

import (
	"testing"

	"github.com/rageval/rageval/ragtest/sweep"
)

func TestWorkTellsWhatWasSaved(t *testing.T) {
	for _, test := range []struct {
		work sweep.Work
		want string
	}{
		{sweep.Work{Cells: 1, Chunked: sweep.Saving{Done: 3, Alone: 3}}, "1 cells; chunked 3 documents instead of 3"},
		{sweep.Work{Cells: 4, Kept: 4, Chunked: sweep.Saving{Done: 3}}, "4 cells, 4 of them kept from before"},
		{sweep.Work{Cells: 40, Kept: 39, Chunked: sweep.Saving{Done: 15, Alone: 3}, Queries: sweep.Saving{Done: 2, Alone: 1}, Retrieved: sweep.Saving{Done: 1, Alone: 1}},
			"40 cells, 39 of them kept from before; chunked 15 documents; embedded 2 queries; retrieved for 1 queries instead of 1"},
	} {
		if got := test.work.String(); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.work, got, test.want)
		}
	}
}
