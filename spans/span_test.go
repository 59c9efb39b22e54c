package spans

import (
	"encoding/json"
	"testing"
)

func in(doc DocumentID, start, end int) Span { return Span{Doc: doc, Start: start, End: end} }

func TestNew(t *testing.T) {
	for _, test := range []struct {
		start, end int
		wantErr    string
	}{
		{0, 0, ""},
		{3, 3, ""},
		{3, 17, ""},
		{-1, 3, "span a.md[-1:3]: want 0 <= start <= end"},
		{4, 3, "span a.md[4:3]: want 0 <= start <= end"},
		{-2, -1, "span a.md[-2:-1]: want 0 <= start <= end"},
	} {
		s, err := New("a.md", test.start, test.end)
		switch {
		case test.wantErr != "":
			if err == nil || err.Error() != test.wantErr || s != (Span{}) {
				t.Errorf("New(%d, %d): got %v, %v, want error %q", test.start, test.end, s, err, test.wantErr)
			}
		case err != nil || s != in("a.md", test.start, test.end):
			t.Errorf("New(%d, %d): got %v, %v", test.start, test.end, s, err)
		}
	}
}

func TestSpanOverlap(t *testing.T) {
	for _, test := range []struct {
		s, t Span
		want int
	}{
		{in("a", 0, 50), in("a", 30, 80), 20},
		{in("a", 0, 50), in("a", 50, 100), 0},
		{in("a", 0, 100), in("a", 20, 30), 10},
		{in("a", 0, 10), in("a", 0, 10), 10},
		{in("a", 0, 10), in("b", 0, 10), 0},
		{in("a", 0, 10), in("a", 20, 30), 0},
		{in("a", 0, 10), in("a", 5, 5), 0},
		{in("a", 0, 10), in("a", 8, 2), 0},
		{Span{}, Span{}, 0},
	} {
		for _, pair := range [2][2]Span{{test.s, test.t}, {test.t, test.s}} {
			if got := pair[0].OverlapLen(pair[1]); got != test.want {
				t.Errorf("%v.OverlapLen(%v): got %d, want %d", pair[0], pair[1], got, test.want)
			}
			if got := pair[0].Overlaps(pair[1]); got != (test.want > 0) {
				t.Errorf("%v.Overlaps(%v): got %v", pair[0], pair[1], got)
			}
		}
	}
}

func TestSpanLenAndString(t *testing.T) {
	for s, want := range map[Span]int{in("a", 3, 17): 14, in("a", 3, 3): 0, in("a", 3, 1): 0, {}: 0} {
		if got := s.Len(); got != want {
			t.Errorf("%v.Len(): got %d, want %d", s, got, want)
		}
	}
	if got, want := in("doc", 3, 17).String(), "doc[3:17]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSpanJSON(t *testing.T) {
	text, err := json.Marshal(in("a/b.md", 3, 17))
	if err != nil || string(text) != `{"doc":"a/b.md","start":3,"end":17}` {
		t.Errorf("got %s, %v", text, err)
	}
	var s Span
	if err := json.Unmarshal(text, &s); err != nil || s != in("a/b.md", 3, 17) {
		t.Errorf("got %v, %v", s, err)
	}
}
