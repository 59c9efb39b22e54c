package model2vec

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rageval/rageval/chunkers/tokens"
)

// Open reads the model in a directory: model.safetensors, tokenizer.json and
// config.json, which are read once and not kept open. The base of the directory
// names the model.
//
// The tensors are "embeddings", with a row for each token, or for each group of
// tokens, in F64, F32, F16, BF16 or I8; optionally "weights", a floating-point
// number for each token, by which its row is multiplied; and optionally
// "mapping", an I32 or I64 for each token, which is its row. The last two are
// what Model2Vec writes where it quantizes the vocabulary.
//
// The error names the file and the field or tensor. What memory is used is a
// small multiple of the files' sizes, whatever they hold.
func Open(dir string) (*Embedder, error) {
	e, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the Model2Vec model %s: %w", dir, err)
	}
	return e, nil
}

func open(dir string) (*Embedder, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	e := &Embedder{name: plainName(filepath.Base(absolute))}
	config, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	if e.normalizes, err = parseConfig(config); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	tokenizer, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	if e.tokenizer, err = tokens.ReadTokenizer(e.name, tokenizer); err != nil {
		return nil, err
	}
	model, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return nil, err
	}
	if err := e.setTensors(model); err != nil {
		return nil, fmt.Errorf("model.safetensors: %w", err)
	}
	return e, nil
}

// plainName replaces what a name of a tokenizer cannot hold.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, s)
}

// parseConfig returns whether vectors are normalised. Model2Vec takes a missing
// "normalize" for false.
func parseConfig(content []byte) (normalizes bool, err error) {
	var config struct{ Normalize *bool }
	if err := json.Unmarshal(content, &config); err != nil {
		return false, err
	}
	return config.Normalize != nil && *config.Normalize, nil
}

func (e *Embedder) setTensors(content []byte) error {
	tensors, err := parseSafetensors(content)
	if err != nil {
		return err
	}
	embeddings, ok := tensors["embeddings"]
	if !ok {
		return fmt.Errorf("there is no tensor \"embeddings\", only %q: want a Model2Vec model", slices.Sorted(maps.Keys(tensors)))
	}
	if e.rows, err = newMatrix(embeddings); err != nil {
		return fmt.Errorf("tensor \"embeddings\": %w", err)
	}
	size := e.tokenizer.Size()
	if t, ok := tensors["mapping"]; ok {
		if e.mapping, err = parseMapping(t, size, e.rows.rows); err != nil {
			return fmt.Errorf("tensor \"mapping\": %w", err)
		}
	} else if e.rows.rows != size {
		return fmt.Errorf("tensor \"embeddings\": shape is %d: tokenizer.json has %d tokens", embeddings.shape, size)
	}
	if t, ok := tensors["weights"]; ok {
		if e.weights, err = parseWeights(t, size); err != nil {
			return fmt.Errorf("tensor \"weights\": %w", err)
		}
	}
	peaks, err := e.rows.peaks()
	if err != nil {
		return fmt.Errorf("tensor \"embeddings\": %w", err)
	}
	for id := range size { // so that no mean is infinite
		row, weight := e.rowOf(id)
		if greatest := math.Abs(weight) * peaks[row]; greatest > math.MaxFloat32 {
			return fmt.Errorf("tensor \"embeddings\": row %d times the weight of token %d has the component %.4g: want what a float32 can hold", row, id, greatest)
		}
	}
	return nil
}

// parseMapping returns the row of each of size tokens, below rows.
func parseMapping(t tensor, size, rows int) ([]int32, error) {
	if len(t.shape) != 1 || t.shape[0] != size {
		return nil, fmt.Errorf("shape is %d: want [%d], the number of tokens of tokenizer.json", t.shape, size)
	}
	mapping := make([]int32, size)
	for id := range mapping {
		var row int64
		switch t.dtype {
		case "I32":
			row = int64(int32(binary.LittleEndian.Uint32(t.data[4*id:])))
		case "I64":
			row = int64(binary.LittleEndian.Uint64(t.data[8*id:]))
		default:
			return nil, fmt.Errorf("dtype is %q: want I32 or I64", t.dtype)
		}
		if row < 0 || row >= int64(rows) || row > math.MaxInt32 {
			return nil, fmt.Errorf("the row of token %d is %d: want one from 0 to %d", id, row, rows-1)
		}
		mapping[id] = int32(row)
	}
	return mapping, nil
}

// parseWeights returns the weight of each of size tokens.
func parseWeights(t tensor, size int) ([]float64, error) {
	if len(t.shape) != 1 || t.shape[0] != size {
		return nil, fmt.Errorf("shape is %d: want [%d], the number of tokens of tokenizer.json", t.shape, size)
	}
	switch t.dtype {
	case "F64", "F32", "F16", "BF16":
	default:
		return nil, fmt.Errorf("dtype is %q: want F64, F32, F16 or BF16", t.dtype)
	}
	t.shape = []int{size, 1}
	column, err := newMatrix(t)
	if err != nil {
		return nil, err
	}
	weights := make([]float64, size)
	for id := range weights {
		column.add(weights[id:id+1], id, 1)
		if math.IsNaN(weights[id]) || math.IsInf(weights[id], 0) {
			return nil, fmt.Errorf("the weight of token %d is %v: want a finite number", id, weights[id])
		}
	}
	return weights, nil
}
