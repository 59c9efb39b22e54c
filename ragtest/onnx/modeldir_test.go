package onnx

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers/tokens"
)

// tiny is the model that most tests run.
var tiny = bert{layers: 2, hidden: 32, heads: 4, inner: 64, vocabulary: 100, positions: 96, segments: true}

// modelDir writes a model, a tokenizer and other files, by name, into a folder
// named tiny-bert.
func modelDir(tb testing.TB, b *bert, files map[string]string) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "tiny-bert")
	write := func(name, content string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	write("model.onnx", string(b.file()))
	write("tokenizer.json", tokenizerJSON)
	write("config.json", fmt.Sprintf(`{"model_type": "bert", "max_position_embeddings": %d, "pad_token_id": 0}`, b.positions))
	for name, content := range files {
		write(name, content)
	}
	return dir
}

// tokenizerJSON is a WordPiece tokenizer with 95 tokens: special ones, letters
// and digits at the beginning and inside of words, and some words.
var tokenizerJSON = func() string {
	vocabulary := map[string]int{}
	for _, token := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "key", "##s", "sleep", "every", "day", "on", ".", "?", ",", ":", "query", "passage"} {
		vocabulary[token] = len(vocabulary)
	}
	for c := 'a'; c <= 'z'; c++ {
		vocabulary[string(c)] = len(vocabulary)
		if c != 's' {
			vocabulary["##"+string(c)] = len(vocabulary)
		}
	}
	for c := '0'; c <= '9'; c++ {
		vocabulary[string(c)] = len(vocabulary)
		vocabulary["##"+string(c)] = len(vocabulary)
	}
	special := func(token string, segment int) map[string]any {
		return map[string]any{"SpecialToken": map[string]any{"id": token, "type_id": segment}}
	}
	sequence := func(name string, segment int) map[string]any {
		return map[string]any{"Sequence": map[string]any{"id": name, "type_id": segment}}
	}
	ids := func(token string) map[string]any {
		return map[string]any{"id": token, "ids": []int{vocabulary[token]}, "tokens": []string{token}}
	}
	content, err := json.Marshal(map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model": map[string]any{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
			"vocab": vocabulary,
		},
		"post_processor": map[string]any{
			"type":           "TemplateProcessing",
			"single":         []any{special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)},
			"pair":           []any{special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0), sequence("B", 1), special("[SEP]", 1)},
			"special_tokens": map[string]any{"[CLS]": ids("[CLS]"), "[SEP]": ids("[SEP]")},
		},
	})
	if err != nil {
		panic(err)
	}
	return string(content)
}()

// tinyTokenizer reads tokenizerJSON by the package that the code under test
// uses too; what it gives for real texts is compared elsewhere.
func tinyTokenizer(tb testing.TB) *tokens.ModelTokenizer {
	tb.Helper()
	tokenizer, err := tokens.ReadTokenizer("tiny", []byte(tokenizerJSON))
	if err != nil {
		tb.Fatal(err)
	}
	return tokenizer
}

// onBackends runs a test on each backend. That of ONNX Runtime is skipped unless
// ORT_LIBRARY_PATH is set.
func onBackends(t *testing.T, test func(t *testing.T, backend Backend)) {
	t.Helper()
	t.Run("PureGo", func(t *testing.T) { test(t, PureGo) })
	t.Run("ONNXRuntime", func(t *testing.T) {
		needLibrary(t)
		test(t, ONNXRuntime)
	})
}

func needLibrary(tb testing.TB) {
	tb.Helper()
	if os.Getenv("ORT_LIBRARY_PATH") == "" {
		tb.Skip("ORT_LIBRARY_PATH is not set: it names ONNX Runtime's shared library; see .ci/legs/onnx")
	}
}

// closed closes a component at the end of the test.
func closed[C interface{ Close() error }](tb testing.TB, component C) C {
	tb.Helper()
	tb.Cleanup(func() {
		if err := component.Close(); err != nil {
			tb.Error(err)
		}
	})
	return component
}

var sentences = []string{
	"The cat sleeps on the warm windowsill.",
	"Keys, every 90 days?",
	"a",
	"",
	"What is not in the vocabulary: ~ § 東京 ~",
	strings.Repeat("every day ", 20),
	"Quarterly revenue grew by seven percent on 17 days.",
}
