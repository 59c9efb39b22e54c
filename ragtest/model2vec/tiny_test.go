package model2vec_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tinyModel is a Model2Vec model with a vocabulary of a few words.
type tinyModel struct {
	config, tokenizer string
	tensors           []tinyTensor
}

type tinyTensor struct {
	name, dtype string
	shape       []int
	values      []float64
}

var tinyWords = []string{"[UNK]", "the", "cat", "dog", "sat", "ran", "on", "mat", ".", "##s"}

// newTinyModel returns a model with fixed pseudo-random rows of dim components.
func newTinyModel(dim int) *tinyModel {
	vocabulary := map[string]int{}
	for id, word := range tinyWords {
		vocabulary[word] = id
	}
	vocab, _ := json.Marshal(vocabulary)
	m := &tinyModel{
		config: `{"model_type": "model2vec", "normalize": true}`,
		tokenizer: `{
			"added_tokens": [],
			"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
			"pre_tokenizer": {"type": "BertPreTokenizer"},
			"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ` + string(vocab) + `}
		}`,
	}
	state := uint32(1)
	values := make([]float64, len(tinyWords)*dim)
	for i := range values {
		state = state*1664525 + 1013904223 // Numerical Recipes' generator
		values[i] = float64(int(state>>24) - 128)
	}
	m.tensors = []tinyTensor{{"embeddings", "F32", []int{len(tinyWords), dim}, values}}
	return m
}

// safetensors returns the tensors in that format.
func (m *tinyModel) safetensors() []byte {
	var data []byte
	var entries []string
	for _, t := range m.tensors {
		start := len(data)
		for _, x := range t.values {
			data = appendNumber(data, t.dtype, x)
		}
		shape, _ := json.Marshal(t.shape)
		entries = append(entries, fmt.Sprintf(`%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, t.name, t.dtype, shape, start, len(data)))
	}
	return withHeader("{"+strings.Join(entries, ",")+"}", data)
}

func withHeader(header string, data []byte) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return slices.Concat(file, []byte(header), data)
}

// appendNumber appends x, which the type can hold.
func appendNumber(data []byte, dtype string, x float64) []byte {
	switch dtype {
	case "F64":
		return binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	case "F32":
		return binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	case "F16":
		return binary.LittleEndian.AppendUint16(data, halfBits(x))
	case "BF16":
		return binary.LittleEndian.AppendUint16(data, uint16(math.Float32bits(float32(x))>>16))
	case "I64":
		return binary.LittleEndian.AppendUint64(data, uint64(int64(x)))
	case "I32":
		return binary.LittleEndian.AppendUint32(data, uint32(int32(x)))
	case "I8", "U8":
		return append(data, byte(int(x)))
	}
	panic("no type " + dtype)
}

// halfBits returns the bits of x in binary16, if that has it as a normal number.
func halfBits(x float64) uint16 {
	if x == 0 {
		return 0
	}
	sign := uint16(0)
	if x < 0 {
		sign, x = 1<<15, -x
	}
	fraction, exponent := math.Frexp(x) // x = fraction·2^exponent, fraction in [½, 1)
	return sign | uint16(exponent-1+15)<<10 | uint16((2*fraction-1)*1024)
}

// write writes the three files to dir.
func (m *tinyModel) write(dir string) error {
	for name, content := range map[string][]byte{
		"config.json":       []byte(m.config),
		"tokenizer.json":    []byte(m.tokenizer),
		"model.safetensors": m.safetensors(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
