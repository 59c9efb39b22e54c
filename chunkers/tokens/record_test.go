package tokens

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
)

// record is what testdata/record/record.mjs recorded.
type record struct {
	Texts []struct {
		Text          string
		CL100K, O200K []int // lengths of tokens in bytes
		BERT          []int // IDs of tokens
	}
	Tokens []struct {
		Corpus, Encoding string
		digest
	}
	Recursive []struct {
		Corpus        string
		Size, Overlap int
		Separators    []string
		digest
	}
	Windows []struct {
		Corpus, Encoding string
		Size, Overlap    int
		digest
	}
}

// digest is a number of tokens or chunks, and a hash of them.
type digest struct {
	Count  int
	SHA256 string
}

func readRecord(t *testing.T) (r record) {
	t.Helper()
	content, err := os.ReadFile("testdata/record.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatalf("testdata/record.json: %v", err)
	}
	if len(r.Texts) == 0 || len(r.Tokens) == 0 || len(r.Recursive) == 0 || len(r.Windows) == 0 {
		t.Fatal("testdata/record.json holds no records")
	}
	return r
}

// digestOf returns the digest of the items of each text.
func digestOf[T int | string](texts []string, of func(text string) []T) (d digest) {
	hash := sha256.New()
	write := func(n int) { hash.Write(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	for _, text := range texts {
		items := of(text)
		d.Count += len(items)
		write(len(items))
		for _, item := range items {
			switch item := any(item).(type) {
			case int:
				write(item)
			case string:
				write(len(item))
				hash.Write([]byte(item))
			}
		}
	}
	d.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return d
}

// corpusTexts returns the text of a Markdown file, or the paragraphs of a file
// in SQuAD's format.
func corpusTexts(tb testing.TB, corpus string) (texts []string) {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(realdata.Dir(tb, "data"), filepath.FromSlash(corpus)))
	if err != nil {
		tb.Fatal(err)
	}
	if strings.HasSuffix(corpus, ".md") {
		return []string{string(content)}
	}
	var squad struct {
		Data []struct{ Paragraphs []struct{ Context string } }
	}
	if err := json.Unmarshal(content, &squad); err != nil {
		tb.Fatalf("%s: %v", corpus, err)
	}
	for _, article := range squad.Data {
		for _, paragraph := range article.Paragraphs {
			texts = append(texts, paragraph.Context)
		}
	}
	return texts
}

var bert = sync.OnceValues(func() (*WordPiece, error) {
	root := os.Getenv("RAGTEST_DATA")
	content, err := os.ReadFile(filepath.Join(root, "models", "bert-base-uncased-tokenizer", "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	return NewWordPiece("bert", content)
})

// realBERT returns the tokenizer of bert-base-uncased and all-MiniLM-L6-v2.
func realBERT(tb testing.TB) *WordPiece {
	tb.Helper()
	realdata.Dir(tb, "models", "bert-base-uncased-tokenizer")
	w, err := bert()
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func tokenLengths(t Tokenizer, text string) []int {
	lengths := []int{}
	for start, end := range t.Tokens(text) {
		lengths = append(lengths, end-start)
	}
	return lengths
}

func tokenIDs(w *WordPiece, text string) []int { return w.AppendIDs([]int{}, text) }

func TestEncodingsGiveTheirTokens(t *testing.T) {
	for _, r := range readRecord(t).Texts {
		for encoding, want := range map[Encoding][]int{CL100K: r.CL100K, O200K: r.O200K} {
			if diff := cmp.Diff(want, tokenLengths(encoding, r.Text)); diff != "" {
				t.Errorf("lengths of the %v tokens of %q (-js-tiktoken, +ours):\n%s", encoding, r.Text, diff)
			}
		}
	}
}

func TestWordPieceGivesItsTokens(t *testing.T) {
	w := realBERT(t)
	for _, r := range readRecord(t).Texts {
		if diff := cmp.Diff(r.BERT, tokenIDs(w, r.Text)); diff != "" {
			t.Errorf("IDs of the tokens of %q (-@huggingface/tokenizers, +ours):\n%s", r.Text, diff)
		}
		checkTokenizer(t, &w.ModelTokenizer, r.Text)
	}
}

func TestTokensOfRealText(t *testing.T) {
	w := realBERT(t)
	for _, r := range readRecord(t).Tokens {
		of := func(text string) []int { return tokenIDs(w, text) }
		if r.Encoding != "bert" {
			encoding := mustEncoding(t, r.Encoding)
			of = func(text string) []int { return tokenLengths(encoding, text) }
		}
		if got := digestOf(corpusTexts(t, r.Corpus), of); got != r.digest {
			t.Errorf("%s tokens of %s: got %v, recorded %v", r.Encoding, r.Corpus, got, r.digest)
		}
		if r.Encoding == "bert" {
			for _, text := range corpusTexts(t, r.Corpus) {
				checkTokenizer(t, &w.ModelTokenizer, text)
			}
		}
	}
}

func mustEncoding(t *testing.T, name string) Encoding {
	t.Helper()
	encoding, err := ParseEncoding(name)
	if err != nil {
		t.Fatal(err)
	}
	return encoding
}

// Real text gives the chunks that LangChain makes with js-tiktoken.
func TestRecursiveCharacterGivesLangChainsChunks(t *testing.T) {
	for _, r := range readRecord(t).Recursive {
		c := chunkers.RecursiveCharacter{
			Size: r.Size, Overlap: r.Overlap, Separators: r.Separators, Length: Length(CL100K), Trim: true,
		}
		got := digestOf(corpusTexts(t, r.Corpus), func(text string) []string { return mustChunk(t, c, text) })
		if got != r.digest {
			t.Errorf("%v of %s: got %v, LangChain makes %v", c, r.Corpus, got, r.digest)
		}
	}
}

func TestFixedTokenGivesLangChainsWindows(t *testing.T) {
	for _, r := range readRecord(t).Windows {
		c := FixedToken{Tokens: r.Size, Overlap: r.Overlap, Encoding: mustEncoding(t, r.Encoding)}
		got := digestOf(corpusTexts(t, r.Corpus), func(text string) []string { return mustChunk(t, c, text) })
		if got != r.digest {
			t.Errorf("%v of %s: got %v, LangChain makes %v", c, r.Corpus, got, r.digest)
		}
	}
}

func mustChunk(t *testing.T, c chunkers.Chunker, text string) []string {
	t.Helper()
	texts, err := c.Chunk(t.Context(), text)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	return texts
}
