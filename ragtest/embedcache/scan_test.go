package embedcache

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// sampleFile returns the content of a file, and its lines.
func sampleFile(t testing.TB, h header, records int) (content []byte, lines [][]byte) {
	t.Helper()
	content = h.line()
	keyer := newKeyer(h.model, document)
	for i := range records {
		v := make([]float32, h.dim)
		for j := range v {
			v[j] = float32(i) + float32(j)/8
		}
		vector, err := encodeVector(v, h.float16)
		if err != nil {
			t.Fatal(err)
		}
		content = appendRecord(content, keyer.key(strconv.Itoa(i)), vector)
	}
	return content, slices.Collect(bytes.Lines(content))
}

// scanned is what a scan finds.
type scanned struct {
	records map[key]string
	pos     position
	tail    string
}

func scanAll(r io.Reader, size int64) (scanned, header, error) {
	found := scanned{records: map[key]string{}}
	var s scan
	err := s.read(r, size, func(k key, vector []byte) {
		if _, ok := found.records[k]; !ok {
			found.records[k] = string(vector)
		}
	})
	found.pos = s.pos
	if s.tail != nil {
		found.tail = s.tail.String()
	}
	return found, s.head, err
}

var sampleHeader = header{model: "a model\n\"ü\"", dim: 3}

func TestScan(t *testing.T) {
	for _, h := range []header{sampleHeader, {model: "m", float16: true, queries: true, dim: 5}, {model: "\xff", dim: 1}} {
		content, lines := sampleFile(t, h, 4)
		want, head, err := scanAll(bytes.NewReader(content), int64(len(content)))
		if err != nil || head != h || len(want.records) != 4 || want.pos != (position{int64(len(content)), 5}) || want.tail != "" {
			t.Errorf("%v: got %v %v, %v", h, head, want, err)
		}
		// The size is a hint, and reads may be short.
		for _, size := range []int64{-1, 0, 1, 1 << 40} {
			got, _, err := scanAll(iotest.OneByteReader(bytes.NewReader(content)), size)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(scanned{}, position{})); err != nil || diff != "" {
				t.Errorf("size %d: %v (-want +got)\n%s", size, err, diff)
			}
		}
		crlf := bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
		got, _, err := scanAll(bytes.NewReader(crlf), int64(len(crlf)))
		if err != nil || !maps.Equal(got.records, want.records) || got.tail != "" {
			t.Errorf("CRLF: got %v, %v", got, err)
		}
		// Records in any order, and twice.
		slices.Reverse(lines[1:])
		mixed := bytes.Join(append(lines, lines[2:]...), nil)
		got, _, err = scanAll(bytes.NewReader(mixed), int64(len(mixed)))
		if err != nil || !maps.Equal(got.records, want.records) {
			t.Errorf("mixed: got %v, %v", got, err)
		}
	}
	broken := io.MultiReader(bytes.NewReader(sampleHeader.line()), iotest.ErrReader(io.ErrClosedPipe))
	if _, _, err := scanAll(broken, 100); err != io.ErrClosedPipe {
		t.Errorf("got error %v, want that of the reader", err)
	}
}

func TestScanCutShort(t *testing.T) {
	content, lines := sampleFile(t, sampleHeader, 3)
	for n := range content {
		got, _, err := scanAll(bytes.NewReader(content[:n]), int64(n))
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		complete, offset := 0, 0
		for complete < len(lines) && offset+len(lines[complete]) <= n {
			offset += len(lines[complete])
			complete++
		}
		if len(got.records) != max(0, complete-1) || got.pos != (position{int64(offset), complete}) || (got.tail != "") != (offset < n) {
			t.Fatalf("cut at byte %d: got %v, want %d lines and %d bytes", n, got, complete, offset)
		}
	}
}

