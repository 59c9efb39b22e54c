package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func about(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Quantiles of the tables in every book.
func TestQuantiles(t *testing.T) {
	about(t, "normal 0.975", normalQuantile(0.975), 1.959963984540054, 1e-12)
	about(t, "normal 0.8", normalQuantile(0.8), 0.8416212335729143, 1e-12)
	for _, test := range []struct{ p, freedom, want float64 }{
		{0.975, 1, 12.706204736432095}, {0.95, 1, 6.313751514675043}, {0.975, 2, 4.302652729696142}, {0.975, 10, 2.2281388519649385},
		{0.995, 5, 4.032142983557536}, {0.95, 30, 1.6972608865939587}, {0.975, 1000, 1.9623390808264078},
	} {
		about(t, fmt.Sprintf("student %v with %v", test.p, test.freedom), studentQuantile(test.p, test.freedom), test.want, 1e-9)
	}
}

func TestDeviation(t *testing.T) {
	about(t, "deviation", Deviation([]float64{2, 4, 4, 4, 5, 5, 7, 9}), math.Sqrt(32.0/7), 1e-15)
	about(t, "of one value", Deviation([]float64{3}), 0, 0)
}

func TestWelch(t *testing.T) {
	// Two normal samples: t = 3.1, freedom 27.9 by the formula of Welch and
	// Satterthwaite, computed by hand.
	a, b := Summary{20, 3, 15}, Summary{23, 2.5, 20}
	va, vb := 9.0/15, 6.25/20
	freedom := (va + vb) * (va + vb) / (va*va/14 + vb*vb/19)
	half := studentQuantile(0.975, freedom) * math.Sqrt(va+vb)
	got := Welch(a, b, 0.95)
	about(t, "low", got.Low, 3-half, 1e-12)
	about(t, "high", got.High, 3+half, 1e-12)
	if same := Welch(Summary{1, 0, 5}, Summary{2, 0, 5}, 0.95); same != (Interval{1, 1}) {
		t.Errorf("without spread: got %v, want the difference", same)
	}
}

func TestSignFlipIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := random.IntN(11)
		differences := make([]float64, n)
		sum := 0.0
		for i := range differences {
			differences[i] = float64(random.IntN(9)-4) / 8 // many ties and zeros, exact sums
			sum += differences[i]
		}
		count := 0
		for signs := range 1 << n {
			s := 0.0
			for i, d := range differences {
				if signs>>i&1 == 1 {
					d = -d
				}
				s += d
			}
			if s <= sum {
				count++
			}
		}
		about(t, fmt.Sprint(differences), SignFlip(differences), float64(count)/float64(int(1)<<n), 1e-15)
	}
}

func TestSignFlip(t *testing.T) {
	about(t, "none", SignFlip(nil), 1, 0)
	about(t, "only zeros", SignFlip(make([]float64, 40)), 1, 0)
	about(t, "five losses", SignFlip([]float64{-1, -0.1, -0.3, -0.2, -0.7}), 1.0/32, 0)
	about(t, "20 equal losses", SignFlip(slices.Repeat([]float64{-0.1}, 20)), math.Exp2(-20), 0)
	about(t, "21 equal losses", SignFlip(slices.Repeat([]float64{-0.1}, 21)), 1e-4, 0)
	about(t, "as many gains", SignFlip(append(slices.Repeat([]float64{-0.1}, 50), slices.Repeat([]float64{0.1}, 50)...)), 0.54, 0.02)
	// Among 100 differences of one size and 40 more losses than gains: a binomial
	// tail, P(X >= 70) = 3.9e-5 of 100 fair coins.
	about(t, "70 of 100", SignFlip(append(slices.Repeat([]float64{-0.1}, 70), slices.Repeat([]float64{0.1}, 30)...)), 1e-4, 2e-4)
}

func TestHolm(t *testing.T) {
	// By hand: 0.01·4, 0.02·3, max(0.03·2, 0.06), max(0.04, 0.06).
	got := Holm([]float64{0.04, 0.01, 0.03, 0.02})
	for i, want := range []float64{0.06, 0.04, 0.06, 0.06} {
		about(t, fmt.Sprint(i), got[i], want, 1e-15)
	}
	about(t, "at most 1", Holm([]float64{0.9, 0.8})[1], 1, 0)
	if len(Holm(nil)) != 0 {
		t.Error("Holm(nil) is not empty")
	}
}

