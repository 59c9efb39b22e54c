package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/internal/stats"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

// The simulations behind what the documentation says of false claims, coverage,
// false alarms and power. They are benchmarks, which report percentages, and take
// about five minutes; so they run when asked for:
//
//	RAGTEST_SIMULATE=1 go test -run '^$' -bench Simulat -benchtime 1x ./internal/stats

func simulating(b *testing.B) {
	b.Helper()
	if os.Getenv("RAGTEST_SIMULATE") == "" {
		b.Skip("RAGTEST_SIMULATE is not set: not simulating for minutes")
	}
}

// simulatedSizes are the numbers of queries.
var simulatedSizes = []int{50, 200, 472}

// population is a distribution of scores with a known mean.
type population struct {
	name string
	mean float64
	draw func(random *rand.Rand) float64
}

func populations(b *testing.B) []population {
	var list []population
	for _, mean := range []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98} {
		for _, between := range []float64{0, 0.5} {
			list = append(list, population{fmt.Sprintf("mean=%v/between=%v", mean, between), mean,
				func(random *rand.Rand) float64 { return stats.DrawRecall(random, mean, between) }})
		}
	}
	if os.Getenv("RAGTEST_DATA") == "" {
		b.Log("without RAGTEST_DATA: no recalls of Chroma's queries")
		return list
	}
	for _, size := range []int{400, 800} {
		for name, recalls := range chromaRecalls(b, size) {
			list = append(list, population{fmt.Sprintf("chroma/%s/size=%d", name, size), stats.Mean(recalls),
				func(random *rand.Rand) float64 { return recalls[random.IntN(len(recalls))] }})
		}
	}
	return list
}

// chromaRecalls returns the recalls of Chroma's 472 questions.
func chromaRecalls(b *testing.B, size int) func(yield func(string, []float64) bool) {
	collection, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(b, "data", "chroma")))
	if err != nil {
		b.Fatal(err)
	}
	return func(yield func(string, []float64) bool) {
		for _, name := range []string{"bm25", "embedder"} {
			e := ragtest.TokenLevel{Corpus: collection.Corpus, Queries: collection.Queries, Chunker: chunkers.RecursiveCharacter{Size: size}}
			if name == "bm25" {
				e.Retriever = lexical.NewBM25[chunkers.PositionAwareChunk]()
			} else {
				e.Embedder = lexical.Embedder{}
			}
			r, err := e.Evaluate(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			recalls := make([]float64, len(r.Queries))
			for i, q := range r.Queries {
				recalls[i], _ = q.Score("span_recall")
			}
			if !yield(name, recalls) {
				return
			}
		}
	}
}

func draws(random *rand.Rand, n int, draw func(*rand.Rand) float64) []float64 {
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = draw(random)
	}
	return scores
}

// How often WithConfidence(0.95) claims more than the true mean: at most 6 % is
// wanted. percentile-% is how often the one-sided percentile bootstrap does.
func BenchmarkSimulatedFalseClaims(b *testing.B) {
	simulating(b)
	const trials = 2000
	for _, p := range populations(b) {
		for _, n := range simulatedSizes {
			b.Run(fmt.Sprintf("%s/n=%d", p.name, n), func(b *testing.B) {
				random := rand.New(rand.NewPCG(1, uint64(n)))
				wrong, all := 0, 0
				for b.Loop() {
					for range trials {
						all++
						if stats.Claims(draws(random, n, p.draw), 0.95, math.Nextafter(p.mean, 2)) {
							wrong++
						}
					}
				}
				share := 100 * float64(wrong) / float64(all)
				b.ReportMetric(share, "false-%")
				if share > 6 {
					b.Errorf("%.2f %% of the claims are false, want at most 6", share)
				}
			})
		}
	}
}

