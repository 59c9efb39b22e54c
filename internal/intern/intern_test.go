package intern

import (
	"fmt"
	"math"
	"testing"
)

func TestTable(t *testing.T) {
	var table Table[string]
	if _, known := table.Find("a"); known || table.Len() != 0 {
		t.Fatal("the zero value holds a key")
	}
	for round, n := range []int{3, 1000, 0, 10, 5000, 1} {
		if round > 0 {
			table.Reset(n / 2) // too little room
		}
		for pass := range 2 {
			for i := range n {
				key := fmt.Sprint("key", i*7)
				if got, known := table.Number(key); got != i || known != (pass > 0) {
					t.Fatalf("round %d, pass %d: Number(%s): got %d, %v, want %d, %v", round, pass, key, got, known, i, pass > 0)
				}
				if got, known := table.Find(key); got != i || !known {
					t.Fatalf("round %d: Find(%s): got %d, %v, want %d, true", round, key, got, known, i)
				}
			}
		}
		if table.Len() != n {
			t.Errorf("round %d: got %d keys, want %d", round, table.Len(), n)
		}
		if _, known := table.Find(fmt.Sprint("key", n*7)); known {
			t.Errorf("round %d: found a key of an earlier round, or none", round)
		}
	}
}

func TestRoundsAreUsedUp(t *testing.T) {
	var table Table[string]
	table.Reset(1)
	table.Number("5")
	table.round = math.MaxUint32
	table.Number("6")
	table.Reset(1) // round 0: that of slots which were never taken
	for _, key := range []string{"5", "6", "7"} {
		if _, known := table.Find(key); known {
			t.Errorf("the empty table knows %s", key)
		}
	}
}

func TestTableDoesNotAllocate(t *testing.T) {
	var table Table[string]
	keys := []string{"a", "b", "c", "d", "e", "f", "g"}
	if n := testing.AllocsPerRun(10, func() {
		table.Reset(len(keys))
		for _, key := range keys {
			table.Number(key)
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
