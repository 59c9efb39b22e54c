package main

import (
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/sweep"
)

func FuzzParseShard(f *testing.F) {
	for _, text := range []string{"", "0/1", "3/8", "job/8", "8/8", "-1/2", "1/0", "01/2", "1/99999999999999999999", " 1/2", "1/2/3"} {
		f.Add(text, "3")
	}
	f.Add("job/4", "+3")
	f.Add("job/4", "")
	f.Fuzz(func(t *testing.T, text, index string) {
		if strings.ContainsRune(index, 0) {
			return // no variable holds it
		}
		t.Setenv(jobIndex, index)
		s, err := parseShard(text)
		if err == nil && text != "" && (s.Index < 0 || s.Index >= s.Count) {
			t.Errorf("%q is the shard %+v", text, s)
		}
		if err == nil && text == "" && s != (sweep.Shard{}) {
			t.Errorf("no text is the shard %+v", s)
		}
	})
}

func FuzzParseSummary(f *testing.F) {
	for _, text := range []string{"0.87,0.34,472", "1e300,1e300,2", "NaN,Inf,3", "-0,-1,4", "0x1p-2,1,9", ",,", "1,2,3,4"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSummary(text)
		if err != nil {
			return
		}
		d, err := ragtest.CompareSummaries(s, s)
		if err == nil && (d.Difference != 0 || d.Low > 0 || d.High < 0) {
			t.Errorf("%q differs from itself: %v", text, d)
		}
	})
}

// The names of files of results are names of files, whatever a cell is called.
func FuzzResultName(f *testing.F) {
	f.Add("chunker=fixed/size=100/k=5", "corpus", "q")
	f.Add("../../etc/passwd\x00", "", "")
	f.Add(strings.Repeat("ä", 500), "c", "q")
	f.Fuzz(func(t *testing.T, cell, corpus, query string) {
		name := resultName(sweep.Cell{Name: cell}, corpus, []ragtest.QueryID{ragtest.QueryID(query)})
		if strings.ContainsAny(name, "/\\\x00: ") || len(name) > 200 || !strings.HasSuffix(name, ".json.gz") {
			t.Errorf("%q has the file %q", cell, name)
		}
		if name == resultName(sweep.Cell{Name: cell + "x"}, corpus, []ragtest.QueryID{ragtest.QueryID(query)}) {
			t.Errorf("two cells have the file %q", name)
		}
	})
}
