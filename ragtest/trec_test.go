package ragtest

import (
	"bufio"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
)

// trecQuery is a judged query with its run, document IDs mapped to chunk IDs.
type trecQuery struct {
	outcome ChunkOutcome
	oneGain bool // all relevant documents have the same grade
}

// fieldsOf calls f with the fields of each line.
func fieldsOf(t *testing.T, name string, f func(fields []string)) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		f(strings.Fields(lines.Text()))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// readTREC reads judgments and run. As in trec_eval, a run is ordered by score,
// ties by document ID, both descending, and the rank column is ignored.
func readTREC(t *testing.T, dir string) map[string]trecQuery {
	t.Helper()
	type ranked struct {
		doc   string
		score float64
	}
	runs := map[string][]ranked{}
	fieldsOf(t, filepath.Join(dir, "run.txt"), func(f []string) {
		score, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		runs[f[0]] = append(runs[f[0]], ranked{f[2], score})
	})
	queries := map[string]trecQuery{}
	grades := map[string]string{}
	fieldsOf(t, filepath.Join(dir, "qrels.txt"), func(f []string) {
		q, ok := queries[f[0]]
		if !ok {
			q.oneGain = true
			run := runs[f[0]]
			slices.SortFunc(run, func(a, b ranked) int {
				return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(b.doc, a.doc))
			})
			for _, r := range run {
				q.outcome.Retrieved = append(q.outcome.Retrieved, chunkers.NewChunkID(r.doc))
			}
		}
		if f[3] != "0" {
			q.outcome.Relevant = append(q.outcome.Relevant, chunkers.NewChunkID(f[2]))
			q.oneGain = q.oneGain && (grades[f[0]] == "" || grades[f[0]] == f[3])
			grades[f[0]] = f[3]
		}
		queries[f[0]] = q
	})
	return queries
}

// NIST's trec_eval is the reference of the chunk-level metrics, where both
// define the same:
//
//   - recall_k, map_cut_k, success_k: everywhere, but that trec_eval's recall is
//     0, not 1, where nothing is relevant;
//   - recip_rank, map, set_recall: at the length of the run;
//   - set_P, set_F: at the length of the run, for both divide by what was
//     retrieved; P_k divides by k, so that it is compared as P_k · k / retrieved;
//   - ndcg_cut_k and ndcg: where all relevant documents have one grade, since
//     trec_eval takes grades as gains and ours are binary, which is the same up
//     to a constant that the ideal cancels.
//
// Queries without a run are not in the one file and count as 0 in the other.
func TestChunkMetricsAgainstTrecEval(t *testing.T) {
	dir := realdata.Dir(t, "data", "trec")
	queries := readTREC(t, dir)
	compared := map[string]int{}
	fieldsOf(t, filepath.Join(dir, "expected_c.txt"), func(f []string) {
		measure, query := f[0], f[1]
		q, ok := queries[query]
		if !ok { // the means
			return
		}
		name, cut := measure, len(q.outcome.Retrieved)
		if at := strings.LastIndexByte(measure, '_'); at >= 0 {
			if k, err := strconv.Atoi(measure[at+1:]); err == nil {
				name, cut = measure[:at], k
			}
		}
		metric, ok := map[string]ChunkMetric{
			"recall": ChunkRecall, "set_recall": ChunkRecall,
			"P": ChunkPrecision, "set_P": ChunkPrecision,
			"set_F":   ChunkF1,
			"success": ChunkHitRate, "recip_rank": ChunkMRR,
			"map": ChunkMAP, "map_cut": ChunkMAP,
			"ndcg": ChunkNDCG, "ndcg_cut": ChunkNDCG,
		}[name]
		if !ok {
			return
		}
		want, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		tolerance := 0.5e-4 + 1e-9 // four decimals are printed
		switch name {
		case "recall", "set_recall":
			if len(q.outcome.Relevant) == 0 {
				want = 1
			}
		case "P":
			if retrieved := min(cut, len(q.outcome.Retrieved)); retrieved > 0 {
				scale := float64(cut) / float64(retrieved)
				want *= scale
				tolerance *= scale
			}
		case "ndcg":
			// Its ideal has as many ranks as there are relevant documents.
			if cut < len(q.outcome.Relevant) {
				cut = len(q.outcome.Relevant)
			}
			fallthrough
		case "ndcg_cut":
			if !q.oneGain || len(q.outcome.Relevant) == 0 {
				return
			}
		}
		compared[name]++
		if got := metric.At(cut).Of(q.outcome); math.Abs(got-want) > tolerance {
			t.Errorf("%s of query %s: got %.6f, want %.4f", measure, query, got, want)
		}
	})
	t.Logf("compared values: %v", compared)
	for name, least := range map[string]int{
		"recall": 9 * 80, "P": 9 * 80, "map_cut": 9 * 80, "success": 3 * 80, "ndcg_cut": 9 * 14, "ndcg": 14,
		"recip_rank": 80, "map": 80, "set_recall": 80, "set_P": 80, "set_F": 80,
	} {
		if compared[name] < least {
			t.Errorf("%s: compared %d values, want at least %d", name, compared[name], least)
		}
	}
}
