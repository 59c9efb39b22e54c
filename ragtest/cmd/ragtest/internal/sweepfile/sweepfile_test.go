package sweepfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rageval/rageval/chunkers/catalog"
)

const everything = `# All keys.
seed: 7
sample: 100
data_path: data/squad.json
data_form: squad
corpus: /docs
min_answer_length: 12
preprocess_html: off
mode: corpus
k_values: [1, 3, 10]
fetch_k: 40
budget: 2000 tokens
metrics: [span_recall, span_ndcg]
max_unlocated: 3
output_dir: out
embedders: [lexical, "model2vec:models/potion"]
rerankers:
  - none
  - cohere
configurations:
  small: recursive/size=200
  large:
    chunker: recursive
    size: &sizes [400, 800]
    overlap: [0, 100]
    trim: true
    embedders: bm25
  tokens: {chunker: fixedtoken, tokens: 64}
  again:
    chunker: fixed/overlap=10
    size: *sizes
`

var ignorePlaces = cmpopts.IgnoreUnexported(Settings{})

// Names that this package does not know have their places, unless a flag is in the place
// of the list.
func TestPlacesOfNames(t *testing.T) {
	s, err := Parse("dir/sweep.yaml", []byte("metrics: recall\nembedders: [bm25, &e nope]\nrerankers:\n- none\n- best\nconfigurations:\n  a:\n    chunker: paragraph\n    embedders: [ *e, 'model2vec:m']\n"))
	if err != nil {
		t.Fatal(err)
	}
	unknown := errors.New("unknown")
	for at, want := range map[named]string{
		{"metrics", "recall"}:                  `dir/sweep.yaml:1:10: key "metrics": unknown`,
		{"embedders", "nope"}:                  `dir/sweep.yaml:2:19: key "embedders": unknown`,
		{"rerankers", "best"}:                  `dir/sweep.yaml:5:3: key "rerankers": unknown`,
		{"configurations.a.embedders", "nope"}: `dir/sweep.yaml:9:18: key "configurations.a.embedders": unknown`,
		{"configurations.a.embedders", "model2vec:" + filepath.Join("dir", "m")}: `dir/sweep.yaml:9:22: key "configurations.a.embedders": unknown`,
		{"configurations.a.embedders", "bm25"}:                                   "unknown",
	} {
		if got := s.At(at.key, at.name, unknown); got.Error() != want || !errors.Is(got, unknown) {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
	before := s
	if err := s.Override("embedders", "nope"); err != nil {
		t.Fatal(err)
	}
	if got := s.At("embedders", "nope", unknown); got != unknown {
		t.Errorf("got %q for the name in a flag", got)
	}
	if got := before.At("embedders", "nope", unknown); got == unknown {
		t.Error("overriding settings changed others")
	}
}

func TestParseReadsEveryKey(t *testing.T) {
	got, err := Parse(filepath.Join("bench", "sweep.yaml"), []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Seed: 7, Sample: 100, DataPath: filepath.Join("bench", "data", "squad.json"), DataForm: "squad", Corpus: "/docs", MinAnswerLength: 12,
		PreprocessHTML: "off", Mode: "corpus", KValues: []int{1, 3, 10}, FetchK: []int{40}, Budget: Budget{2000, "cl100k"},
		Metrics: []string{"span_recall", "span_ndcg"}, MaxUnlocated: 3, OutputDir: filepath.Join("bench", "out"),
		Embedders: []string{"lexical", "model2vec:" + filepath.Join("bench", "models/potion")}, Rerankers: []string{"none", "cohere"},
		Configurations: []Configuration{
			{Name: "small", Chunkers: []string{"recursive/size=200"}},
			{Name: "large", Chunkers: []string{
				"recursive/size=400/trim=true", "recursive/size=400/overlap=100/trim=true",
				"recursive/size=800/trim=true", "recursive/size=800/overlap=100/trim=true",
			}, Embedders: []string{"bm25"}},
			{Name: "tokens", Chunkers: []string{"fixedtoken/tokens=64"}},
			{Name: "again", Chunkers: []string{"fixed/size=400/overlap=10", "fixed/size=800/overlap=10"}},
		},
	}
	if diff := cmp.Diff(want, got, ignorePlaces); diff != "" {
		t.Errorf("the settings differ (-want +got):\n%s", diff)
	}
	for _, k := range Keys() {
		if !strings.Contains(everything, "\n"+k+":") {
			t.Errorf("the key %s was not tried", k)
		}
	}
}

func TestWhatAFileLeavesOutHasItsDefault(t *testing.T) {
	got, err := Parse("sweep.yaml", []byte("sample: 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got, ignorePlaces); diff != "" {
		t.Errorf("the settings differ from the default (-want +got):\n%s", diff)
	}
	if got.Seed != 42 {
		t.Errorf("got the seed %d, want 42", got.Seed)
	}
}

func TestErrorsSayWhereAndWhat(t *testing.T) {
	configuration := func(lines string) string { return "configurations:\n  a:\n    " + lines }
	for _, test := range []struct{ data, want string }{
		{"", "s.yaml:1:1: found nothing, want keys and values"},
		{"# only a comment\n", "s.yaml:1:1: found nothing, want keys and values"},
		{"- 1\n", "s.yaml:1:1: found a list, want keys and values"},
		{"text\n", `s.yaml:1:1: found the text "text", want keys and values`},
		{"seed: 1\n---\nseed: 2\n", "s.yaml:2:1: found a second document, want one"},
		{"seed: 1\nk: \"\xff\"\n", "s.yaml:2:5: found the byte 0xff, want text in UTF-8"},
		{"seed: [1\nsample: 2\n", "s.yaml:2:7: reading YAML: while parsing a flow sequence: "},
		{"seed: 1\n  sample: 2\n", "s.yaml:2:9: reading YAML: "},
		{"seed: *nowhere\n", "s.yaml:1:7: reading YAML: "},

		{"seed: 1\nsede: 2\n", `s.yaml:2:1: found the key "sede", want one of seed, sample, data_path`},
		{"seed: 1\nsample: 3\nseed: 2\n", `s.yaml:3:1: found the key "seed" a second time, after line 1, want it once`},
		{"42: 1\n", "s.yaml:1:1: found the number 42 as a key, want a text"},
		{"? [a]\n: 1\n", "s.yaml:1:3: found a list as a key, want a text"},
		{"<<: {seed: 1}\n", "s.yaml:1:1: found "},

		{"seed: many\n", `s.yaml:1:7: key "seed": found the text "many", want a whole number from 0 to 9223372036854775807`},
		{"seed: -1\n", "s.yaml:1:7: key \"seed\": found the number -1, want a whole number from 0"},
		{"seed: 9223372036854775808\n", "found the number 9223372036854775808, want"},
		{"seed: 010\n", "found the number 010, want"},
		{"seed: 0x10\n", "found the number 0x10, want"},
		{"seed: 1.5\n", "found the number 1.5, want"},
		{"seed: \"1\"\n", `found the text "1", want a whole number`},
		{"seed:\n", "key \"seed\": found no value, want"},
		{"seed: [1]\n", "s.yaml:1:7: key \"seed\": found a list, want"},
		{"sample: 268435457\n", "want a whole number from 0 to 268435456"},
		{"k_values: [1, 0]\n", `s.yaml:1:15: key "k_values": found the number 0, want a whole number from 1`},
		{"k_values: [1, 3, 1]\n", `s.yaml:1:18: key "k_values": found the number 1 a second time`},
		{"k_values: []\n", `s.yaml:1:11: key "k_values": found an empty list`},
		{"k_values:\n  - 1\n  - {a: 2}\n", `s.yaml:3:5: key "k_values": found keys and values, want a whole number`},
		{"preprocess_html: yes\n", `s.yaml:1:18: key "preprocess_html": found the text "yes", want one of auto, on, off`},
		{"preprocess_html: true\n", "found the truth value true, want one of auto, on, off"},
		{"data_form: csv\n", "want one of auto, golden, langsmith, squad, squad1, squad-flat, nq, chroma"},
		{"mode: document\n", "want one of corpus, context"},
		{"data_path: 2024\n", "found the number 2024, want a text, in quotes if it looks like that"},
		{"data_path: [a]\n", "found a list, want a text that is not empty"},
		{"output_dir:\n", "found no value, want a text that is not empty"},
		{"budget: 2000\n", "found the number 2000, want a number from 1 to 268435456 and a unit"},
		{"budget: 0 tokens\n", `found the text "0 tokens"`},
		{"budget: 20 words\n", `found the text "20 words"`},
		{"embedders: [lexical, lexical]\n", `s.yaml:1:22: key "embedders": found the text "lexical" a second time`},
		{"embedders: \"\"\n", `found the text "", want a text that is not empty`},

		{"configurations: {}\n", `s.yaml:1:17: key "configurations": found none, want at least one`},
		{"configurations: [a]\n", `s.yaml:1:17: key "configurations": found a list, want keys and values`},
		{"configurations:\n  a/b: fixed/size=9\n", `s.yaml:2:3: key "configurations": found the name "a/b", want up to 100`},
		{"configurations:\n  a: fixed/size=9\n  a: fixed/size=8\n", `s.yaml:3:3: key "configurations": found the key "a" a second time, after line 2`},
		{"configurations:\n  a: cobol\n", `s.yaml:2:6: key "configurations.a": chunker "cobol": unknown kind "cobol": want one of fixed,`},
		{"configurations:\n  a: 5\n", `s.yaml:2:6: key "configurations.a": found the number 5, want a text`},
		{configuration("size: 5\n"), `s.yaml:3:5: key "configurations.a": found no key chunker`},
		{configuration("chunker: cobol\n    size: 5\n"), `s.yaml:3:14: key "configurations.a.chunker": chunker "cobol/size=5": unknown kind "cobol"`},
		{configuration("chunker: recursive\n    szie: 5\n"), `s.yaml:4:5: key "configurations.a": found the key "szie", want one of chunker, embedders and, for recursive, size, overlap,`},
		{configuration("chunker: recursive\n    size: big\n"), `s.yaml:4:11: key "configurations.a.chunker": chunker "recursive/size=big": field size: got "big", want a whole number`},
		{configuration("chunker: recursive\n    size: 9\n    trim: 1\n"), `s.yaml:5:11: key "configurations.a.chunker": chunker "recursive/size=9/trim=1": field trim: got "1", want true or false`},
		{configuration("chunker: recursive\n    size: 1e3\n"), `s.yaml:4:11: key "configurations.a.size": found the number 1e3, want a whole number, true, false or a text`},
		{configuration("chunker: recursive\n    size: [5, 5]\n"), `s.yaml:4:15: key "configurations.a.size": found the number 5 a second time`},
		{configuration("chunker: recursive\n    size: 5\n    overlap: 5\n"), `s.yaml:3:14: key "configurations.a.chunker": chunker "recursive/size=5/overlap=5": `},
		{configuration("chunker: recursive/size=5\n    size: 6\n"), `s.yaml:3:14: key "configurations.a.chunker": chunker "recursive/size=5/size=6": field size is given twice`},
		{configuration("chunker: fixed\n    size: 9\n    embedders: 3\n"), `s.yaml:5:16: key "configurations.a.embedders": found the number 3, want a text`},
		{configuration("chunker: []\n"), `key "configurations.a.chunker": found a list, want a text`},
	} {
		_, err := Parse("s.yaml", []byte(test.data))
		if err == nil {
			t.Errorf("%q: got no error, want %q", test.data, test.want)
			continue
		}
		if got := err.Error(); !strings.HasPrefix(got, test.want) && !(strings.Contains(got, test.want) && !strings.HasPrefix(test.want, "s.yaml:")) {
			t.Errorf("%q: got the error\n%s, want\n%s", test.data, got, test.want)
		}
	}
}

func TestAllErrorsAreListed(t *testing.T) {
	_, err := Parse("s.yaml", []byte("seed: x\nsample: y\nconfigurations:\n  a: cobol\n  b: pascal\n"))
	if got := strings.Count(fmt.Sprint(err), "s.yaml:"); got != 4 {
		t.Errorf("got %d errors, want 4:\n%v", got, err)
	}
	_, err = Parse("s.yaml", []byte(strings.Repeat("x: &x 1\n", 100)))
	if got := strings.Count(fmt.Sprint(err), "\n") + 1; got != shownErrors+1 || !strings.HasSuffix(err.Error(), "s.yaml: and 80 more errors") {
		t.Errorf("got %d errors, want %d and a remark:\n%v", got, shownErrors, err)
	}
}

func TestTooManyCombinations(t *testing.T) {
	var sizes []string
	for i := range maxChunkers + 1 {
		sizes = append(sizes, fmt.Sprint(i+1))
	}
	_, err := Parse("s.yaml", []byte("configurations:\n  a:\n    chunker: fixed\n    size: ["+strings.Join(sizes, ", ")+"]\n"))
	if err == nil || !strings.Contains(err.Error(), "s.yaml:3:14: ") || !strings.Contains(err.Error(), "more than 1000 combinations") {
		t.Errorf("got the error %v", err)
	}
}

func TestOverride(t *testing.T) {
	s, err := Parse("dir/s.yaml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	want := s
	for name, value := range map[string]string{"seed": "8", "data_path": "x/y", "k_values": "2, 4", "embedders": "bm25,model2vec:m", "budget": "100 characters", "output_dir": ""} {
		if err := s.Override(name, value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	want.Seed, want.DataPath, want.KValues, want.Embedders = 8, "x/y", []int{2, 4}, []string{"bm25", "model2vec:m"}
	want.Budget, want.OutputDir = Budget{100, "characters"}, ""
	if diff := cmp.Diff(want, s, ignorePlaces); diff != "" {
		t.Errorf("the settings differ (-want +got):\n%s", diff)
	}
	for _, test := range []struct{ name, value, want string }{
		{"seed", "x", `found the text "x", want a whole number`},
		{"k_values", "1,,2", `found the text "", want a whole number`},
		{"mode", "on", "want one of corpus, context"},
		{"data_form", "[1]", `found the text "[1]", want one of`},
		{"frob", "1", `no key "frob"`},
	} {
		if err := s.Override(test.name, test.value); err == nil || !strings.HasPrefix(err.Error(), test.want) && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: got the error %v, want %q", test.name, test.value, err, test.want)
		}
	}
	if err := s.UseChunkers([]string{"fixed/size=9", "fixed/size=8"}); err != nil || !cmp.Equal(s.Configurations, []Configuration{{Chunkers: []string{"fixed/size=9", "fixed/size=8"}}}) {
		t.Errorf("got %v, %v", s.Configurations, err)
	}
	if err := s.UseChunkers([]string{"fixed/size=9", "fixed/size=9"}); err == nil {
		t.Error("a chunker that is there twice is no error")
	}
}

func TestReadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweep.yaml")
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got the error %v, want one that names %s", err, path)
	}
	if err := os.WriteFile(path, []byte("seed: x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), path+":1:7: ") {
		t.Errorf("got the error %v, want one at %s:1:7", err, path)
	}
}

// Whatever a file holds, there are settings that can be used, or an error with a place
// within the file.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add("a: &a [*a]\nb: {<<: *a}\n")
	f.Add("%YAML 1.2\n--- !!map\nseed: !!int \"3\"\n...\n")
	f.Add("configurations:\n  a:\n    chunker: recursive\n    size: [1, 2]\n    separators: '\"\\n\"'\n")
	f.Add("\uFEFFseed: 1\r\nk_values:\r\n- 1\r\n")
	place := regexp.MustCompile(`^s\.yaml:(\d+):(\d+): `)
	f.Fuzz(func(t *testing.T, data string) {
		s, err := Parse("s.yaml", []byte(data))
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				var at, column int
				if strings.HasPrefix(line, "s.yaml: and ") {
					continue
				}
				if !place.MatchString(line) {
					t.Fatalf("%q: the error has no place: %s", data, line)
				}
				fmt.Sscanf(line, "s.yaml:%d:%d:", &at, &column)
				// YAML knows five line ends; the end of the file may be on a line of its own.
				lines := 2
				for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
					lines += strings.Count(data, end)
				}
				if at > lines || column > len(data)+2 {
					t.Fatalf("%q: the place is not in the file: %s", data, line)
				}
			}
			return
		}
		again, err := Parse("s.yaml", []byte(data))
		if err != nil || !cmp.Equal(s, again, ignorePlaces) {
			t.Fatalf("%q: read twice it differs: %v", data, err)
		}
		if len(s.KValues) == 0 || slices.Min(s.KValues) < 1 || s.MinAnswerLength < -1 || len(s.Embedders) == 0 {
			t.Fatalf("%q: got %+v", data, s)
		}
		for _, c := range s.Configurations {
			if len(c.Chunkers) == 0 {
				t.Fatalf("%q: the configuration %s has no chunker", data, c.Name)
			}
			for _, name := range c.Chunkers {
				if _, err := catalog.Parse(name); err != nil {
					t.Fatalf("%q: %v", data, err)
				}
			}
		}
	})
}

func ExampleParse() {
	_, err := Parse("sweep.yaml", []byte("seed: 42\nk_values: [1, 3, three]\nconfigurations:\n  small:\n    chunker: fixed\n    size: 200\n    overlap: 200\n"))
	fmt.Println(err)
	// Output:
	// sweep.yaml:2:18: key "k_values": found the text "three", want a whole number from 1 to 268435456
	// sweep.yaml:5:14: key "configurations.small.chunker": chunker "fixed/size=200/overlap=200": fixed-size chunker: Overlap is 200: want at least 0 and less than Size, which is 200
}
