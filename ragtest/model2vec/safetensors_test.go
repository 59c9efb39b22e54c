package model2vec

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

// safetensorsFile returns a file with the given header and size bytes of data.
func safetensorsFile(header string, size int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return slices.Concat(file, []byte(header), make([]byte, size))
}

const twoTensors = `{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},"b":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}}   `

func TestParseSafetensors(t *testing.T) {
	tensors, err := parseSafetensors(safetensorsFile(twoTensors, 12))
	if err != nil {
		t.Fatal(err)
	}
	a, b := tensors["a"], tensors["b"]
	if len(tensors) != 2 || a.dtype != "F32" || !slices.Equal(a.shape, []int{2, 1}) || len(a.data) != 8 || len(b.data) != 4 {
		t.Errorf("got %v", tensors)
	}
	for _, empty := range []string{"{}", `{"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}}`} {
		if _, err := parseSafetensors(safetensorsFile(empty, 0)); err != nil {
			t.Errorf("%s: got error %v", empty, err)
		}
	}
	scalar := `{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"b":{"dtype":"F4","shape":[2],"data_offsets":[4,5]}}`
	if _, err := parseSafetensors(safetensorsFile(scalar, 5)); err != nil {
		t.Errorf("a scalar and an unknown type: got error %v", err)
	}
}

func TestParseSafetensorsErrors(t *testing.T) {
	header := func(length uint64, rest string) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, length), rest...)
	}
	edit := func(old, new string) []byte {
		if !strings.Contains(twoTensors, old) {
			t.Fatalf("the header does not have %s", old)
		}
		return safetensorsFile(strings.Replace(twoTensors, old, new, 1), 12)
	}
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "the file has 0 bytes: want at least the 8 of the header's length"},
		{"short", make([]byte, 7), "the file has 7 bytes"},
		{"length", header(math.MaxUint64, "{}"), "the header's length is 18446744073709551615 bytes: want at most 100000000"},
		{"length above all", header(3, "{}"), "the header's length is 3 bytes: the file has 2 after it"},
		{"no header", header(0, "{}"), "the header does not begin with {"},
		{"spaces", header(3, " {}"), "the header does not begin with {"},
		{"array", header(2, "[]"), "the header does not begin with {"},
		{"cut JSON", header(1, "{}"), "the header: unexpected end of JSON input"},
		{"deep JSON", header(100005, `{"a":`+strings.Repeat("[", 100000)), "the header: "},
		{"not UTF-8 JSON", header(4, "{\xff\xff}"), "the header: "},
		{"tensor type", edit(`{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}`, `7`), `tensor "a": json: cannot unmarshal number`},
		{"no offsets", edit(`"data_offsets":[4,12]`, `"x":0`), `tensor "a": data_offsets has 0 numbers: want 2`},
		{"three offsets", edit("[4,12]", "[4,12,13]"), `tensor "a": data_offsets has 3 numbers: want 2`},
		{"backwards", edit("[4,12]", "[12,4]"), `tensor "a": data_offsets is [12, 4]: want a range in the 12 bytes of data`},
		{"beyond", edit("[4,12]", "[4,13]"), `tensor "a": data_offsets is [4, 13]: want a range in the 12 bytes of data`},
		{"far beyond", edit("[4,12]", "[18446744073709551608,18446744073709551615]"), `tensor "a": data_offsets is [18446744073709551608, 18446744073709551615]: want a range`},
		{"overflow", edit("[4,12]", "[4,18446744073709551616]"), `tensor "a": json: cannot unmarshal number 18446744073709551616`},
		{"negative offset", edit("[4,12]", "[-4,12]"), `tensor "a": json: cannot unmarshal number -4`},
		{"fraction", edit("[4,12]", "[4.5,12]"), `tensor "a": json: cannot unmarshal number 4.5`},
		{"negative shape", edit("[2,1]", "[-2,1]"), `tensor "a": json: cannot unmarshal number -2`},
		{"shape", edit("[2,1]", "[2,2]"), `tensor "a": shape is [2 2]: the file has 12 bytes of data`},
		{"small shape", edit("[2,1]", "[1,1]"), `tensor "a": data_offsets is [4, 12], 8 bytes: dtype F32 and shape [1 1] need 4`},
		{"shape overflow", edit("[2,1]", "[4611686018427387904,4]"), `tensor "a": shape is [4611686018427387904 4]: the file has 12 bytes`},
		{"shape wraps to 8", edit("[2,1]", "[9223372036854775809,2]"), `tensor "a": shape is [9223372036854775809 2]: the file has`},
		{"overlap", edit("[0,4]", "[2,6]"), `tensor "b": data_offsets is [2, 6]: bytes 0 to 2 of the data belong to no tensor`},
		{"overlap inside", edit(`"b":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}`, `"b":{"dtype":"I8","shape":[6],"data_offsets":[0,6]}`), `tensor "a": data_offsets is [4, 12], which overlaps with tensor "b"`},
		{"hole", edit(`"b":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}`, `"b":{"dtype":"I8","shape":[3],"data_offsets":[0,3]}`), `tensor "a": data_offsets is [4, 12]: bytes 3 to 4 of the data belong to no tensor`},
		{"rest", safetensorsFile(twoTensors, 13), "bytes 12 to 13 of the data belong to no tensor"},
		{"truncated", safetensorsFile(twoTensors, 11), `tensor "a": data_offsets is [4, 12]: want a range in the 11 bytes of data`},
	} {
		if _, err := parseSafetensors(test.file); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %s", test.name, err, test.want)
		}
	}
}

func FuzzParseSafetensors(f *testing.F) {
	f.Add(safetensorsFile(twoTensors, 12))
	f.Add(safetensorsFile("{}", 0))
	f.Add(safetensorsFile(`{"embeddings":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}`, 4))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x80{}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		tensors, err := parseSafetensors(content)
		if err != nil {
			return
		}
		for name, tensor := range tensors {
			m, err := newMatrix(tensor)
			if err != nil {
				continue
			}
			if _, err := m.peaks(); err == nil && m.rows*m.rowBytes != len(m.data) {
				t.Errorf("tensor %q: %d rows of %d bytes, but %d bytes", name, m.rows, m.rowBytes, len(m.data))
			}
		}
	})
}