// The power of the rule that the minimum detectable loss promises, simulated.
func TestMinimumDetectableLossHasItsPower(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const n, trials, deviation = 100, 300, 0.2
	for _, margin := range []float64{0, 0.05} {
		loss := MinimumDetectableLoss(deviation, n, margin, 0.05)
		found := 0
		for range trials {
			differences := make([]float64, n)
			for i := range differences {
				differences[i] = -loss + deviation*random.NormFloat64()
			}
			if -Mean(differences) > margin && SignFlip(differences) <= 0.05 {
				found++
			}
		}
		about(t, fmt.Sprintf("power with margin %v", margin), float64(found)/trials, 0.8, 0.08)
	}
}

// beta draws from a distribution on [0, 1] like those of recalls: many zeros and
// ones, and some in between.
func drawRecall(random *rand.Rand, mean, between float64) float64 {
	if random.Float64() < between {
		// Uniform on an interval about the mean that stays within [0, 1].
		return mean + (2*random.Float64()-1)*min(mean, 1-mean)
	}
	if random.Float64() < mean {
		return 1
	}
	return 0
}

func TestLowerBoundHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{20, 100} {
		for _, mean := range []float64{0.5, 0.8, 0.9, 0.95, 0.98} {
			for _, between := range []float64{0, 0.5} {
				const trials = 300
				wrong := 0
				for range trials {
					scores := make([]float64, n)
					for i := range scores {
						scores[i] = drawRecall(random, mean, between)
					}
					b := newBettor(scores, n, 0.95)
					if b.capital(mean) >= b.wanted {
						wrong++
					}
				}
				if share := float64(wrong) / trials; share > 0.08 {
					t.Errorf("n = %d, mean %v, %v between: the bound exceeds the mean in %.1f %% of the cases, want about 5 at most", n, mean, between, 100*share)
				}
			}
		}
	}
}

func TestLowerBound(t *testing.T) {
	if got := LowerBound(nil, 0.95); got != 0 {
		t.Errorf("of nothing: got %v, want 0", got)
	}
	random := rand.New(rand.NewPCG(7, 8))
	scores := make([]float64, 472)
	for i := range scores {
		scores[i] = drawRecall(random, 0.8, 0.5)
	}
	for _, test := range []struct {
		name        string
		scores      []float64
		least, most float64
	}{
		{"one score", []float64{1}, 0, 0.1},
		{"all 1", slices.Repeat([]float64{1}, 50), 0.9, 0.96},
		{"all 0", make([]float64, 50), 0, 1e-9},
		{"all equal", slices.Repeat([]float64{0.7}, 200), 0.6, 0.699},
		{"472 recalls", scores, Mean(scores) - 0.05, Mean(scores) - 0.01},
	} {
		if got := LowerBound(test.scores, 0.95); got < test.least || got > test.most {
			t.Errorf("%s: got %v, want %v to %v", test.name, got, test.least, test.most)
		}
	}
	previous := 1.0
	for _, confidence := range []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999} {
		got := LowerBound(scores, confidence)
		if got >= previous {
			t.Errorf("confidence %v: got %v, not below %v of a lower confidence", confidence, got, previous)
		}
		previous = got
	}
	// It does not matter who scored what, on average, but the bound is a function of
	// the order: reordering moves it a little.
	about(t, "reversed", LowerBound(reversed(scores), 0.95), LowerBound(scores, 0.95), 0.005)
}

func reversed(values []float64) []float64 {
	values = slices.Clone(values)
	slices.Reverse(values)
	return values
}

func TestScoresNeeded(t *testing.T) {
	scores := append(slices.Repeat([]float64{1}, 45), slices.Repeat([]float64{0}, 5)...)
	if got := LowerBound(scores, 0.95); got >= 0.85 {
		t.Fatalf("got the bound %v, want below 0.85", got)
	}
	n, ok := ScoresNeeded(scores, 0.95, 0.85)
	if !ok || n <= 50 || n > 1000 {
		t.Fatalf("got %d, %v, want some hundred", n, ok)
	}
	more := make([]float64, n)
	for i := range more {
		more[i] = scores[i%len(scores)]
	}
	if got := LowerBound(more, 0.95); got < 0.84 {
		t.Errorf("with %d scores the bound is %v, want about 0.85", n, got)
	}
	if n, ok := ScoresNeeded(scores, 0.95, 0.9); ok {
		t.Errorf("for the mean itself: got %d, want never", n)
	}
	if n, ok := ScoresNeeded(scores, 0.95, 0); !ok || n != 50 {
		t.Errorf("for 0: got %d, %v, want those there are", n, ok)
	}
}

