package onnx

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// graphOf returns the file of a model that has the usual inputs.
func graphOf(build func(g *graphFile)) []byte {
	var g graphFile
	g.input(inputIDs, typeInt64, "batch_size", "sequence_length")
	g.input(inputMask, typeInt64, "batch_size", "sequence_length")
	build(&g)
	return g.file()
}

// lookUp adds an embedding of some IDs in one dimension or more.
func lookUp(g *graphFile, ids, dim int) string {
	return g.node("Gather", []string{g.floats("words", make([]float32, ids*dim), ids, dim), inputIDs}, attribute{"axis", 0})
}

// hostileModels are models' files that cannot be used.
var hostileModels = map[string][]byte{
	"empty":       {},
	"text":        []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 90387630\n"),
	"zeros":       make([]byte, 1000),
	"ones":        bytes.Repeat([]byte{0xff}, 1000),
	"no graph":    {8, 8},
	"empty graph": (&graphFile{}).file(),
	"no output":   graphOf(func(g *graphFile) { lookUp(g, 100, 4) }),
	"other inputs": func() []byte {
		var g graphFile
		g.input("pixel_values", typeFloat, "batch_size", 3)
		g.named("out", "Identity", []string{"pixel_values"})
		g.output("out", "batch_size", 3)
		return g.file()
	}(),
	"too many inputs": graphOf(func(g *graphFile) {
		g.input("position_ids", typeInt64, "batch_size", "sequence_length")
		g.named("last_hidden_state", "Identity", []string{lookUp(g, 100, 4)})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"inputs of floats": func() []byte {
		var g graphFile
		g.input(inputIDs, typeFloat, "batch_size", "sequence_length")
		g.named("last_hidden_state", "Identity", []string{inputIDs})
		g.output("last_hidden_state", "batch_size", "sequence_length")
		return g.file()
	}(),
	"input without a type": func() []byte {
		var g graphFile
		var m message
		m.text(1, inputIDs)
		g.inputs = append(g.inputs, m)
		g.named("last_hidden_state", "Identity", []string{inputIDs})
		g.output("last_hidden_state", "batch_size", "sequence_length")
		return g.file()
	}(),
	"output of numbers": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Identity", []string{inputIDs})
		g.outputs = append(g.outputs, valueInfo("last_hidden_state", typeInt64, "batch_size", "sequence_length"))
	}),
	"output of rank 4": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Unsqueeze", []string{lookUp(g, 100, 4), g.ints(0)})
		g.output("last_hidden_state", 1, "batch_size", "sequence_length", 4)
	}),
	"output of rank 1": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Reshape", []string{lookUp(g, 100, 4), g.ints(-1)})
		g.output("last_hidden_state", "n")
	}),
	"one vector for all": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Reshape", []string{lookUp(g, 100, 4), g.ints(1, 1, -1)})
		g.output("last_hidden_state", 1, 1, "n")
	}),
	"no dimensions": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Slice", []string{lookUp(g, 100, 4), g.ints(0), g.ints(0), g.ints(2), g.ints(1)})
		g.output("last_hidden_state", "batch_size", "sequence_length", "n")
	}),
	"dimensions that do not fit": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "MatMul", []string{lookUp(g, 100, 4), g.floats("weight", make([]float32, 15), 5, 3)})
		g.output("last_hidden_state", "batch_size", "sequence_length", 3)
	}),
	"too few words": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Identity", []string{lookUp(g, 10, 4)})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"unknown operator": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Hostile", []string{lookUp(g, 100, 4)})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"missing node": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Add", []string{lookUp(g, 100, 4), "nowhere"})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"node without inputs": graphOf(func(g *graphFile) {
		g.named("last_hidden_state", "Add", nil)
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"cycle": graphOf(func(g *graphFile) {
		g.named("a", "Add", []string{lookUp(g, 100, 4), "last_hidden_state"})
		g.named("last_hidden_state", "Identity", []string{"a"})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"huge tensor": graphOf(func(g *graphFile) {
		g.initializers = append(g.initializers, tensorProto("words", typeFloat, rawFloats([]float32{1}), 1<<40, 1<<20))
		g.named("last_hidden_state", "Gather", []string{"words", inputIDs}, attribute{"axis", 0})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"huge tensor, times 2^64": graphOf(func(g *graphFile) {
		g.initializers = append(g.initializers, tensorProto("words", typeFloat, nil, 1<<32, 1<<32))
		g.named("last_hidden_state", "Gather", []string{"words", inputIDs}, attribute{"axis", 0})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"negative dimensions": graphOf(func(g *graphFile) {
		g.initializers = append(g.initializers, tensorProto("words", typeFloat, rawFloats(make([]float32, 4)), -2, -2))
		g.named("last_hidden_state", "Gather", []string{"words", inputIDs}, attribute{"axis", 0})
		g.output("last_hidden_state", "batch_size", "sequence_length", 4)
	}),
	"not finite": graphOf(func(g *graphFile) {
		words := g.floats("words", []float32{float32(math.Inf(1))}, 1, 1)
		zero := g.node("Sub", []string{inputIDs, inputIDs})
		g.named("last_hidden_state", "Gather", []string{words, zero}, attribute{"axis", 0})
		g.output("last_hidden_state", "batch_size", "sequence_length", 1)
	}),
}

// replaced returns a model's folder whose model.onnx has the given content.
func replaced(tb testing.TB, content []byte) string {
	tb.Helper()
	dir := modelDir(tb, newBERT(tiny), nil)
	if err := os.WriteFile(filepath.Join(dir, "model.onnx"), content, 0o644); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func TestHostileModelsAreErrors(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		check := func(name string, content []byte) {
			e := &Embedder{Model: Model{Dir: replaced(t, content), Backend: backend}}
			defer e.Close()
			_, err := e.Embed(t.Context(), sentences)
			if err == nil {
				t.Errorf("%s: no error", name)
				return
			}
			if !strings.Contains(err.Error(), "tiny-bert") {
				t.Errorf("%s: the error does not name the model: %v", name, err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: the error has several lines: %q", name, err)
			}
			t.Logf("%s: %v", name, err)
		}
		for name, content := range hostileModels {
			check(name, content)
		}
		whole := newBERT(tiny).file()
		for _, n := range []int{1, 10, len(whole) / 3, len(whole) / 2, len(whole) - 1} {
			check("truncated", whole[:n])
		}
	})
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	dir := modelDir(t, newBERT(tiny), nil)
	without := func(file string) string {
		dir := modelDir(t, newBERT(tiny), nil)
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	none := filepath.Join(t.TempDir(), "all-MiniLM-L6-v2")
	notLibrary := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if err := os.WriteFile(notLibrary, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model Model
		want  []string
	}{
		{Model{}, []string{`onnx.Embedder: loading the model in "": field Dir: got "", want the folder of a model`}},
		{Model{Dir: dir, Backend: 7}, []string{"field Backend: got 7, want AnyBackend, ONNXRuntime or PureGo"}},
		{Model{Dir: dir, Backend: PureGo, Library: "x"}, []string{`field Library: got "x", want none with the backend PureGo`}},
		{Model{Dir: dir, MaxTokens: -1}, []string{"field MaxTokens: got -1, want at least 0"}},
		{Model{Dir: dir, BatchTokens: -1}, []string{"field BatchTokens: got -1, want at least 0"}},
		{Model{Dir: dir, Backend: PureGo, MaxTokens: 2}, []string{"reads at most 2 tokens", "want more than its 2 special ones"}},
		{Model{Dir: none}, []string{none, "no such folder", "hf download", "optimum-cli export onnx"}},
		{Model{Dir: without("model.onnx")}, []string{"there is no file model.onnx or onnx/model.onnx", "hf download"}},
		{Model{Dir: dir, File: "quantized.onnx"}, []string{"there is no file quantized.onnx", "hf download"}},
		{Model{Dir: without("tokenizer.json")}, []string{"there is no file tokenizer.json", "hf download"}},
		{Model{Dir: dir, Library: "no/such/lib.so"}, []string{`field Library is "no/such/lib.so"`, "no such file", "github.com/microsoft/onnxruntime/releases", "npm install", "ORT_LIBRARY_PATH", "PureGo"}},
		{Model{Dir: dir, Library: dir}, []string{"field Library is", "a folder that holds none of", "npm install"}},
		{Model{Dir: dir, Library: notLibrary}, []string{"loading ONNX Runtime from " + notLibrary, "want version 1.23 or later"}},
	} {
		err := (&Embedder{Model: test.model}).Validate()
		for _, text := range test.want {
			wantError(t, err, text)
		}
		_, other := (&CrossEncoder[chunkers.Chunk]{Model: test.model}).Rerank(t.Context(), "q", make([]ragtest.ScoredChunk[chunkers.Chunk], 1))
		if other == nil {
			t.Errorf("%+v: a CrossEncoder gives no error", test.model)
		}
	}
	if err := (&Embedder{Model: Model{Dir: dir}, Pooling: 9}).Validate(); err == nil {
		t.Error("Pooling 9: no error")
	}
	if err := (&Embedder{Model: Model{Dir: dir}, Normalization: -1}).Validate(); err == nil {
		t.Error("Normalization -1: no error")
	}
}

// The library is where the field says, or the environment, or else in a usual
// place; if nobody says and there is none, Go does it.
func TestFindLibrary(t *testing.T) {
	if len(libraryNames) == 0 {
		t.Skip("libraries cannot be loaded on this system")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, libraryNames[0])
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	set := func(library, usual string) {
		t.Setenv("ORT_LIBRARY_PATH", library)
		for _, v := range libraryVariables {
			t.Setenv(v, usual)
		}
	}
	expect := func(field, want string) {
		t.Helper()
		if got, err := findLibrary(field); got != want || err != nil {
			t.Errorf("got %q, error %v, want %q", got, err, want)
		}
	}
	set("", "relative:"+dir)
	expect("", file)
	expect(dir, file)
	set(file, "")
	expect("", file)
	set(dir, "")
	expect("", file)
	t.Chdir(dir)
	expect(".", file)
	set("nowhere", dir)
	_, err := findLibrary("")
	wantError(t, err, `ORT_LIBRARY_PATH is "nowhere"`)

	usual := libraryDirs
	defer func() { libraryDirs = usual }()
	libraryDirs = nil
	set("", "")
	_, err = findLibrary("")
	wantError(t, err, "ONNX Runtime's shared library was not found: download version 1.23 or later")
	model := modelDir(t, newBERT(tiny), nil)
	e := closed(t, &Embedder{Model: Model{Dir: model}})
	if name, err := e.Runs(); name != "GoMLX" || err != nil {
		t.Errorf("without a library: got %q, error %v, want GoMLX", name, err)
	}
	wantError(t, (&Embedder{Model: Model{Dir: model, Backend: ONNXRuntime}}).Validate(), "was not found")
}

// Whatever a file holds, the pure-Go backend gives numbers or an error.
func FuzzGoModel(f *testing.F) {
	f.Add(newBERT(bert{layers: 1, hidden: 4, heads: 2, inner: 4, vocabulary: 4, positions: 8, segments: true}).file())
	f.Add(newBERT(bert{layers: 1, hidden: 4, heads: 1, inner: 4, vocabulary: 4, positions: 8, labels: 2}).file())
	for _, content := range hostileModels {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "model.onnx")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := openGo(path)
		if err != nil || checkInputs(s.inputs()) != nil || len(s.outputs()) == 0 {
			return
		}
		b := newBatch(1, 4, 0)
		b.set(0, encoding{ids: []int{2, 1, 3}, segments: []int{0, 0, 1}})
		out, err := s.run(s.outputs()[0], b)
		if err == nil && len(out.data) == 0 && len(out.shape) == 0 {
			t.Error("neither numbers nor an error")
		}
	})
}
