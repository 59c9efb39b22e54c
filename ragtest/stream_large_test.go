package ragtest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// syntheticCorpus is a corpus that is made as it is read.
type syntheticCorpus struct {
	documents, chunks int // chunks of each document
	dim               int
}

const syntheticChunk = 64 // characters

// Every tenth document has chunks of the document before.
func (c syntheticCorpus) document(i int) (*spans.Document, error) {
	source := i
	if i%10 == 9 {
		source--
	}
	r := rand.New(rand.NewPCG(uint64(source), 77))
	var b strings.Builder
	for b.Len() < c.chunks*syntheticChunk {
		fmt.Fprintf(&b, "%x ", r.Uint32N(1<<20))
	}
	return spans.NewDocument(spans.DocumentID(fmt.Sprintf("%08d", i)), b.String()[:c.chunks*syntheticChunk], nil)
}

func (c syntheticCorpus) all() iter.Seq2[*spans.Document, error] {
	return func(yield func(*spans.Document, error) bool) {
		for i := range c.documents {
			if !yield(c.document(i)) {
				return
			}
		}
	}
}

// Embed gives each text a vector of its own.
func (c syntheticCorpus) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	all := make([]float32, len(texts)*c.dim)
	for i, text := range texts {
		sum := sha256.Sum256([]byte(text))
		state := binary.LittleEndian.Uint64(sum[:]) | 1
		vectors[i] = all[i*c.dim : (i+1)*c.dim : (i+1)*c.dim]
		for j := range vectors[i] {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			vectors[i][j] = float32(int32(state>>32)) * 0x1p-31
		}
	}
	return vectors, nil
}

func (c syntheticCorpus) evaluation() ragtest.TokenLevel {
	e := ragtest.TokenLevel{Name: "large", Chunker: chunkers.FixedSize{Size: syntheticChunk}, Embedder: c, K: 10}
	for i := range 50 {
		d := spans.DocumentID(fmt.Sprintf("%08d", i*c.documents/50))
		e.Queries = append(e.Queries, ragtest.TokenQuery{Query: ragtest.Query{Text: fmt.Sprint("query ", i)},
			Relevant: []spans.Span{{Doc: d, Start: 100, End: 300}}})
	}
	return e
}

// vectorBytes is how much memory the vectors would take.
func (c syntheticCorpus) vectorBytes() int64 {
	return int64(c.documents) * int64(c.chunks) * int64(c.dim) * 4
}

const largeChild = "RAGTEST_LARGE_CHILD" // what the test binary does when it runs itself: "stream" or "memory"

// TestStreamIsBoundedInMemory evaluates a corpus whose vectors do not fit into the
// memory that it has, in another process, and compares the result with the one that all
// memory gives. With RAGTEST_LARGE=1 they take 5 GiB, and it has 1 GiB.
func TestStreamIsBoundedInMemory(t *testing.T) {
	c := syntheticCorpus{documents: 640, chunks: 256, dim: 256}
	if raceDetector {
		c.documents = 80
	}
	limit := int64(128 << 20)
	if os.Getenv("RAGTEST_LARGE") == "1" {
		c = syntheticCorpus{documents: 5120, chunks: 256, dim: 1024}
		limit = 1 << 30
	}
	switch os.Getenv(largeChild) {
	case "stream":
		report(t, func() (*ragtest.Result, error) { return c.evaluation().EvaluateStream(t.Context(), c.all()) })
		return
	case "memory":
		report(t, func() (*ragtest.Result, error) {
			var docs []*spans.Document
			for doc, err := range c.all() {
				if err != nil {
					return nil, err
				}
				docs = append(docs, doc)
			}
			var err error
			e := c.evaluation()
			if e.Corpus, err = spans.NewCorpus(docs...); err != nil {
				return nil, err
			}
			return e.Evaluate(t.Context())
		})
		return
	}
	if testing.Short() {
		t.Skip("skipped with -short: takes some seconds")
	}
	if runtime.GOOS != "linux" {
		t.Skip("skipped: only Linux tells the highest memory of a process")
	}
	streamed, peak := runSelf(t, "stream", limit)
	inMemory, all := runSelf(t, "memory", 0)
	if streamed != inMemory {
		t.Errorf("the results have the hashes %s streamed and %s in memory", streamed, inMemory)
	}
	t.Logf("%d vectors of %d components, %d MiB: the process that streamed them took %d MiB of memory at most, that with all in memory %d MiB",
		c.documents*c.chunks, c.dim, c.vectorBytes()>>20, peak>>20, all>>20)
	if raceDetector {
		t.Log("the race detector takes several times the memory: the limit is not judged")
		return
	}
	if peak > limit {
		t.Errorf("the process took %d MiB of memory at most, want no more than %d", peak>>20, limit>>20)
	}
	if all < c.vectorBytes() {
		t.Errorf("in memory the process took %d MiB at most, want at least the %d of the vectors", all>>20, c.vectorBytes()>>20)
	}
}

var childReport = regexp.MustCompile(`result ([0-9a-f]{64}) peak ([0-9]+)`)

// runSelf runs the test in another process, with a soft limit of memory if it is not 0.
func runSelf(t *testing.T, what string, limit int64) (result string, peak int64) {
	t.Helper()
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), largeChild+"="+what)
	if limit > 0 {
		cmd.Env = append(cmd.Env, "GOMEMLIMIT="+strconv.FormatInt(limit*9/10, 10))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, &out)
	}
	found := childReport.FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("%s: no result in\n%s", what, &out)
	}
	peak, err := strconv.ParseInt(found[2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
	return found[1], peak
}

// report prints the hash of a result, and the highest memory of the process.
func report(t *testing.T, evaluate func() (*ragtest.Result, error)) {
	t.Helper()
	r, err := evaluate()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s*([0-9]+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatal("the system does not tell the highest memory")
	}
	kB, err := strconv.ParseInt(string(peak[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("result %s peak %d\n", hex.EncodeToString(sum[:]), kB<<10)
}