func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, test := range []struct {
		n    int
		mean float64
	}{{50, 0.5}, {50, 0.8}, {200, 0.9}} {
		const trials = 200
		covered := 0
		for range trials {
			scores := make([]float64, test.n)
			for i := range scores {
				scores[i] = drawRecall(random, test.mean, 0.5)
			}
			if i := Bootstrap([][]float64{scores}, 0.95)[0]; i.Low <= test.mean && test.mean <= i.High {
				covered++
			}
		}
		if share := float64(covered) / trials; share < 0.9 || share > 0.99 {
			t.Errorf("n = %d, mean %v: the intervals cover the mean in %.1f %% of the cases, want about 95", test.n, test.mean, 100*share)
		}
	}
}

func TestBootstrap(t *testing.T) {
	if got := Bootstrap(nil, 0.95); len(got) != 0 {
		t.Errorf("of no columns: got %v", got)
	}
	got := Bootstrap([][]float64{{1, 1, 1, 1}, {0, 0, 1, 1}, {0, 0.1, 0.2, 0.3}}, 0.95)
	if got[0] != (Interval{1, 1}) {
		t.Errorf("of equal values: got %v, want the mean", got[0])
	}
	if i := got[1]; i.Low > 0.25 || i.High < 0.75 || i.Low < 0 || i.High > 1 {
		t.Errorf("of two zeros and two ones: got %v", i)
	}
	alone := Bootstrap([][]float64{{0, 0.1, 0.2, 0.3}}, 0.95)
	if alone[0] != got[2] {
		t.Errorf("a column alone has the interval %v, and among others %v", alone[0], got[2])
	}
	// A normal sample: BCa agrees with Student's interval.
	random := rand.New(rand.NewPCG(11, 12))
	values := make([]float64, 300)
	for i := range values {
		values[i] = 0.5 + 0.1*random.NormFloat64()
	}
	half := studentQuantile(0.975, 299) * Deviation(values) / math.Sqrt(300)
	i := Bootstrap([][]float64{values}, 0.95)[0]
	about(t, "low", i.Low, Mean(values)-half, 0.1*half)
	about(t, "high", i.High, Mean(values)+half, 0.1*half)
}

func TestBootstrapScores(t *testing.T) {
	mixed := []float64{0, 0.5, 1, 1, 1, 0.25, 1, 0.75}
	plain, scores := Bootstrap([][]float64{mixed}, 0.95)[0], BootstrapScores([][]float64{mixed}, 0.95)[0]
	if scores.High != plain.High || scores.Low > plain.Low || scores.Low < plain.Low-0.2 {
		t.Errorf("got %v, want the high end of %v and a low end a little lower", scores, plain)
	}
	got := BootstrapScores([][]float64{slices.Repeat([]float64{1}, 50), make([]float64, 50), slices.Repeat([]float64{0.1}, 50)}, 0.95)
	if i := got[0]; i.Low < 0.85 || i.Low > 0.95 || i.High != 1 {
		t.Errorf("of 50 scores of 1: got %v, want a low end of about 0.9", i)
	}
	if got[1] != (Interval{}) {
		t.Errorf("of 50 scores of 0: got %v, want no more than that", got[1])
	}
	if i := got[2]; i.Low < 0.085 || i.Low > 0.095 || i.High != 0.1 {
		t.Errorf("of 50 scores of 0.1: got %v, want a low end of about 0.09", i)
	}
	if got := BootstrapScores([][]float64{{0.7}}, 0.95)[0]; got != (Interval{0.7, 0.7}) {
		t.Errorf("of one score: got %v, want the score", got)
	}
	if got := BootstrapScores([][]float64{{}}, 0.95); len(got) != 1 || len(BootstrapScores(nil, 0.95)) != 0 {
		t.Errorf("without scores: got %v", got)
	}
}

