package embedcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

const (
	magic    = "ragtest-embeddings"
	version  = 1
	maxDim   = 1 << 20 // components: far more than any model has
	maxModel = 1024    // bytes

	keyDigits = 2 * sha256.Size
	sumDigits = 2 * crc32.Size
)

// header is the first line of a file: what all its vectors have in common.
type header struct {
	model   string
	float16 bool
	queries bool // queries are embedded otherwise than chunks
	dim     int  // components of each vector
}

// line returns the header as it stands in the file.
func (h header) line() []byte {
	return seal(fmt.Appendf(nil, "%s %d %s %d %s %s", magic, version, h.encoding(), h.dim, h.inputs(), strconv.QuoteToASCII(h.model)))
}

func (h header) encoding() string {
	if h.float16 {
		return "float16"
	}
	return "float32"
}

func (h header) inputs() string {
	if h.queries {
		return "asymmetric"
	}
	return "symmetric"
}

// componentSize is the number of bytes that one component takes before base64.
func (h header) componentSize() int {
	if h.float16 {
		return 2
	}
	return 4
}

// vectorDigits is the length of the base64 form of a vector.
func (h header) vectorDigits() int {
	return base64.RawStdEncoding.EncodedLen(h.dim * h.componentSize())
}

// parseHeader parses the first line of a file.
func parseHeader(line []byte) (header, error) {
	if !bytes.HasPrefix(line, []byte(magic+" ")) {
		return header{}, fmt.Errorf("not an embedding cache: want it to begin with %q, found %q", magic, line[:min(len(line), 40)])
	}
	fields := strings.SplitN(string(line), " ", 3)
	if v, err := strconv.Atoi(fields[1]); len(fields) == 3 && err == nil && v > version {
		return header{}, fmt.Errorf("the format has version %d, want %d: it was written by a newer version of this package", v, version)
	}
	body, ok := unseal(line)
	if !ok {
		return header{}, fmt.Errorf("the header is damaged: its checksum does not match")
	}
	fields = strings.SplitN(string(body), " ", 6)
	if len(fields) != 6 {
		return header{}, fmt.Errorf("the header has %d fields, want 6", len(fields))
	}
	var h header
	var err error
	switch {
	case fields[1] != strconv.Itoa(version):
		return header{}, fmt.Errorf("the format has version %q, want %d", fields[1], version)
	case fields[2] != "float16" && fields[2] != "float32":
		return header{}, fmt.Errorf("the header has the encoding %q, want float16 or float32", fields[2])
	case fields[4] != "symmetric" && fields[4] != "asymmetric":
		return header{}, fmt.Errorf("the header has %q, want symmetric or asymmetric", fields[4])
	}
	h.float16, h.queries = fields[2] == "float16", fields[4] == "asymmetric"
	if h.dim, err = strconv.Atoi(fields[3]); err != nil || h.dim < 1 || h.dim > maxDim {
		return header{}, fmt.Errorf("the header has the dimension %s, want 1 to %d", fields[3], maxDim)
	}
	if h.model, err = strconv.Unquote(fields[5]); err != nil {
		return header{}, fmt.Errorf("the header has the model %s, want a quoted string", fields[5])
	}
	return h, nil
}

// key names a vector by what was embedded.
type key [sha256.Size]byte

// inputType tells the two ways apart in which an asymmetric model embeds.
type inputType byte

const (
	document inputType = 'd'
	query    inputType = 'q'
)

// keyer computes keys.
type keyer struct {
	buf    []byte
	prefix int // bytes of buf that all keys have in common
}

func newKeyer(model string, of inputType) *keyer {
	buf := append([]byte(magic), 0, byte(of))
	buf = binary.AppendUvarint(buf, uint64(len(model)))
	buf = append(buf, model...)
	return &keyer{buf, len(buf)}
}

// key returns the SHA-256 of the model, the input type and the text.
func (k *keyer) key(text string) key {
	k.buf = append(k.buf[:k.prefix], text...)
	return sha256.Sum256(k.buf)
}

// appendRecord appends the line of one record, with the vector in base64.
func appendRecord(buf []byte, k key, vector []byte) []byte {
	start := len(buf)
	buf = hex.AppendEncode(buf, k[:])
	buf = append(buf, ' ')
	buf = append(buf, vector...)
	return append(buf[:start], seal(buf[start:])...)
}

// parseRecord parses a line and returns its key and the base64 form of its vector,
// which is part of line. What is wrong with the line is said otherwise.
func parseRecord(line []byte, h header) (k key, vector []byte, wrong string) {
	if want := keyDigits + 1 + h.vectorDigits() + 1 + sumDigits; len(trimEnd(line)) != want {
		return k, nil, fmt.Sprintf("the line has %d bytes, want %d", len(trimEnd(line)), want)
	}
	body, ok := unseal(line)
	if !ok {
		return k, nil, "the checksum does not match"
	}
	if _, err := hex.Decode(k[:], body[:keyDigits]); err != nil || body[keyDigits] != ' ' {
		return k, nil, "the line does not begin with a key"
	}
	return k, body[keyDigits+1:], ""
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSum appends the checksum of body, as hexadecimal digits.
func appendSum(buf, body []byte) []byte {
	var sum [crc32.Size]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(body, castagnoli))
	return hex.AppendEncode(buf, sum[:])
}

// seal appends a space, the checksum of the line, and a newline.
func seal(line []byte) []byte {
	body := line
	return append(appendSum(append(line, ' '), body), '\n')
}

// unseal returns what was sealed; false if it is not that any more.
func unseal(line []byte) ([]byte, bool) {
	line = trimEnd(line)
	at := len(line) - sumDigits
	if at < 1 || line[at-1] != ' ' {
		return nil, false
	}
	var digits [sumDigits]byte
	body := line[:at-1]
	return body, bytes.Equal(line[at:], appendSum(digits[:0], body))
}

// trimEnd returns the line without its end, which Git may have changed to CRLF.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