// No flipped bit goes unnoticed: it is an error, or costs the last record.
func TestScanFlippedBits(t *testing.T) {
	content, lines := sampleFile(t, sampleHeader, 3)
	want, _, err := scanAll(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	last := len(content) - len(lines[3])
	for bit := range 8 * len(content) {
		damaged := bytes.Clone(content)
		damaged[bit/8] ^= 1 << (bit % 8)
		got, _, err := scanAll(bytes.NewReader(damaged), int64(len(damaged)))
		if err != nil {
			if bit/8 >= last {
				t.Errorf("bit %d: got error %v in the last record", bit, err)
			}
			continue
		}
		if bit/8 < last-1 || len(got.records) >= 3 || got.tail == "" {
			t.Errorf("bit %d (byte %q of line ending at %d): got %v", bit, content[bit/8], last, got)
		}
		for k, vector := range got.records {
			if want.records[k] != vector {
				t.Errorf("bit %d: got another vector", bit)
			}
		}
	}
}

func TestScanErrors(t *testing.T) {
	content, lines := sampleFile(t, sampleHeader, 3)
	sealed := func(s string) string { return string(seal([]byte(s))) }
	for _, test := range []struct{ name, content, want string }{
		{"another file", "package embedcache\n", `not an embedding cache: want it to begin with "ragtest-embeddings", found "package embedcache\n"`},
		{"another file without a newline", "{}", "not an embedding cache"},
		{"a long line", strings.Repeat("x", maxLine+5), "not an embedding cache: the first line is too long"},
		{"a record first", string(lines[1]), "not an embedding cache"},
		{"no checksum", magic + " 1\n", "the header is damaged: its checksum does not match"},
		{"a newer version", sealed(magic + " 2 anything"), "the format has version 2, want 1: it was written by a newer version"},
		{"an odd version", sealed(magic + " x float32 3 symmetric \"m\""), `the format has version "x", want 1`},
		{"few fields", sealed(magic + " 1 float32"), "the header has 3 fields, want 6"},
		{"an unknown encoding", sealed(magic + " 1 int8 3 symmetric \"m\""), `encoding "int8", want float16 or float32`},
		{"unknown inputs", sealed(magic + " 1 float16 3 both \"m\""), `"both", want symmetric or asymmetric`},
		{"no dimension", sealed(magic + " 1 float16 0 symmetric \"m\""), "dimension 0, want 1 to 1048576"},
		{"an absurd dimension", sealed(magic + " 1 float16 99999999999999999999 symmetric \"m\""), "want 1 to 1048576"},
		{"an unquoted model", sealed(magic + " 1 float16 3 symmetric m"), "model m, want a quoted string"},
		{"a conflict", string(lines[0]) + "<<<<<<< ours\n" + string(lines[1]), fmt.Sprintf("line 2, at byte %d: the line has 12 bytes, want 90; valid records follow, so that", len(lines[0]))},
		{"a short line", string(content[:len(content)-7]) + "\n" + string(lines[1]), "line 4, at byte"},
		{"a long record", string(lines[0]) + strings.Repeat("y", 3*maxLine) + "\n" + string(lines[1]), fmt.Sprintf("line 2, at byte %d: the line is too long", len(lines[0]))},
		{"no key", string(lines[0]) + sealed(strings.Repeat("z", 80)+" ") + string(lines[1]), "the line does not begin with a key"},
	} {
		if _, _, err := scanAll(strings.NewReader(test.content), int64(len(test.content))); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %q", test.name, err, test.want)
		}
	}
	// A tail that is no error, however long.
	for _, tail := range []string{"x", "\n", strings.Repeat("x\n", 1000), strings.Repeat("y", 2*maxLine), "\x00\x00\n\x00"} {
		got, _, err := scanAll(strings.NewReader(string(content)+tail), int64(len(content)))
		if err != nil || len(got.records) != 3 || got.pos.offset != int64(len(content)) || got.tail == "" {
			t.Errorf("tail of %d bytes: got %d records, end %v, tail %q, %v", len(tail), len(got.records), got.pos, got.tail, err)
		}
	}
}

// A scan goes on where another left off, with the same result. Checksums that never
// match would hide what is behind them: some inputs get right ones.
func FuzzScan(f *testing.F) {
	for _, h := range []header{sampleHeader, {model: "m", float16: true, queries: true, dim: 5}} {
		content, lines := sampleFile(f, h, 3)
		f.Add(content, 70, true)
		f.Add(content, 70, false)
		f.Add(content[:len(content)-3], 10, false)
		f.Add(append(bytes.Clone(content), lines[1]...), 200, true)
		f.Add(bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")), 1, false)
	}
	f.Add(seal([]byte(magic+" 1 float32 1048576 symmetric \"m\"")), 0, true)
	f.Add([]byte(nil), 0, false)
	f.Fuzz(func(t *testing.T, content []byte, cut int, reseal bool) {
		if reseal {
			var sealed []byte
			for line := range bytes.Lines(content) {
				sealed = append(sealed, seal(line[:max(0, len(line)-sumDigits-2)])...)
			}
			content = sealed
		}
		whole, head, err := scanAll(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		if got := int(whole.pos.offset); got > len(content) || (got < len(content)) != (whole.tail != "") {
			t.Fatalf("got end %d of %d bytes, tail %q", got, len(content), whole.tail)
		}
		for k, vector := range whole.records {
			v, err := decodeVector([]byte(vector), head)
			if err == nil && len(v) != head.dim {
				t.Fatalf("record %x: got %d components, want %d", k, len(v), head.dim)
			}
		}
		var s scan
		again := scanned{records: map[key]string{}}
		visit := func(k key, vector []byte) {
			if _, ok := again.records[k]; !ok {
				again.records[k] = string(vector)
			}
		}
		cut = min(max(cut, 0), len(content))
		if err := s.read(bytes.NewReader(content[:cut]), int64(cut), visit); err != nil {
			return // a prefix may be no header
		}
		rest := content[s.pos.offset:]
		if err := s.read(bytes.NewReader(rest), int64(len(rest)), visit); err != nil {
			t.Fatalf("in two parts: %v", err)
		}
		if s.pos != whole.pos || !maps.Equal(again.records, whole.records) {
			t.Fatalf("in two parts: got %v, want %v", s.pos, whole.pos)
		}
	})
}

// Memory is bounded by what is read, not by what the header claims.
func TestScanAllocation(t *testing.T) {
	content, _ := sampleFile(t, header{model: "m", dim: maxDim}, 0)
	content = append(content, bytes.Repeat([]byte("0"), 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		scanAll(bytes.NewReader(content), int64(len(content)))
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / 100; got > 64<<10 {
		t.Errorf("got %d bytes allocated for a file of %d", got, len(content))
	}
}

func TestLineReader(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var content []byte
	for range 300 {
		content = append(content, bytes.Repeat([]byte{'a'}, random.IntN(random.IntN(4000)+1))...)
		content = append(content, '\n')
	}
	for _, content := range [][]byte{content, content[:len(content)-1], {}, {'\n'}} {
		lines := lineReader{r: bytes.NewReader(content)}
		var got []byte
		for {
			line, n, err := lines.next()
			if err == io.EOF {
				break
			}
			if err != nil || n != int64(len(line)) || bytes.IndexByte(line, '\n') != len(line)-1 && len(got)+len(line) < len(content) {
				t.Fatalf("got line %q, %d, %v", line, n, err)
			}
			got = append(got, line...)
		}
		if !bytes.Equal(got, content) {
			t.Errorf("got %d bytes, want %d", len(got), len(content))
		}
	}
}
