package chunkers

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/realdata"
)

// langchainGolden is what testdata/langchain/split.mjs records.
type langchainGolden struct {
	Languages map[string][]string // lists of separators
	Texts     map[string]string
	Cases     []struct {
		Text string // key of Texts
		langchainSettings
		Chunks []string
	}
	Corpora []struct {
		Corpus string
		langchainSettings
		Chunks int
		SHA256 string
	}
}

type langchainSettings struct {
	Size, Overlap int
	Separators    []string
	Length        string
	Keep          string
}

func readLangchainGolden(t *testing.T) (golden langchainGolden) {
	t.Helper()
	b, err := os.ReadFile("testdata/langchain.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) == 0 || len(golden.Corpora) == 0 {
		t.Fatal("testdata/langchain.json holds no records")
	}
	return golden
}

// chunkers returns the chunker with these settings that trims, and the one
// that does not.
func (s langchainSettings) chunkers(t *testing.T) (trimming, untrimmed RecursiveCharacter) {
	t.Helper()
	lengths := map[string]Length{
		"characters": {},
		"bytes":      {Name: "bytes", Of: func(s string) int { return len(s) }},
		"letters": {Name: "letters", Of: func(s string) (n int) {
			for i := range len(s) {
				if 'a' <= s[i] && s[i] <= 'z' {
					n++
				}
			}
			return n
		}},
	}
	length, ok := lengths[s.Length]
	if !ok {
		t.Fatalf("length %q in testdata/langchain.json: want one of characters, bytes, letters", s.Length)
	}
	keep, err := ParseKeepSeparator(s.Keep)
	if err != nil {
		t.Fatalf("testdata/langchain.json: %v", err)
	}
	c := RecursiveCharacter{Size: s.Size, Overlap: s.Overlap, Separators: s.Separators, KeepSeparator: keep, Length: length}
	trimming = c
	trimming.Trim = true
	return trimming, c
}

func TestRecursiveCharacterGivesLangChainsChunks(t *testing.T) {
	golden := readLangchainGolden(t)
	for _, c := range golden.Cases {
		trimming, untrimmed := c.chunkers(t)
		for _, chunker := range []RecursiveCharacter{trimming, untrimmed} {
			t.Run(c.Text+"/"+chunker.String(), func(t *testing.T) {
				got := trimmedTexts(mustCut(t, chunker, golden.Texts[c.Text]), !chunker.Trim)
				if chunker.KeepSeparator == KeepNone {
					got = asLangChainJoins(chunker, got, c.Chunks)
				}
				if diff := gocmp.Diff(c.Chunks, got); diff != "" {
					t.Errorf("chunks of %q (-LangChain, +ours):\n%s", golden.Texts[c.Text], diff)
				}
			})
		}
	}
}

// asLangChainJoins returns the chunks with a separator that the text repeats
// once where LangChain, which joins parts by one, has it once: a chunk of
// LangChain's takes the place of ours if the two differ in nothing else.
func asLangChainJoins(c RecursiveCharacter, got, langchain []string) []string {
	got = slices.Clone(got)
	for i := range min(len(got), len(langchain)) {
		for _, sep := range c.Separators {
			once := got[i]
			for sep != "" && strings.Contains(once, sep+sep) {
				once = strings.ReplaceAll(once, sep+sep, sep)
			}
			if once == langchain[i] {
				got[i] = once
			}
		}
	}
	return got
}

func TestSeparatorsAreLangChains(t *testing.T) {
	names := map[string]string{"js": "javascript"} // where ours differ
	golden := readLangchainGolden(t)
	if len(golden.Languages) == 0 {
		t.Fatal("testdata/langchain.json holds no lists of separators")
	}
	for language, want := range golden.Languages {
		name := cmp.Or(names[language], language)
		got, err := SeparatorsNamed(name)
		if err != nil {
			t.Error(err)
			continue
		}
		var distinct []string // LangChain's list for Rust has "\nconst " twice
		for _, sep := range want {
			if !slices.Contains(distinct, sep) {
				distinct = append(distinct, sep)
			}
		}
		if diff := gocmp.Diff(distinct, got); diff != "" {
			t.Errorf("separators for %s (-LangChain, +ours):\n%s", name, diff)
		}
	}
}

// runsAsOne returns text with each run of one separator as one, as split.mjs
// does for the hashes of chunks without separators.
func runsAsOne(text string) string {
	for _, run := range separatorRuns {
		text = run.runs.ReplaceAllString(text, run.separator)
	}
	return text
}

var separatorRuns = []struct {
	runs      *regexp.Regexp
	separator string
}{
	{regexp.MustCompile(`(\. )+`), ". "},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(`\n+`), "\n"},
}

func TestRecursiveCharacterGivesLangChainsChunksOfRealText(t *testing.T) {
	data := realdata.Dir(t, "data")
	texts := map[string][]string{}
	for _, record := range readLangchainGolden(t).Corpora {
		if texts[record.Corpus] == nil {
			texts[record.Corpus] = readTexts(t, filepath.Join(data, filepath.FromSlash(record.Corpus)))
		}
		trimming, untrimmed := record.chunkers(t)
		for _, c := range []RecursiveCharacter{trimming, untrimmed} {
			hash := sha256.New()
			count := 0
			write := func(n int) { hash.Write(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
			for _, text := range texts[record.Corpus] {
				chunks := trimmedTexts(mustCut(t, c, text), !c.Trim)
				count += len(chunks)
				write(len(chunks))
				for _, chunk := range chunks {
					if c.KeepSeparator == KeepNone {
						chunk = runsAsOne(chunk)
					}
					write(len(chunk))
					hash.Write([]byte(chunk))
				}
			}
			if got := hex.EncodeToString(hash.Sum(nil)); count != record.Chunks || got != record.SHA256 {
				t.Errorf("%s of %s: got %d chunks with hash %s, LangChain makes %d with hash %s", c, record.Corpus, count, got, record.Chunks, record.SHA256)
			}
		}
	}
}

// readTexts returns the text of a Markdown file, or the paragraphs of a file in
// SQuAD's format.
func readTexts(tb testing.TB, path string) (texts []string) {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if filepath.Ext(path) == ".md" {
		return []string{string(b)}
	}
	var squad struct {
		Data []struct{ Paragraphs []struct{ Context string } }
	}
	if err := json.Unmarshal(b, &squad); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	for _, article := range squad.Data {
		for _, paragraph := range article.Paragraphs {
			texts = append(texts, paragraph.Context)
		}
	}
	if len(texts) == 0 {
		tb.Fatalf("%s: no paragraphs", path)
	}
	return texts
}
