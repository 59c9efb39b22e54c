package units

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	text := "\n one.  two \ufeff\n...three\u3000"
	parts := []Range{{0, 1}, {1, 6}, {6, 12}, {12, 16}, {19, len(text)}}
	got, err := Of(text, parts)
	if err != nil {
		t.Fatal(err)
	}
	want := []Unit{{0, 2, 6}, {6, 8, 11}, {19, 19, 24}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var covered []string
	for i := range got {
		r := Covering(text, got, i, i+1)
		covered = append(covered, text[r.Start:r.End])
	}
	if diff := cmp.Diff([]string{"\n one.", "  two \ufeff\n...", "three\u3000"}, covered); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if r := Covering(text, got, 0, 2); r != (Range{0, 19}) {
		t.Errorf("got %v for the first two units, want [0, 19)", r)
	}
	if units, err := Of(" \n", []Range{{0, 1}, {1, 2}}); len(units) > 0 || err != nil {
		t.Errorf("got %v, error %v for white space, want none", units, err)
	}
}

func TestOfRefuses(t *testing.T) {
	for want, parts := range map[string][]Range{
		"unit 1 is bytes [1:3]: want a part of what follows byte 2, in a text of 4 bytes":  {{0, 2}, {1, 3}},
		"unit 0 is bytes [2:1]: want a part of what follows byte 0, in a text of 4 bytes":  {{2, 1}},
		"unit 0 is bytes [0:5]: want a part of what follows byte 0, in a text of 4 bytes":  {{0, 5}},
		"unit 0 is bytes [-1:5]: want a part of what follows byte 0, in a text of 4 bytes": {{-1, 5}},
	} {
		if _, err := Of("text", parts); err == nil || err.Error() != want {
			t.Errorf("%v: got error %v, want %q", parts, err, want)
		}
	}
}

func TestRepair(t *testing.T) {
	for _, test := range []struct{ parts, want string }{
		{"One|. Two|. Three", "One.| Two.| Three"},
		{"One|.", "One.|"},
		{"One|..|?", "One.|.?|"},
		{".One|!|\n?|", ".One!||\n?|"},
		{"", ""},
	} {
		var parts []Range
		end := 0
		for part := range strings.SplitSeq(test.parts, "|") {
			parts = append(parts, Range{end, end + len(part)})
			end += len(part)
		}
		text := strings.ReplaceAll(test.parts, "|", "")
		Repair(text, parts)
		var got []string
		for _, p := range parts {
			got = append(got, text[p.Start:p.End])
		}
		if got := strings.Join(got, "|"); got != test.want {
			t.Errorf("%s: got %s, want %s", test.parts, got, test.want)
		}
	}
	apart := []Range{{0, 3}, {4, 6}}
	Repair("One .T", apart)
	if diff := cmp.Diff([]Range{{0, 3}, {4, 6}}, apart); diff != "" {
		t.Errorf("parts that do not meet (-want +got)\n%s", diff)
	}
	shared := []Range{{0, 4}, {3, 6}, {5, 6}, {6, 7}}
	Repair("One Two", shared)
	if diff := cmp.Diff([]Range{{0, 4}, {4, 6}, {6, 6}, {6, 7}}, shared); diff != "" {
		t.Errorf("parts that share something (-want +got)\n%s", diff)
	}
}
