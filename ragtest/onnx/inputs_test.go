package onnx

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/internal/realdata"
)

// inputs is what testdata/record.mjs recorded of some texts.
type inputs struct {
	Language, Texts string
	Count, Tokens   int
	SHA256          string
}

// record is what testdata/record.mjs recorded.
type record struct {
	Inputs      []inputs
	Truncations []struct {
		Max  int
		Left string
	}
}

func readRecord(t *testing.T) (r record) {
	t.Helper()
	content, err := os.ReadFile("testdata/record.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &r); err != nil || len(r.Inputs) == 0 || len(r.Truncations) == 0 {
		t.Fatalf("testdata/record.json: %d inputs, %d truncations, error %v", len(r.Inputs), len(r.Truncations), err)
	}
	return r
}

// Of pairs that are too long, what is left is what Hugging Face's tokenizers
// leave.
func TestTruncatedPairs(t *testing.T) {
	for _, r := range readRecord(t).Truncations {
		l := &loaded{tokenizer: tinyTokenizer(t), limits: limits{maxTokens: r.Max}}
		the, cat := l.ids("the"), l.ids("cat")
		want := strings.Fields(r.Left)
		for first := range 8 {
			for second := range 8 {
				e := l.pair(slices.Repeat(the, first), slices.Repeat(cat, second))
				n := map[int]int{}
				for _, id := range e.ids {
					n[id]++
				}
				got := fmt.Sprint(n[the[0]]) + fmt.Sprint(n[cat[0]])
				if want := want[8*first+second]; got != want {
					t.Errorf("%d and %d tokens, at most %d with special ones: %s are left, want %s", first, second, r.Max, got, want)
				}
				if truncated := first+second+3 > r.Max; e.truncated != truncated || len(e.ids) > r.Max {
					t.Errorf("%d and %d tokens, at most %d: got %d, truncated %v", first, second, r.Max, len(e.ids), e.truncated)
				}
			}
		}
	}
}

// XQuAD's contexts, alone and after each of their questions, become the IDs and
// segments that Hugging Face's tokenizers make of them.
func TestInputsOfRealText(t *testing.T) {
	tokenizer, err := Model{Dir: realdata.Dir(t, "models", "bert-base-uncased-tokenizer")}.tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	l := &loaded{tokenizer: tokenizer, limits: limits{maxTokens: 1 << 20}}
	for _, want := range readRecord(t).Inputs {
		got := inputs{Language: want.Language, Texts: want.Texts}
		hash := sha256.New()
		add := func(e encoding) {
			raw := binary.LittleEndian.AppendUint32(nil, uint32(len(e.ids)))
			for _, ids := range [][]int{e.ids, e.segments} {
				for _, id := range ids {
					raw = binary.LittleEndian.AppendUint32(raw, uint32(id))
				}
			}
			hash.Write(raw)
			got.Count++
			got.Tokens += len(e.ids)
		}
		for _, p := range xquad(t, want.Language) {
			switch want.Texts {
			case "contexts":
				add(l.single(p.Context))
			case "pairs":
				for _, q := range p.QAs {
					add(l.pair(l.ids(q.Question), l.ids(p.Context)))
				}
			}
		}
		got.SHA256 = hex.EncodeToString(hash.Sum(nil))
		if got != want {
			t.Errorf("%s of %s: got %+v, recorded %+v", want.Texts, want.Language, got, want)
		}
	}
}

// paragraph is one of XQuAD's contexts with its questions.
type paragraph struct {
	Context string
	QAs     []struct{ Question string }
}

func xquad(tb testing.TB, language string) (paragraphs []paragraph) {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(realdata.Dir(tb, "data", "xquad"), "xquad."+language+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var file struct {
		Data []struct{ Paragraphs []paragraph }
	}
	if err := json.Unmarshal(content, &file); err != nil {
		tb.Fatal(err)
	}
	for _, article := range file.Data {
		paragraphs = append(paragraphs, article.Paragraphs...)
	}
	return paragraphs
}
