package main

import "fmt"

const peers = "internal/peers"

// table lists what is measured. A further row is all that a further ratio takes.
var table = concat(
	search(),
	recursive(),
	measures(),
	evaluations(),
)

func concat(lists ...[]row) (all []row) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func search() []row {
	name := func(vectors, batch int, impl string) string {
		return fmt.Sprintf("Search/vectors=%d/batch=%d/impl=%s", vectors, batch, impl)
	}
	const wall, cpu = "ns/query", "cpu-ns/query"
	return []row{
		{
			what: "exact search, 1 query × 100,000 × 384, cpu, against chromem-go",
			dir:  peers, ours: name(100_000, 1, "rageval"), theirs: name(100_000, 1, "chromem-go"), unit: cpu, want: 8,
		}, {
			what: "exact search, 1 query × 10,000 × 384, cpu, against chromem-go",
			dir:  peers, ours: name(10_000, 1, "rageval"), theirs: name(10_000, 1, "chromem-go"), unit: cpu, want: 15,
		}, {
			what: "exact search, 1 query × 100,000 × 384, cpu, against reading as much memory",
			dir:  peers, ours: name(100_000, 1, "rageval"), theirs: name(100_000, 1, "read"), unit: cpu, want: 0.8,
		}, {
			what: "exact search, 500 queries × 100,000 × 384, against chromem-go",
			dir:  peers, ours: name(100_000, 500, "rageval"), theirs: name(100_000, 1, "chromem-go"), unit: wall, want: 50,
		}, {
			what: "exact search, 500 queries × 100,000 × 384, against gonum's Sgemm",
			dir:  peers, ours: name(100_000, 500, "rageval"), theirs: name(100_000, 500, "gonum"), unit: wall, want: 3,
		},
	}
}

func recursive() (rows []row) {
	name := func(impl string, size int) string {
		return fmt.Sprintf("RecursiveCharacter/impl=%s/size=%d/overlap=0", impl, size)
	}
	for _, s := range []struct {
		size int
		want float64
	}{{200, 7}, {400, 4}, {800, 4}} {
		rows = append(rows, row{
			what: fmt.Sprintf("RecursiveCharacter, %d characters, cpu, against langchaingo without positions", s.size),
			dir:  peers, ours: name("rageval", s.size), theirs: name("langchaingo", s.size), unit: "cpu-ns/op", want: s.want,
		})
	}
	for _, size := range []int{200, 400, 800} {
		rows = append(rows, row{
			what: fmt.Sprintf("RecursiveCharacter, %d characters, cpu, time against looking at every byte", size),
			dir:  peers, ours: name("rageval", size), theirs: name("tablescan", size), unit: "cpu-ns/op", slower: true, want: 2.5,
		})
	}
	return append(rows, row{
		what: "RecursiveCharacter, cpu for each byte of 50 MB against 1.4 MB",
		dir:  peers, ours: "RecursiveCharacterGrowth/corpora=35", theirs: "RecursiveCharacterGrowth/corpora=1", unit: "cpu-ns/textbyte", slower: true, want: 1.3,
	})
}

func measures() []row {
	spans := func(retrieved, relevant int, metrics string) string {
		return fmt.Sprintf("TokenScorer/retrieved=%d/relevant=%d/metrics=%s", retrieved, relevant, metrics)
	}
	return []row{
		{
			what: "span recall, precision and IoU, cpu, time of 200 × 40 against 100 × 20 spans",
			dir:  "ragtest", ours: spans(200, 40, "sets"), theirs: spans(100, 20, "sets"), unit: "cpu-ns/op", slower: true, want: 2.5,
		}, {
			what: "span recall, precision and IoU, cpu, time of 800 × 160 against 400 × 80 spans",
			dir:  "ragtest", ours: spans(800, 160, "sets"), theirs: spans(400, 80, "sets"), unit: "cpu-ns/op", slower: true, want: 2.5,
		}, {
			what: "rank metrics of trec_eval, cpu, time against those of aligned grades",
			dir:  "ragtest/trec", ours: "Measures/impl=ids", theirs: "Measures/impl=aligned", unit: "cpu-ns/op", slower: true, want: 4,
		},
	}
}

func evaluations() []row {
	return []row{
		{
			what: "sweep of six configurations, against chromem-go",
			dir:  peers, ours: "Sweep/impl=rageval", theirs: "Sweep/impl=chromem-go", want: 15,
		}, {
			what: "Chroma's evaluation with the hashing embedder, from files to result",
			dir:  "examples/benchmarks", ours: "Chroma", want: 0.35e9,
		}, {
			what: "Chroma's evaluation, cpu of all processors",
			dir:  "examples/benchmarks", ours: "Chroma", unit: "cpu-ns/op", want: 0.35e9,
		}, {
			what: "go test of the quickstart with no test selected, time against an empty package",
			dir:  "examples/benchmarks", ours: "GoTest/package=quickstart", theirs: "GoTest/package=empty", slower: true, want: 1.5,
		}, {
			what: "go test of the quickstart with no test selected, cpu, time against an empty package",
			dir:  "examples/benchmarks", ours: "GoTest/package=quickstart", theirs: "GoTest/package=empty", unit: "cpu-ns/op", slower: true, want: 1.5,
		},
	}
}
