package intern

import (
	"fmt"
	"hash/maphash"
	"testing"
)

func BenchmarkTable(b *testing.B) {
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("passage_%07d", i*7919))
	}
	b.Run("impl=table", func(b *testing.B) {
		var t Table[string]
		for b.Loop() {
			t.Reset(len(keys))
			for _, k := range keys {
				t.Number(k)
			}
		}
	})
	b.Run("impl=map", func(b *testing.B) {
		m := map[string]int{}
		for b.Loop() {
			clear(m)
			for _, k := range keys {
				if _, ok := m[k]; !ok {
					m[k] = len(m)
				}
			}
		}
	})
	b.Run("impl=hash", func(b *testing.B) {
		seed := maphash.MakeSeed()
		sum := uint64(0)
		for b.Loop() {
			for _, k := range keys {
				sum += maphash.String(seed, k)
			}
		}
	})
}
