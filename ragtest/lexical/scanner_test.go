package lexical

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func tokens(text string) []string {
	var got []string
	newScanner(func(token []byte) { got = append(got, string(token)) }).scan(text)
	return got
}

func TestScan(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"white space", " \t\r\n\u00a0\u3000", ""},
		{"punctuation", "-- ... !? «» — “” ()[]{} _ __ ' ’", ""},
		{"words", "The quick, brown fox.", "the quick brown fox"},
		{"hyphen", "state-of-the-art", "state of the art"},
		{"apostrophe", "Biden's Biden’s don't O’Brien", "biden's biden's don't o'brien"},
		{"quoted", "'word' ‘word’ \"word\"", "word word word"},
		{"numbers", "42 3.14 1,000,000 $32.50 1990s 10:30 50%", "42 3.14 1000000 32.50 1990s 10 30 50"},
		{"end of sentence", "in 2023. Next, 5, 6", "in 2023 next 5 6"},
		{"version and address", "v1.2.3 192.168.0.1", "v1.2.3 192.168.0.1"},
		{"digits of other scripts", "٢٠٢٤ ۲۰۲۴ ２０２４ ५", "2024 2024 2024 ५"},
		{"snake case", "max_open_conns _private __init__", "max open conns max_open_conns private init"},
		{"camel case", "readFile HTTPServer parseJSONBody iPhone", "read file readfile http server httpserver parse json body parsejsonbody phone iphone"},
		{"all upper case", "NASA COVID-19 SHA256", "nasa covid 19 sha256"},
		{"dotted", "os.ReadFile U.S. e.g.", "os read file os.readfile u.s e.g"},
		{"url", "https://www.example.com/a/page?id=7", "https www example com www.example.com a page id 7"},
		{"mail", "ann@example.org", "ann example org example.org"},
		{"accents composed", "Café RÉSUMÉ Łódź Ångström", "cafe resume lodz angstrom"},
		{"accents decomposed", "Cafe\u0301 RE\u0301SUME\u0301 A\u030angstro\u0308m", "cafe resume angstrom"},
		{"vietnamese", "Tiếng Việt", "tieng viet"},
		{"greek", "ΟΔΥΣΣΕΎΣ Οδυσσεύς", "οδυσσευσ οδυσσευσ"},
		{"cyrillic", "Ёлка елка йод ио\u0306д", "елка елка иод иод"},
		{"german", "Straße Größe", "straße große"},
		{"arabic", "مُحَمَّد محمـــد أحمد ا\u0654حمد", "محمد محمد احمد احمد"},
		{"hebrew", "שָׁלוֹם שלום", "שלום שלום"},
		{"devanagari keeps vowels", "हिन्दी की", "हिन्दी की"},
		{"full width", "ＡＢＣ１２３", "abc123"},
		{"han", "黑豹队", "黑 黑豹 豹 豹队 队"},
		{"han, one character", "中", "中"},
		{"han between words", "用Go写", "用 go 写"},
		{"han and punctuation", "你好，世界", "你 你好 好 世 世界 界"},
		{"kana", "カメラの", "カ カメ メ メラ ラ ラの の"},
		{"long vowel", "コーヒー", "コ コー ー ーヒ ヒ ヒー ー"},
		{"thai", "ไทย", "ไ ไท ท ทย ย"},
		{"hangul", "한국어 검색", "한 한국 국 국어 어 검 검색 색"},
		{"emoji", "ship it 🚀🚀 ok👍🏽", "ship it 🚀 🚀 ok 👍"},
		{"emoji sequences", "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3 🇫🇷", "👩💻 ❤ 1 🇫🇷"},
		{"invisible", "co\u00adoperate zero\u200bwidth \ufeffbom", "cooperate zero width bom"},
		{"invalid", "ab\xff\xfecd \xc3 caf\xc3", "ab cd caf"},
		{"long", strings.Repeat("x", 200), strings.Repeat("x", maxWord)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(tokens(test.text), " "), test.want); diff != "" {
				t.Errorf("tokens of %q (-got +want):\n%s", test.text, diff)
			}
		})
	}
}

func TestTerms(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"The runners were running in the run", "runner run run"},
		{"Regulatory changes; regulation changed", "regulatori chang regul chang"},
		{"Biden's policies", "biden polici"},
		{"It isn't what they've said", ""},
		{"max_open_conns", "max open conn max_open_conns"},
		{"café cafes", "cafe cafe"},
		{"的 用户", "的 用 用户 户"},
	} {
		l := newLexicon()
		var got []string
		l.scan(test.text, func(term int32) { got = append(got, l.terms[term]) })
		if diff := cmp.Diff(strings.Join(got, " "), test.want); diff != "" {
			t.Errorf("terms of %q (-got +want):\n%s", test.text, diff)
		}
	}
}

func TestStopWordsAreFolded(t *testing.T) {
	for w := range stopWords {
		if got := tokens(w); len(got) != 1 || got[0] != w {
			t.Errorf("stop word %q: got the tokens %q: no token can equal it", w, got)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range []string{"", "The HTTPServer's 1,000 max_conns", "用Go写 カメラ", "e\u0301\u0301 '._", "\xff\xc3", "👩\u200d💻", "a,1", "1,a", "1.", "_1_"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, token := range tokens(text) {
			if token == "" || !utf8.ValidString(token) || len(token) >= 2*maxWord {
				t.Fatalf("got the token %q of %q: want valid UTF-8 of 1 to %d bytes", token, text, 2*maxWord-1)
			}
			for _, r := range token {
				if folded := foldRune(r); folded != r {
					t.Fatalf("got the token %q of %q: %q folds to %q", token, text, r, folded)
				}
			}
		}
	})
}
