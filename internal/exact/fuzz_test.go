package exact

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// components makes components of normalised vectors of data, over and over.
type components struct {
	data []byte
	next int
}

func (c *components) fill(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		bits := c.word()
		if x[i] = math.Float32frombits(bits); !(math.Abs(float64(x[i])) <= 1) {
			x[i] = float32(int32(bits)) / (1 << 31)
		}
	}
	return x
}

func (c *components) word() uint32 {
	var word [4]byte
	for i := range word {
		if len(c.data) > 0 {
			word[i] = c.data[c.next%len(c.data)] + byte(c.next/len(c.data)*37)
		}
		c.next++
	}
	return binary.LittleEndian.Uint32(word[:])
}

// checkDots compares scores with the documented order of summation, bit for bit.
func checkDots(t *testing.T, kernel string, scores, queries, vectors []float32, stride int) {
	t.Helper()
	nv := len(vectors) / stride
	for i, got := range scores {
		a, b := queries[i/nv*stride:][:stride], vectors[i%nv*stride:][:stride]
		var l [8]float32
		for j := range a {
			product := a[j] * b[j]
			l[j%8] += float32(product)
		}
		want := ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Errorf("%s: %d vectors, stride %d, pair %d: got %x, want %x", kernel, nv, stride, i, got, want)
		}
	}
}

// FuzzDots compares the kernels for blocks of all shapes.
func FuzzDots(f *testing.F) {
	f.Add(uint8(3), uint8(2), uint8(1), []byte("\x00\x00\x80\x3f\x01\x00\x00\x80"))
	f.Add(uint8(7), uint8(5), uint8(3), []byte("some bytes that make floating-point numbers"))
	f.Add(uint8(10), uint8(9), uint8(4), []byte{1, 0, 0, 0x80, 0xff, 0xff, 0x7f, 0x3f, 1, 0, 0x80, 0})
	f.Fuzz(func(t *testing.T, nq, nv, blocks uint8, data []byte) {
		q, v, stride := int(nq%11), int(nv%11), (int(blocks%5)+1)*lanes
		c := components{data: data}
		queries, vectors := c.fill(q*stride), c.fill(v*stride)
		for name, kernel := range map[string]func(scores, queries, vectors []float32, stride int){"dots": dots, "goDots": goDots} {
			// What lies around the scores stays.
			const guard = 7
			around := slices.Repeat([]float32{guard}, q*v+16)
			scores := around[8 : 8+q*v]
			kernel(scores, queries, vectors, stride)
			checkDots(t, name, scores, queries, vectors, stride)
			for i, x := range around {
				if (i < 8 || i >= 8+q*v) && x != guard {
					t.Errorf("%s wrote to score %d of %d", name, i-8, q*v)
				}
			}
		}
	})
}

// FuzzPostings compares the sums over components that are not 0 with those over
// all.
func FuzzPostings(f *testing.F) {
	f.Add(uint8(3), uint8(20), uint8(1), []byte("some bytes that make floating-point numbers"))
	f.Add(uint8(1), uint8(9), uint8(0), []byte("\x00\x00\x80\x3f\x01\x00\x00\x80"))
	f.Fuzz(func(t *testing.T, nq, nv, blocks uint8, data []byte) {
		q, v, stride := int(nq%5)+1, int(nv%40)+1, sparseStride+int(blocks%3)*lanes
		c := components{data: data}
		// Few of few components, so that many pairs have some in common.
		scatter := func(rows int) []float32 {
			x := make([]float32, rows*stride)
			for i := range rows {
				for _, value := range c.fill(stride / 8) {
					x[i*stride+int(c.word()>>7)%(stride/4)*4] = value
				}
			}
			return x
		}
		queries, vectors := scatter(q), scatter(v)
		p := newPostings(vectors, stride)
		forms, _ := newSparse(queries, stride)
		if p == nil || forms == nil {
			t.Fatal("rows of mostly zeros have no postings or no sparse form")
		}
		scores, sums := make([]float32, q*v), slices.Repeat([]float32{7}, lanes*v)
		for i, form := range forms {
			p.dots(scores[i*v:(i+1)*v], form, sums)
		}
		checkDots(t, "postings", scores, queries, vectors, stride)
	})
}

// FuzzNormalize compares the norm and the scaling with what the package comment
// says, bit for bit, for all finite components, and knows the others.
func FuzzNormalize(f *testing.F) {
	f.Add(uint8(9), []byte("some bytes that make floating-point numbers"))
	f.Add(uint8(16), []byte{1, 0, 0, 0x80, 0xff, 0xff, 0x7f, 0x7f, 1, 0, 0, 0})
	f.Add(uint8(8), []byte{0, 0, 0x80, 0x7f})
	f.Add(uint8(27), []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff})
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		c := components{data: data}
		v := make([]float32, n%70+1)
		finite := true
		for i := range v {
			v[i] = math.Float32frombits(c.word())
			finite = finite && v[i]-v[i] == 0
		}
		if err := ValidateVector(v, len(v)); (err == nil) != finite {
			t.Fatalf("%v: got error %v", v, err)
		}
		if !finite {
			return
		}
		want := naiveNormalize(v)
		around := slices.Repeat([]float32{7}, len(v)+8)
		Normalize(around[:len(v)], v)
		goScaled := make([]float32, len(v))
		if sum := goSquares(v); sum != 0 {
			goScale(goScaled, v, 1/math.Sqrt(sum))
		}
		for i := range v {
			if got := around[i]; math.Float32bits(got) != math.Float32bits(want[i]) {
				t.Errorf("component %d of %v: got %x, want %x", i, v, got, want[i])
			}
			if got := goScaled[i]; math.Float32bits(got) != math.Float32bits(want[i]) {
				t.Errorf("in Go, component %d of %v: got %x, want %x", i, v, got, want[i])
			}
		}
		for i, x := range around[len(v):] {
			if x != 7 {
				t.Errorf("component %d behind the end was written to", i)
			}
		}
	})
}
