package tokens

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const miniatureJSON = `{
  "added_tokens": [
    {"id": 1, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
    {"id": 2, "content": "[SEP]x", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
  ],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "model": {
    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 12,
    "vocab": {"[UNK]": 0, "[SEP]": 1, "un": 3, "##aff": 4, "##able": 5, "a": 6, "b": 7, "##b": 8, "e": 9, "i": 10, ",": 11, "語": 12, "` + "\u1100" + `": 13, "##` + "\u1161" + `": 14, "cafe": 15}
  }
}`

// miniature is a WordPiece tokenizer with a vocabulary of a few tokens.
func miniature(tb testing.TB) *WordPiece {
	tb.Helper()
	w, err := NewWordPiece("miniature", []byte(miniatureJSON))
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func TestWordPiece(t *testing.T) {
	w := miniature(t)
	tests := []struct {
		text string
		want string // id:text of each token
	}{
		{"", ""},
		{" \n", ""},
		{"unaffable", "3:un 4:aff 5:able"},
		{"UNAFFABLE, a", "3:UN 4:AFF 5:ABLE 11:, 6:a"},
		{"unaffablex", "0:unaffablex"},
		{"bbbbbbbbbbbb", "7:b" + strings.Repeat(" 8:b", 11)},
		{"bbbbbbbbbbbbb", "0:bbbbbbbbbbbbb"},
		{"café", "15:café"},
		{"cafe\u0301\u0301 a", "15:cafe\u0301\u0301 6:a"},
		{"a\u00adb\x00", "6:a\u00ad 8:b\x00"},
		{"\u0301a", "6:a"},
		{"a語b", "6:a 12:語 7:b"},
		{"İ", "10:İ"},
		{"가a", "0:가a"},
		{"가", "13:가 14:"},
		{"a[SEP]b[SEP]xa", "6:a 1:[SEP] 7:b 2:[SEP]x 6:a"},
		{"[sep]", "0:[ 0:sep 0:]"},
		{"a\xffb", "6:a\xff 8:b"},
	}
	for _, test := range tests {
		var got []string
		w.tokenize(test.text, func(id, start, end int) bool {
			got = append(got, fmt.Sprintf("%d:%s", id, test.text[start:end]))
			return true
		})
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("tokens of %q (-want, +got):\n%s", test.text, diff)
		}
		checkTokenizer(t, &w.ModelTokenizer, test.text)
	}
}

func TestWordPieceStops(t *testing.T) {
	w := miniature(t)
	for most := range 5 {
		got := 0
		for range w.Tokens("unaffable[SEP]a b") {
			if got++; got > most {
				break
			}
		}
		if got != most+1 {
			t.Errorf("stopped after %d tokens, want %d", got, most+1)
		}
	}
}

func TestNewWordPieceErrors(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"", "", "", `WordPiece tokenizer: name is ""`},
		{"a/b", "", "", `WordPiece tokenizer: name is "a/b"`},
		{"x", `"model"`, `model`, "reading the tokenizer.json of x: byte "},
		{"x", `"WordPiece"`, `"BPE"`, `reading the tokenizer.json of x: model.type is "BPE": want WordPiece`},
		{"x", `"BertNormalizer"`, `"NFC"`, "normalizer: want one of type BertNormalizer"},
		{"x", `"BertPreTokenizer"`, `"Whitespace"`, "pre_tokenizer: want one of type BertPreTokenizer"},
		{"x", `"max_input_chars_per_word": 12`, `"max_input_chars_per_word": 0`, "model.max_input_chars_per_word is 0: want at least 1"},
		{"x", `"##", "max`, `"", "max`, "model.continuing_subword_prefix is empty"},
		{"x", `"unk_token": "[UNK]"`, `"unk_token": "?"`, `model.unk_token is "?", which is not in model.vocab`},
		{"x", `"single_word": false`, `"single_word": true`, "added_tokens[0] is "},
	}
	for _, test := range tests {
		_, err := NewWordPiece(test.name, []byte(strings.ReplaceAll(miniatureJSON, test.old, test.new)))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("name %q, %s instead of %s: got error %v, want %s", test.name, test.new, test.old, err, test.want)
		}
	}
}

func FuzzNewWordPiece(f *testing.F) {
	f.Add(miniatureJSON, "unaffable 語 [SEP]")
	f.Add(`{"model": {"type": "WordPiece"}}`, "")
	f.Fuzz(func(t *testing.T, content, text string) {
		w, err := NewWordPiece("fuzzed", []byte(content))
		if err != nil {
			return
		}
		checkTokenizer(t, &w.ModelTokenizer, text)
	})
}