// How often the 95 % BCa interval of scores covers the true mean: at least 93 % is wanted for
// means up to 0.9.
func BenchmarkSimulatedCoverage(b *testing.B) {
	simulating(b)
	const trials = 1000
	for _, p := range populations(b) {
		for _, n := range simulatedSizes {
			b.Run(fmt.Sprintf("%s/n=%d", p.name, n), func(b *testing.B) {
				random := rand.New(rand.NewPCG(2, uint64(n)))
				covered, all := 0, 0
				for b.Loop() {
					columns := make([][]float64, 4) // several at once are faster
					for range trials / len(columns) {
						for c := range columns {
							columns[c] = draws(random, n, p.draw)
						}
						for _, i := range stats.BootstrapScores(columns, 0.95) {
							all++
							if i.Low <= p.mean && p.mean <= i.High {
								covered++
							}
						}
					}
				}
				share := 100 * float64(covered) / float64(all)
				b.ReportMetric(share, "covered-%")
				if p.mean <= 0.9 && share < 93 {
					b.Errorf("%.2f %% of the intervals cover the mean, want at least 93", share)
				}
			})
		}
	}
}

// exchangeable returns the differences by three related metrics of two runs of which
// it does not matter which is which: a share of the queries is retrieved for anew.
func exchangeable(random *rand.Rand, n int, changed float64, draw func(*rand.Rand) float64) [][]float64 {
	differences := [][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		if random.Float64() >= changed {
			continue
		}
		before, after := draw(random), draw(random)
		precision := [2]float64{before * (0.1 + 0.4*random.Float64()), after * (0.1 + 0.4*random.Float64())}
		differences[0][i] = after - before
		differences[1][i] = precision[1] - precision[0]
		differences[2][i] = 0.9 * (precision[1] - precision[0])
	}
	return differences
}

// alarm reports whether the gate of a baseline without a margin finds a regression.
func alarm(differences [][]float64) bool {
	p := make([]float64, len(differences))
	for i, d := range differences {
		p[i] = stats.SignFlip(d)
	}
	adjusted := stats.Holm(p)
	return slices.ContainsFunc(adjusted, func(p float64) bool { return p <= 0.05 })
}

// How often a baseline's gate, by three metrics, raises a false alarm over 10,000
// pairs of runs: at most 6 % is wanted.
func BenchmarkSimulatedFalseAlarms(b *testing.B) {
	simulating(b)
	const pairs = 10000
	for _, changed := range []float64{0.05, 0.3, 1} {
		for _, n := range simulatedSizes {
			b.Run(fmt.Sprintf("changed=%v/n=%d", changed, n), func(b *testing.B) {
				random := rand.New(rand.NewPCG(3, uint64(n)))
				alarms, all := 0, 0
				for b.Loop() {
					for range pairs {
						all++
						if alarm(exchangeable(random, n, changed, func(random *rand.Rand) float64 { return stats.DrawRecall(random, 0.8, 0.5) })) {
							alarms++
						}
					}
				}
				share := 100 * float64(alarms) / float64(all)
				b.ReportMetric(share, "alarms-%")
				if share > 6 {
					b.Errorf("%.2f %% of the pairs raise an alarm, want at most 6", share)
				}
			})
		}
	}
}

// How often the gate finds a mean loss of recall: some queries lose all of theirs,
// while a tenth of all is retrieved for anew.
func BenchmarkSimulatedPower(b *testing.B) {
	simulating(b)
	const trials = 1000
	for _, loss := range []float64{0.01, 0.02, 0.03, 0.05, 0.08, 0.12} {
		for _, n := range simulatedSizes {
			b.Run(fmt.Sprintf("loss=%v/n=%d", loss, n), func(b *testing.B) {
				random := rand.New(rand.NewPCG(4, uint64(n)))
				found, all := 0, 0
				draw := func(random *rand.Rand) float64 { return stats.DrawRecall(random, 0.8, 0.5) }
				for b.Loop() {
					for range trials {
						differences := make([]float64, n)
						for i := range differences {
							before := draw(random)
							after := before
							if random.Float64() < 0.1 {
								after = draw(random)
							}
							if random.Float64() < loss/0.8 {
								after = 0
							}
							differences[i] = after - before
						}
						all++
						if alarm([][]float64{differences}) {
							found++
						}
					}
				}
				b.ReportMetric(100*float64(found)/float64(all), "found-%")
			})
		}
	}
}
