package langsmith

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/rageval/rageval/ragtest"
)

// Whatever a spool file holds, reading it is an error or gives something that can be
// sent.
func FuzzParseSpool(f *testing.F) {
	f.Add([]byte(`{"version":1,"experiment":{"id":"00000001-0000-4000-8000-000000000000","name":"n","traces":[{}]},"result":{"schemaVersion":1},"queries":1}` + "\n" + `{"id":"q","text":"?"}`))
	f.Add([]byte(`{"version":1,"experiment":{"id":"x","traces":[]},"result":{"schemaVersion":1},"queries":-1,"repetitions":-1}`))
	f.Add([]byte(`{"version":1,"experiment":null,"result":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		head, err := parseSpool(bytes.NewReader(data))
		if err != nil {
			return
		}
		x, r := head.Experiment, head.Result
		known := newIndex("7d2c4f9e-4a0b-4f6e-9c51-0d6c5a1b2e3f")
		for i, queries := range repetitions(r) {
			m := &runMaker{experiment: x, result: r, repetition: i, known: known, timeline: newTimeline(x.Traces[i])}
			parts := newParts(x.uuid("batch", "0"))
			for j := range queries {
				if err := m.add(parts, j, &queries[j]); err != nil {
					t.Fatalf("making the runs: %v", err)
				}
			}
		}
	})
}

// Values that encoding/json tells apart differ, unless only their numbers are written
// otherwise; and a value is equal to what it becomes when it is written again.
func FuzzEqualJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.50,"x",null,true]}`), []byte(`{"a":[1.0,2.5,"x",null,true]}`))
	f.Add([]byte(`12345678901234567890`), []byte(`12345678901234567891`))
	f.Add([]byte(`1e999999999`), []byte(`1e999999998`))
	f.Add([]byte(`{"a":1,"b":2}`), []byte(`{"b":2,"a":1}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, errX := parseJSON(a)
		y, errY := parseJSON(b)
		if errX != nil || errY != nil {
			return
		}
		if !equalJSON(a, a) || !equalJSON(a, mustJSON(x)) {
			t.Errorf("%s is not equal to itself", a)
		}
		got := equalJSON(a, b)
		if got != equalJSON(b, a) {
			t.Errorf("%s and %s: equal only in one order", a, b)
		}
		if reflect.DeepEqual(x, y) && !got {
			t.Errorf("%s and %s are not equal", a, b)
		}
		var floatX, floatY any
		if json.Unmarshal(a, &floatX) == nil && json.Unmarshal(b, &floatY) == nil && !reflect.DeepEqual(floatX, floatY) && got {
			t.Errorf("%s and %s are equal", a, b)
		}
	})
}

// What is spooled is read back, unless a line of it is missing.
func TestParseSpool(t *testing.T) {
	start(t)
	t.Setenv("LANGSMITH_API_KEY", "wrong")
	e := evaluation(t, 3)
	e.Repeat = 2
	r := evaluate(t, e)
	if err := (Reporter{}).Report(t.Context(), r); err == nil {
		t.Fatal("got no error")
	}
	data, err := os.ReadFile(spooled(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	head, err := parseSpool(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for i, rep := range r.Repetitions {
		if got := head.Result.Repetitions[i].Queries; !equalJSON(mustJSON(got), mustJSON(rep.Queries)) {
			t.Errorf("repetition %d differs", i)
		}
		if got, want := head.Experiment.Traces[i].Intervals, rep.Trace.Intervals; !slices.EqualFunc(got, want, func(a, b ragtest.Interval) bool {
			return a.Stage == b.Stage && a.First == b.First && a.Count == b.Count && a.Start.Equal(b.Start.Round(0)) && a.End.Equal(b.End.Round(0))
		}) {
			t.Errorf("repetition %d: got intervals %v, want %v", i, got, want)
		}
	}
	for n := range len(data) {
		if n > 0 && data[n-1] == '\n' {
			if _, err := parseSpool(bytes.NewReader(data[:n])); err == nil {
				t.Errorf("the first %d of %d bytes parse", n, len(data))
			}
		}
	}
}