// One score in twenty is 0 and the others high: one sample in thirteen has none, and
// its resamples know of none.
func TestBootstrapScoresCoverWhatWasNotSeen(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	const trials, n, mean = 400, 50, 0.9
	covered, plainly := 0, 0
	for range trials {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = drawRecall(random, mean, 0.5)
		}
		covers := func(i Interval) bool { return i.Low <= mean && mean <= i.High }
		if covers(BootstrapScores([][]float64{scores}, 0.95)[0]) {
			covered++
		}
		if covers(Bootstrap([][]float64{scores}, 0.95)[0]) {
			plainly++
		}
	}
	if covered < 0.95*trials || plainly > 0.94*trials {
		t.Errorf("of %d intervals %d cover the mean, %d of those of resamples alone; want 97.6 and 90.8 %%", trials, covered, plainly)
	}
}

func TestTukeyHSD(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	const n = 60
	rows := make([][]float64, 3)
	for q := range n {
		hard := random.Float64() / 2
		rows[0] = append(rows[0], hard+0.1*random.Float64())
		rows[1] = append(rows[1], hard+0.1*random.Float64())
		rows[2] = append(rows[2], hard+0.1+0.1*random.Float64())
		_ = q
	}
	p := TukeyHSD(rows)
	if p[0][1] < 0.05 || p[0][2] > 0.001 || p[1][2] > 0.001 {
		t.Errorf("got %v, want only the third to differ", p)
	}
	for i := range p {
		for j := range p {
			if p[i][j] != p[j][i] || i == j && p[i][j] != 1 {
				t.Errorf("p is not symmetric with a diagonal of 1: %v", p)
			}
		}
	}
	same := TukeyHSD([][]float64{rows[0], rows[0]})
	about(t, "equal runs", same[0][1], 1, 0)
	if len(TukeyHSD(nil)) != 0 {
		t.Error("TukeyHSD(nil) is not empty")
	}
	// Of two runs it is the two-sided sign-flip test.
	differences := make([]float64, n)
	for i := range differences {
		differences[i] = rows[0][i] - rows[1][i]
	}
	one := SignFlip(differences)
	about(t, "two runs", TukeyHSD(rows[:2])[0][1], 2*min(one, 1-one), 0.03)
}

// False alarms of the Tukey test among exchangeable runs.
func TestTukeyHSDFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	random := rand.New(rand.NewPCG(15, 16))
	const trials, n, runs = 60, 20, 4
	alarms := 0
	for range trials {
		rows := make([][]float64, runs)
		for r := range rows {
			for range n {
				rows[r] = append(rows[r], drawRecall(random, 0.7, 0.5))
			}
		}
		p := TukeyHSD(rows)
		for i := range runs {
			if slices.ContainsFunc(p[i], func(x float64) bool { return x <= 0.05 }) {
				alarms++
				break
			}
		}
	}
	if alarms > 9 { // 3 expected; 10 or more have a probability of 0.0005
		t.Errorf("got %d false alarms in %d trials, want about 3", alarms, trials)
	}
}

func TestSignFlipFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	const trials = 400
	alarms := 0
	for range trials {
		differences := make([]float64, 50)
		for i := range differences {
			if random.Float64() < 0.6 {
				differences[i] = drawRecall(random, 0.8, 0.5) - drawRecall(random, 0.8, 0.5)
			}
		}
		if SignFlip(differences) <= 0.05 {
			alarms++
		}
	}
	if alarms > 36 { // 20 expected, standard deviation 4.4
		t.Errorf("got %d false alarms in %d trials, want about 20", alarms, trials)
	}
}

func BenchmarkBootstrap(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	columns := make([][]float64, 3)
	for c := range columns {
		for range 472 {
			columns[c] = append(columns[c], random.Float64())
		}
	}
	for _, of := range []struct {
		name string
		f    func([][]float64, float64) []Interval
	}{{"values", Bootstrap}, {"scores", BootstrapScores}} {
		b.Run(of.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				of.f(columns, 0.95)
			}
		})
	}
}

func BenchmarkLowerBound(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	scores := make([]float64, 472)
	for i := range scores {
		scores[i] = random.Float64()
	}
	b.ReportAllocs()
	for b.Loop() {
		LowerBound(scores, 0.95)
	}
}

func BenchmarkSignFlip(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	differences := make([]float64, 472)
	for i := range differences {
		differences[i] = random.NormFloat64()
	}
	b.ReportAllocs()
	for b.Loop() {
		SignFlip(differences)
	}
}
