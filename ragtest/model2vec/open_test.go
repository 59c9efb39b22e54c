package model2vec_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rageval/rageval/ragtest/model2vec"
)

func openTiny(tb testing.TB, m *tinyModel) (*model2vec.Embedder, error) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := m.write(dir); err != nil {
		tb.Fatal(err)
	}
	return model2vec.Open(dir)
}

func mustOpenTiny(tb testing.TB, m *tinyModel) *model2vec.Embedder {
	tb.Helper()
	e, err := openTiny(tb, m)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func mustEmbed(tb testing.TB, e *model2vec.Embedder, texts ...string) [][]float32 {
	tb.Helper()
	vectors, err := e.Embed(tb.Context(), texts)
	if err != nil {
		tb.Fatal(err)
	}
	return vectors
}

// meanOf returns the mean of rows, each times its weight.
func meanOf(rows [][]float64, weights ...float64) []float32 {
	mean := make([]float32, len(rows[0]))
	for i := range mean {
		sum := 0.0
		for j, row := range rows {
			sum += row[i] * weights[j]
		}
		mean[i] = float32(sum / float64(len(rows)))
	}
	return mean
}

// unit returns v, divided by its length.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	result := make([]float32, len(v))
	for i, x := range v {
		result[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return result
}

var near = cmpopts.EquateApprox(1e-6, 0)

// The numbers of every type, which all can hold exactly, give the same vectors.
func TestTypes(t *testing.T) {
	const dim = 3
	rows := [][]float64{{1, 2, 3}, {4, 5, -6}}
	for _, dtype := range []string{"F64", "F32", "F16", "BF16", "I8"} {
		m := newTinyModel(dim)
		m.config = `{}` // as in Model2Vec, that is not normalised
		values := make([]float64, len(tinyWords)*dim)
		copy(values[2*dim:], rows[0])
		copy(values[3*dim:], rows[1])
		m.tensors = []tinyTensor{{"embeddings", dtype, []int{len(tinyWords), dim}, values}}
		e := mustOpenTiny(t, m)
		if e.Dimension() != dim {
			t.Errorf("%s: got %d dimensions, want %d", dtype, e.Dimension(), dim)
		}
		got := mustEmbed(t, e, "Cat cat DOG", "xyz", "", "cat xyz")
		want := [][]float32{meanOf([][]float64{rows[0], rows[0], rows[1]}, 1, 1, 1), {0, 0, 0}, {0, 0, 0}, meanOf(rows[:1], 1)}
		if diff := cmp.Diff(want, got, near); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", dtype, diff)
		}
	}
}

func TestWeightsAndMapping(t *testing.T) {
	rows := [][]float64{{1, 2}, {-3, 4}}
	for _, dtypes := range [][2]string{{"F64", "I32"}, {"F32", "I64"}, {"F16", "I32"}, {"BF16", "I64"}} {
		m := newTinyModel(2)
		weights := make([]float64, len(tinyWords))
		mapping := make([]float64, len(tinyWords))
		weights[2], weights[3], weights[9] = 0.5, 2, -1
		mapping[3] = 1
		m.tensors = []tinyTensor{
			{"weights", dtypes[0], []int{len(tinyWords)}, weights},
			{"embeddings", "F32", []int{2, 2}, append(append([]float64{}, rows[0]...), rows[1]...)},
			{"mapping", dtypes[1], []int{len(tinyWords)}, mapping},
		}
		got := mustEmbed(t, mustOpenTiny(t, m), "cats dog", "the")
		mean := meanOf([][]float64{rows[0], rows[0], rows[1]}, 0.5, -1, 2)
		if diff := cmp.Diff([][]float32{unit(mean), {0, 0}}, got, near); diff != "" {
			t.Errorf("%v (-want, +got):\n%s", dtypes, diff)
		}
	}
}

// Vectors whose squares vanish or overflow a float32 are normalised too.
func TestExtremeNumbers(t *testing.T) {
	for _, x := range []float64{1e-300, 5e-324, 1e-45, 3e38} {
		m := newTinyModel(2)
		values := make([]float64, len(tinyWords)*2)
		values[4], values[5] = x, -x
		m.tensors = []tinyTensor{{"embeddings", "F64", []int{len(tinyWords), 2}, values}}
		h := float32(math.Sqrt(0.5))
		if diff := cmp.Diff([][]float32{{h, -h}}, mustEmbed(t, mustOpenTiny(t, m), "cat cat cat"), near); diff != "" {
			t.Errorf("%g (-want, +got):\n%s", x, diff)
		}
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x0001: 0x1p-24, 0x03ff: 0x1.ff8p-15, 0x0400: 0x1p-14, 0x3c00: 1, 0x3555: 0x1.554p-2,
		0x7bff: 65504, 0xfbff: -65504, 0x8001: -0x1p-24, 0xc000: -2,
	} {
		m := newTinyModel(1)
		m.config = `{"normalize": false}`
		m.tensors[0] = tinyTensor{"embeddings", "F16", []int{len(tinyWords), 1}, make([]float64, len(tinyWords))}
		dir := t.TempDir()
		if err := m.write(dir); err != nil {
			t.Fatal(err)
		}
		file := m.safetensors()
		row := file[len(file)-2*len(tinyWords)+4:]
		row[0], row[1] = byte(bits), byte(bits>>8)
		if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), file, 0o644); err != nil {
			t.Fatal(err)
		}
		e, err := model2vec.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustEmbed(t, e, "cat")[0][0]; got != want {
			t.Errorf("%#04x: got %g, want %g", bits, got, want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	n := len(tinyWords)
	numbers := make([]float64, 2*n)
	with := func(at int, x float64) []float64 {
		values := append([]float64{}, numbers...)
		values[at] = x
		return values
	}
	tensors := func(tensors ...tinyTensor) func(*tinyModel) {
		return func(m *tinyModel) { m.tensors = tensors }
	}
	embeddings := tinyTensor{"embeddings", "F32", []int{n, 2}, numbers}
	for _, test := range []struct {
		name   string
		change func(m *tinyModel)
		want   string
	}{
		{"config", func(m *tinyModel) { m.config = "{" }, "config.json: unexpected end of JSON input"},
		{"config type", func(m *tinyModel) { m.config = `{"normalize": 1}` }, "config.json: json: cannot unmarshal number into Go struct field .Normalize of type bool"},
		{"tokenizer", func(m *tinyModel) { m.tokenizer = "{}" }, `reading the tokenizer.json of tiny: model.type is ""`},
		{"no tensor", tensors(), `model.safetensors: there is no tensor "embeddings", only []: want a Model2Vec model`},
		{"other tensor", tensors(tinyTensor{"a", "F32", []int{1}, []float64{1}}), `there is no tensor "embeddings", only ["a"]`},
		{"shape", tensors(tinyTensor{"embeddings", "F32", []int{2 * n}, numbers}), `model.safetensors: tensor "embeddings": shape is [20]: want rows and columns`},
		{"no columns", tensors(tinyTensor{"embeddings", "F32", []int{n, 0}, nil}), `tensor "embeddings": shape is [10 0]: want rows and columns`},
		{"no rows", tensors(tinyTensor{"embeddings", "F32", []int{0, 5}, nil}), `tensor "embeddings": shape is [0 5]: want rows and columns`},
		{"rows", tensors(tinyTensor{"embeddings", "F32", []int{n / 2, 4}, numbers}), `tensor "embeddings": shape is [5 4]: tokenizer.json has 10 tokens`},
		{"dtype", tensors(tinyTensor{"embeddings", "U8", []int{n, 2}, numbers}), `tensor "embeddings": dtype is "U8": want F64, F32, F16, BF16 or I8`},
		{"nan", tensors(tinyTensor{"embeddings", "F32", []int{n, 2}, with(7, math.NaN())}), `tensor "embeddings": row 3, column 1 is NaN: want a finite number`},
		{"infinite", tensors(tinyTensor{"embeddings", "BF16", []int{n, 2}, with(0, math.Inf(-1))}), `tensor "embeddings": row 0, column 0 is -Inf: want a finite number`},
		{"too great", tensors(tinyTensor{"embeddings", "F64", []int{n, 2}, with(4, 1e39)}), `tensor "embeddings": row 2 times the weight of token 2 has the component 1e+39: want what a float32 can hold`},
		{"weights too great", tensors(tinyTensor{"embeddings", "F64", []int{n, 2}, with(4, 1e30)}, tinyTensor{"weights", "F64", []int{n}, with(2, -1e30)[:n]}), `row 2 times the weight of token 2 has the component 1e+60`},
		{"weights", tensors(embeddings, tinyTensor{"weights", "F32", []int{2 * n}, numbers}), `tensor "weights": shape is [20]: want [10], the number of tokens of tokenizer.json`},
		{"weights dtype", tensors(embeddings, tinyTensor{"weights", "I32", []int{n}, numbers[:n]}), `tensor "weights": dtype is "I32": want F64, F32, F16 or BF16`},
		{"weights nan", tensors(embeddings, tinyTensor{"weights", "F64", []int{n}, with(9, math.NaN())[:n]}), `tensor "weights": the weight of token 9 is NaN`},
		{"mapping", tensors(embeddings, tinyTensor{"mapping", "I32", []int{n, 1}, numbers[:n]}), `tensor "mapping": shape is [10 1]: want [10]`},
		{"mapping dtype", tensors(embeddings, tinyTensor{"mapping", "F32", []int{n}, numbers[:n]}), `tensor "mapping": dtype is "F32": want I32 or I64`},
		{"mapping too great", tensors(embeddings, tinyTensor{"mapping", "I32", []int{n}, with(1, float64(n))[:n]}), `tensor "mapping": the row of token 1 is 10: want one from 0 to 9`},
		{"mapping negative", tensors(embeddings, tinyTensor{"mapping", "I64", []int{n}, with(3, -1)[:n]}), `tensor "mapping": the row of token 3 is -1: want one from 0 to 9`},
	} {
		m := newTinyModel(2)
		test.change(m)
		_, err := openTiny(t, m)
		if err == nil || !strings.HasPrefix(err.Error(), "opening the Model2Vec model ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %s", test.name, err, test.want)
		}
	}
}

func TestOpenWithoutFiles(t *testing.T) {
	for _, name := range []string{"config.json", "tokenizer.json", "model.safetensors"} {
		dir := t.TempDir()
		if err := newTinyModel(2).write(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := model2vec.Open(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("without %s: got error %v, want that it does not exist", name, err)
		}
	}
}
