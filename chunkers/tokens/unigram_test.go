package tokens

import (
	stdcmp "cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

// unigramRecord is what testdata/unigram/record.mjs recorded.
type unigramRecord struct {
	Texts    []string
	Variants []unigramVariant
	Corpora  []struct {
		Corpus   string
		Rust, JS digest
	}
}

type unigramVariant struct {
	Name         string
	ByteFallback bool `json:"byte_fallback"`
	Without      []string
	Refused      string // why @huggingface/tokenizers does not read it
	Fields       map[string]json.RawMessage
	IDs          []struct{ Rust, JS []int } // of each text; JS: nil if equal
}

func readUnigramRecord(tb testing.TB) (r unigramRecord) {
	tb.Helper()
	content, err := os.ReadFile("testdata/unigram/record.json")
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		tb.Fatalf("testdata/unigram/record.json: %v", err)
	}
	if len(r.Texts) == 0 || len(r.Variants) == 0 || len(r.Corpora) == 0 {
		tb.Fatal("testdata/unigram/record.json holds no records")
	}
	return r
}

func unigramJSON(tb testing.TB) []byte {
	tb.Helper()
	content, err := os.ReadFile("testdata/unigram/tokenizer.json")
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// tokenizer returns testdata/unigram/tokenizer.json as the variant has it.
func (v unigramVariant) tokenizer(tb testing.TB) *ModelTokenizer {
	tb.Helper()
	var file map[string]json.RawMessage
	if err := json.Unmarshal(unigramJSON(tb), &file); err != nil {
		tb.Fatal(err)
	}
	maps.Copy(file, v.Fields)
	model := string(file["model"])
	if v.ByteFallback {
		model = strings.Replace(model, `"byte_fallback": false`, `"byte_fallback": true`, 1)
	}
	for _, token := range v.Without {
		model = strings.Replace(model, `"`+token+`"`, `"`+token+`-"`, 1)
	}
	file["model"] = json.RawMessage(model)
	content, err := json.Marshal(file)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := ReadTokenizer(v.Name, content)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestUnigramGivesItsTokens(t *testing.T) {
	r := readUnigramRecord(t)
	for _, v := range r.Variants {
		t.Run(v.Name, func(t *testing.T) {
			m := v.tokenizer(t)
			other := 0
			for i, text := range r.Texts {
				got := append([]int{}, m.AppendIDs(nil, text)...)
				if diff := cmp.Diff(v.IDs[i].Rust, got); diff != "" {
					t.Errorf("IDs of %q (-tokenizers, +ours):\n%s", text, diff)
				}
				if v.IDs[i].JS != nil {
					other++
				}
				checkTokenizer(t, m, text)
			}
			if reads := v.Refused == "" && !v.ByteFallback && v.Name != "charsmap"; reads && other > 2 {
				t.Errorf("@huggingface/tokenizers gives other tokens for %d texts, want 2 at most", other)
			}
		})
	}
}

// checkTokenizer checks that Tokens, Count and AppendIDs agree about text, and
// that places are in order.
func checkTokenizer(t *testing.T, m *ModelTokenizer, text string) {
	t.Helper()
	var ids []int
	last := window{}
	m.tokenize(text, func(id, start, end int) bool {
		if start < last.start || end < last.end || end < start || end > len(text) {
			t.Errorf("token at [%d:%d] after [%d:%d] in %q", start, end, last.start, last.end, text)
		}
		if id < 0 || id >= m.Size() {
			t.Errorf("got the ID %d in %q, want one below %d", id, text, m.Size())
		}
		ids, last = append(ids, id), window{start, end}
		return true
	})
	if got := m.AppendIDs(nil, text); !slices.Equal(got, ids) {
		t.Errorf("%q: AppendIDs gives %d, Tokens are %d", text, got, ids)
	}
	if got := m.Count(text); got != len(ids) {
		t.Errorf("%q: got the count %d, want %d", text, got, len(ids))
	}
}

var vq64 = sync.OnceValues(func() (*ModelTokenizer, error) {
	content, err := os.ReadFile(filepath.Join(os.Getenv("RAGTEST_DATA"), "models", "model2vec-bge-vq64", "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	return ReadTokenizer("vq64", content)
})

func TestUnigramOfRealText(t *testing.T) {
	realdata.Dir(t, "models", "model2vec-bge-vq64")
	m, err := vq64()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readUnigramRecord(t).Corpora {
		texts := corpusTexts(t, r.Corpus)
		got := digestOf(texts, func(text string) []int { return m.AppendIDs(nil, text) })
		if got != r.Rust || got != r.JS {
			t.Errorf("tokens of %s: got %v, tokenizers gives %v, @huggingface/tokenizers %v", r.Corpus, got, r.Rust, r.JS)
		}
	}
}

// texts returns what a tokenizer's tokens cover, separated by |.
func texts(m *ModelTokenizer, text string) string {
	var parts []string
	for start, end := range m.Tokens(text) {
		parts = append(parts, text[start:end])
	}
	return strings.Join(parts, "|")
}

func TestUnigramPlaces(t *testing.T) {
	variants := map[string]*ModelTokenizer{}
	for _, v := range readUnigramRecord(t).Variants {
		variants[v.Name] = v.tokenizer(t)
	}
	for _, test := range []struct{ variant, text, want string }{
		{"plain", "the the", "the| the"},
		{"plain", "  the", " | the"},
		{"plain", "the\xff the", "the|\xff| the"},
		{"model2vec", "  THE\u0301  the, ", "THE\u0301|  the||,"},
		{"model2vec", "检索", "|检||索"},
		{"words", "THE \n the\u0301", "THE|the\u0301"},
		{"never", "ﬁt", "ﬁ||t"},
		{"xlm-roberta", "the\u200b  the", "the|\u200b  the"},
		{"plain", "the  <mask> the", "the|  <mask>| the"},
	} {
		if got := texts(variants[test.variant], test.text); got != test.want {
			t.Errorf("%s: got the tokens %q of %q, want %q", test.variant, got, test.text, test.want)
		}
	}
}

func TestUnicodeClasses(t *testing.T) {
	for _, test := range []struct{ pattern, text, want string }{
		{`\s+`, "a \u00a0\u2028\u0085b", "a_b"},
		{`[\s.]`, "a\u3000.b", "a__b"},
		{`[^\s]`, "a\u3000b", "_\u3000_"},
		{`\S`, "é\u1680b", "_\u1680_"},
		{`\d\w`, "١é 2 b", "_ 2 b"},
		{`\D`, "1٢x", "1٢_"},
		{`\[\]\.\\`, `[].\s`, "_s"},
		{`\p{Lu}`, "ÀbC", "_b_"},
	} {
		pattern, err := unicodeClasses(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := regexp.MustCompile(pattern).ReplaceAllString(test.text, "_"); got != test.want {
			t.Errorf("%s in %q: got %q, want %q", test.pattern, test.text, got, test.want)
		}
	}
}

// Windows of tokens and measures by them keep the rules of chunkers.
func TestChunksByUnigram(t *testing.T) {
	var docs []*spans.Document
	for i, text := range readUnigramRecord(t).Texts {
		if len(text) > 60 {
			continue
		}
		doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("doc-%d", i)), text, nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	for _, v := range readUnigramRecord(t).Variants {
		if !slices.Contains([]string{"model2vec", "words", "bytes"}, v.Name) {
			continue
		}
		m := v.tokenizer(t)
		for _, c := range []chunkers.PositionAwareChunker{
			FixedToken{Tokens: 7, Overlap: 3, Encoding: m},
			chunkers.RecursiveCharacter{Size: 7, Length: Length(m)},
		} {
			if err := chunkers.Check(t.Context(), c, docs...); err != nil {
				t.Errorf("%v: %v", c, err)
			}
		}
	}
}

func TestAppendNFD(t *testing.T) {
	for c := rune(0); c <= utf8.MaxRune; c++ {
		if got, want := string(appendNFD(nil, c)), norm.NFD.String(string(c)); got != want {
			t.Errorf("%U: got %+q, want %+q", c, got, want)
		}
	}
}

// Rules that double a text, again and again, do not fill the memory.
func TestUnigramGrowthIsBounded(t *testing.T) {
	doubles := strings.Repeat(`{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"},`, 60)
	content := strings.Replace(string(unigramJSON(t)), `"normalizer": null`, `"normalizer": {"type": "Sequence", "normalizers": [`+doubles+`{"type": "NFC"}]}`, 1)
	m, err := ReadTokenizer("x", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a ", 500)
	if got := m.Count(text); got > maxGrowth*len(text)+4096 {
		t.Errorf("got %d tokens", got)
	}
	checkTokenizer(t, m, text)
}

func TestUnigramStops(t *testing.T) {
	m := unigramVariant{Name: "plain"}.tokenizer(t)
	for most := range 5 {
		got := 0
		for range m.Tokens("the retriever <mask> answers") {
			if got++; got > most {
				break
			}
		}
		if got != most+1 {
			t.Errorf("stopped after %d tokens, want %d", got, most+1)
		}
	}
}

func TestReadTokenizerErrors(t *testing.T) {
	unigram := string(unigramJSON(t))
	charsmap := func(content string) string {
		return `"normalizer": {"type": "Precompiled", "precompiled_charsmap": "` + content + `"}`
	}
	const none = `"normalizer": null`
	for _, test := range []struct{ content, old, new, want string }{
		{unigram, `"Unigram"`, `"BPE"`, `model.type is "BPE": want WordPiece or Unigram`},
		{unigram, `"unk_id": 3`, `"unk_id": null`, "model.unk_id is missing"},
		{unigram, `"unk_id": 3`, `"unk_id": 99999`, "model.unk_id is 99999: model.vocab has "},
		{unigram, `"unk_id": 3`, `"unk_id": -1`, "model.unk_id is -1: model.vocab has "},
		{unigram, `"unk_id": 3`, `"unk_id": 1e99`, "unk_id"},
		{unigram, `["<s>",0]`, `["<s>"]`, `model.vocab: ["<s>"]: want a token and its score`},
		{unigram, `["<s>",0]`, `["<s>","0"]`, "model.vocab: "},
		{unigram, `["<s>",0]`, `["<s>",1e999]`, "model.vocab: "},
		{unigram, `"vocab": [`, `"vocab": {}, "other": [`, "model.vocab: "},
		{unigram, `"vocab": [`, `"other": [`, "model.vocab is missing"},
		{unigram, `"id":1`, `"id":-1`, "added_tokens[1].id is -1: want one from 0 to "},
		{unigram, `"id":1`, `"id":4294967296`, "added_tokens[1].id is 4294967296: want one from 0 to "},
		{unigram, `"normalized":false`, `"normalized":true`, "added_tokens[0] is "},
		{unigram, none, `"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Rot13"}]}`, `normalizer.normalizers[1].type is "Rot13": want `},
		{unigram, none, `"normalizer": {"type": "Replace", "pattern": {"Regex": "a(?=b)"}}`, "normalizer.pattern.Regex: error parsing regexp"},
		{unigram, none, `"normalizer": {"type": "Replace", "pattern": {"Regex": "a\\bb"}}`, `normalizer.pattern.Regex: "\\b" at byte 1 of "a\\bb" is not supported`},
		{unigram, none, `"normalizer": {"type": "Replace", "pattern": {"Regex": "[a\\S]"}}`, `normalizer.pattern.Regex: "\\S" at byte 2 of "[a\\S]" is not supported`},
		{unigram, none, `"normalizer": {"type": "Replace", "pattern": {"String": ""}}`, "normalizer.pattern: want "},
		{unigram, none, `"normalizer": {"type": "Precompiled"}`, "normalizer.precompiled_charsmap is missing"},
		{unigram, none, charsmap("?"), "normalizer.precompiled_charsmap: illegal base64"},
		{unigram, none, charsmap("AAA="), "normalizer.precompiled_charsmap: it has 2 bytes"},
		{unigram, none, charsmap("/////wAA"), "normalizer.precompiled_charsmap: the trie's size is 4294967295 bytes"},
		{unigram, none, charsmap("BAAAAAAAAAD/"), "normalizer.precompiled_charsmap: the replacements are not valid UTF-8"},
		{unigram, `"type": "Metaspace"`, `"type": "ByteLevel"`, `pre_tokenizer.type is "ByteLevel": want `},
		{unigram, `"replacement": "▁"`, `"replacement": ""`, `pre_tokenizer.replacement is "": want one character`},
		{unigram, `"prepend_scheme": "always"`, `"prepend_scheme": "last"`, `pre_tokenizer.prepend_scheme is "last": want always, first or never`},
		{unigram, `"TemplateProcessing"`, `"ByteLevel"`, `post_processor.type is "ByteLevel": want `},
		{unigram, `"SpecialToken":{"id":"<s>"`, `"SpecialToken":{"id":"<t>"`, `post_processor.single[0].SpecialToken.id is "<t>", which is not in `},
		{unigram, `"Sequence":{"id":"A"`, `"Sequence":{"id":"C"`, "post_processor.single[1] is neither "},
		{unigram, `"ids":[2]`, `"ids":[99999]`, `post_processor.single[2]: "</s>" has the ID 99999: want one below `},
		{miniatureJSON, `"un": 3`, `"un": -3`, `model.vocab: "un" has the ID -3: want one from 0 to `},
		{miniatureJSON, `"un": 3`, `"un": 3.5`, "model.vocab: "},
		{miniatureJSON, `"un": 3`, `"un": 99999999999`, `model.vocab: "un" has the ID 99999999999: want one from 0 to `},
		{strings.Repeat(`{"normalizer":`, 20000), "", "", "exceeded max depth"},
		{`{"normalizer":` + strings.Repeat(`{"type":"Sequence","normalizers":[`, 4000), "", "", "unexpected end of JSON input"},
		{unigram[:5000], "", "", "byte "},
		{unigram + "{}", "", "", "byte "},
		{"", "", "", "byte "},
		{"[]", "", "", "cannot unmarshal array"},
		{"{}", "", "", `model.type is "": want `},
	} {
		if test.old != "" && !strings.Contains(test.content, test.old) {
			t.Fatalf("the file does not have %s", test.old)
		}
		_, err := ReadTokenizer("x", []byte(strings.ReplaceAll(test.content, test.old, test.new)))
		if err == nil || !strings.HasPrefix(err.Error(), "reading the tokenizer.json of x: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s instead of %s: got error %v, want %s", test.new, test.old, err, test.want)
		}
	}
	if _, err := ReadTokenizer("a/b", []byte(unigram)); err == nil || !strings.Contains(err.Error(), `name is "a/b"`) {
		t.Errorf("got error %v, want one about the name", err)
	}
}

func TestSingleAndPair(t *testing.T) {
	const bert = `"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 2]}, "normalizer"`
	for _, test := range []struct {
		name, content   string
		single, types   []int
		pair, pairTypes []int
	}{
		{"nothing", miniatureJSON, []int{7, 8}, []int{0, 0}, []int{7, 8, 9}, []int{0, 0, 1}},
		{"template", string(unigramJSON(t)), []int{0, 7, 8, 2}, []int{0, 0, 0, 0}, []int{0, 7, 8, 2, 2, 9, 2}, []int{0, 0, 0, 0, 0, 0, 0}},
		{"bert", strings.Replace(miniatureJSON, `"normalizer"`, bert, 1), []int{2, 7, 8, 1}, []int{0, 0, 0, 0}, []int{2, 7, 8, 1, 9, 1}, []int{0, 0, 0, 0, 1, 1}},
		{"roberta", strings.Replace(miniatureJSON, `"normalizer"`, strings.Replace(bert, "Bert", "Roberta", 1), 1), []int{2, 7, 8, 1}, []int{0, 0, 0, 0}, []int{2, 7, 8, 1, 1, 9, 1}, []int{0, 0, 0, 0, 0, 0, 0}},
		{"sequence", strings.Replace(miniatureJSON, `"normalizer"`, `"post_processor": {"type": "Sequence", "processors": [{"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 2]}]}, "normalizer"`, 1), []int{2, 7, 8, 1}, []int{0, 0, 0, 0}, []int{2, 7, 8, 1, 9, 1}, []int{0, 0, 0, 0, 1, 1}},
	} {
		m, err := ReadTokenizer("x", []byte(test.content))
		if err != nil {
			t.Fatal(err)
		}
		single, types := m.Single([]int{7, 8})
		pair, pairTypes := m.Pair([]int{7, 8}, []int{9})
		if diff := cmp.Diff([][]int{test.single, test.types, test.pair, test.pairTypes}, [][]int{single, types, pair, pairTypes}); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", test.name, diff)
		}
	}
}

func FuzzReadTokenizer(f *testing.F) {
	f.Add(miniatureJSON, "unaffable 語 [SEP]")
	unigram := string(unigramJSON(f))
	const vocab = `{"normalizer": %, "pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "first"}, "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["", 0], ["a", -1], ["▁", -2], ["▁a", -2.5], ["<0x41>", 0]]}}`
	r := readUnigramRecord(f)
	for i, v := range r.Variants {
		text := r.Texts[i]
		f.Add(strings.Replace(unigram, `"normalizer": null`, `"normalizer": `+stdcmp.Or(string(v.Fields["normalizer"]), "null"), 1), text)
		f.Add(strings.Replace(vocab, "%", stdcmp.Or(string(v.Fields["normalizer"]), "null"), 1), text)
	}
	f.Fuzz(func(t *testing.T, content, text string) {
		m, err := ReadTokenizer("fuzzed", []byte(content))
		if err != nil {
			return
		}
		checkTokenizer(t, m, text)
		if !utf8.ValidString(text) {
			return
		}
		if ids, types := m.Single(m.AppendIDs(nil, text)); len(ids) != len(types) {
			t.Errorf("got %d tokens and %d types", len(ids), len(types))
		}
	})
}
