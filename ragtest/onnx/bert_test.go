package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// bert is a model of BERT's shape with pseudo-random weights, the same for the
// same fields. Its file has the operators of an export from PyTorch; embed
// computes the same, independently of it, in double precision.
type bert struct {
	layers, hidden, heads, inner, vocabulary, positions int

	segments bool // the model has the input token_type_ids
	labels   int  // of a cross-encoder; 0: an embedder
	weights  map[string][]float32
}

// newBERT returns a model with its weights.
func newBERT(b bert) *bert {
	b.weights = map[string][]float32{}
	random := rand.New(rand.NewPCG(1, 2))
	add := func(name string, mean, deviation float64, n int) {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(mean + deviation*random.NormFloat64())
		}
		b.weights[name] = values
	}
	add("words", 0, 1, b.vocabulary*b.hidden)
	add("positions", 0, 0.3, b.positions*b.hidden)
	add("segments", 0, 0.3, 2*b.hidden)
	norm := func(name string) {
		add(name+".gain", 1, 0.1, b.hidden)
		add(name+".bias", 0, 0.1, b.hidden)
	}
	linear := func(name string, in, out int) {
		add(name+".weight", 0, 1.5/math.Sqrt(float64(in)), in*out)
		add(name+".bias", 0, 0.1, out)
	}
	norm("embeddings.norm")
	for l := range b.layers {
		name := fmt.Sprintf("layer%d.", l)
		for _, part := range []string{"query", "key", "value", "output"} {
			linear(name+part, b.hidden, b.hidden)
		}
		norm(name + "attention.norm")
		linear(name+"up", b.hidden, b.inner)
		linear(name+"down", b.inner, b.hidden)
		norm(name + "norm")
	}
	if b.labels > 0 {
		linear("pooler", b.hidden, b.hidden)
		linear("classifier", b.hidden, b.labels)
	}
	return &b
}

const epsilon = 1e-12 // of BERT's layer normalisation

// file returns the model's ONNX file.
func (b *bert) file() []byte {
	var g graphFile
	g.input(inputIDs, typeInt64, "batch_size", "sequence_length")
	g.input(inputMask, typeInt64, "batch_size", "sequence_length")
	if b.segments {
		g.input(inputSegment, typeInt64, "batch_size", "sequence_length")
	}
	weight := func(name string, dims ...int) string { return g.floats(name, b.weights[name], dims...) }
	unsqueeze := func(x string, axis int64) string { return g.node("Unsqueeze", []string{x, g.ints(axis)}) }
	dimension := func(x string, axis int) string { // of x, as a vector of one number
		scalar := g.node("Gather", []string{g.node("Shape", []string{x}), g.scalarInt(int64(axis))}, attribute{"axis", 0})
		return unsqueeze(scalar, 0)
	}
	linear := func(x, name string, in, out int) string {
		return g.node("Add", []string{weight(name+".bias", out), g.node("MatMul", []string{x, weight(name+".weight", in, out)})})
	}
	norm := func(x, name string) string {
		mean := g.node("ReduceMean", []string{x}, attribute{"axes", []int{-1}})
		centred := g.node("Sub", []string{x, mean})
		variance := g.node("ReduceMean", []string{g.node("Pow", []string{centred, g.scalar(2)})}, attribute{"axes", []int{-1}})
		deviation := g.node("Sqrt", []string{g.node("Add", []string{variance, g.scalar(epsilon)})})
		scaled := g.node("Mul", []string{g.node("Div", []string{centred, deviation}), weight(name+".gain", b.hidden)})
		return g.node("Add", []string{scaled, weight(name+".bias", b.hidden)})
	}

	rows, length := dimension(inputIDs, 0), dimension(inputIDs, 1)
	all := make([]int64, b.positions)
	for i := range all {
		all[i] = int64(i)
	}
	places := g.node("Slice", []string{g.intMatrix(all), g.ints(0), length, g.ints(1), g.ints(1)})
	x := g.node("Gather", []string{weight("words", b.vocabulary, b.hidden), inputIDs}, attribute{"axis", 0})
	segments := weight("segments", 2, b.hidden)
	if b.segments {
		x = g.node("Add", []string{x, g.node("Gather", []string{segments, inputSegment}, attribute{"axis", 0})})
	} else {
		x = g.node("Add", []string{x, g.node("Gather", []string{segments, g.scalarInt(0)}, attribute{"axis", 0})})
	}
	x = g.node("Add", []string{x, g.node("Gather", []string{weight("positions", b.positions, b.hidden), places}, attribute{"axis", 0})})
	x = norm(x, "embeddings.norm")

	mask := g.node("Cast", []string{unsqueeze(unsqueeze(inputMask, 1), 2)}, attribute{"to", typeFloat})
	mask = g.node("Mul", []string{g.node("Sub", []string{g.scalar(1), mask}), g.scalar(-math.MaxFloat32)})

	size := b.hidden / b.heads
	split := g.node("Concat", []string{rows, length, g.ints(int64(b.heads)), g.ints(int64(size))}, attribute{"axis", 0})
	joined := g.node("Concat", []string{rows, length, g.ints(int64(b.hidden))}, attribute{"axis", 0})
	heads := func(x string, order ...int) string {
		return g.node("Transpose", []string{g.node("Reshape", []string{x, split})}, attribute{"perm", order})
	}
	for l := range b.layers {
		name := fmt.Sprintf("layer%d.", l)
		query := heads(linear(x, name+"query", b.hidden, b.hidden), 0, 2, 1, 3)
		key := heads(linear(x, name+"key", b.hidden, b.hidden), 0, 2, 3, 1)
		value := heads(linear(x, name+"value", b.hidden, b.hidden), 0, 2, 1, 3)
		scores := g.node("Div", []string{g.node("MatMul", []string{query, key}), g.scalar(float32(math.Sqrt(float64(size))))})
		attention := g.node("Softmax", []string{g.node("Add", []string{scores, mask})}, attribute{"axis", -1})
		mixed := g.node("Transpose", []string{g.node("MatMul", []string{attention, value})}, attribute{"perm", []int{0, 2, 1, 3}})
		output := linear(g.node("Reshape", []string{mixed, joined}), name+"output", b.hidden, b.hidden)
		x = norm(g.node("Add", []string{output, x}), name+"attention.norm")

		up := linear(x, name+"up", b.hidden, b.inner)
		erf := g.node("Erf", []string{g.node("Div", []string{up, g.scalar(math.Sqrt2)})})
		gelu := g.node("Mul", []string{up, g.node("Add", []string{erf, g.scalar(1)})})
		gelu = g.node("Mul", []string{gelu, g.scalar(0.5)})
		x = norm(g.node("Add", []string{linear(gelu, name+"down", b.inner, b.hidden), x}), name+"norm")
	}
	if b.labels == 0 {
		g.named("last_hidden_state", "Identity", []string{x})
		g.output("last_hidden_state", "batch_size", "sequence_length", b.hidden)
		return g.file()
	}
	first := g.node("Gather", []string{x, g.scalarInt(0)}, attribute{"axis", 1})
	pooled := g.node("Tanh", []string{g.node("Gemm", []string{first, weight("pooler.weight", b.hidden, b.hidden), weight("pooler.bias", b.hidden)})})
	g.named("logits", "Gemm", []string{pooled, weight("classifier.weight", b.hidden, b.labels), weight("classifier.bias", b.labels)})
	g.output("logits", "batch_size", b.labels)
	return g.file()
}

// hiddenStates returns the last hidden state of each token, without padding.
func (b *bert) hiddenStates(ids, segments []int) [][]float64 {
	row := func(name string, i int) []float32 { return b.weights[name][i*b.hidden : (i+1)*b.hidden] }
	x := make([][]float64, len(ids))
	for i, id := range ids {
		x[i] = make([]float64, b.hidden)
		segment := 0
		if b.segments {
			segment = segments[i]
		}
		for j := range x[i] {
			x[i][j] = float64(row("words", id)[j]) + float64(row("positions", i)[j]) + float64(row("segments", segment)[j])
		}
		b.norm(x[i], "embeddings.norm")
	}
	size := b.hidden / b.heads
	for l := range b.layers {
		name := fmt.Sprintf("layer%d.", l)
		var query, key, value [][]float64
		for _, v := range x {
			query = append(query, b.linear(v, name+"query"))
			key = append(key, b.linear(v, name+"key"))
			value = append(value, b.linear(v, name+"value"))
		}
		next := make([][]float64, len(x))
		for i := range x {
			mixed := make([]float64, b.hidden)
			for h := range b.heads {
				from, to := h*size, (h+1)*size
				weights, sum := make([]float64, len(x)), 0.0
				for j := range x {
					weights[j] = math.Exp(dot(query[i][from:to], key[j][from:to]) / math.Sqrt(float64(size)))
					sum += weights[j]
				}
				for j, w := range weights {
					for k := from; k < to; k++ {
						mixed[k] += w / sum * value[j][k]
					}
				}
			}
			v := b.linear(mixed, name+"output")
			plus(v, x[i])
			b.norm(v, name+"attention.norm")
			inner := b.linear(v, name+"up")
			for j, u := range inner {
				inner[j] = u * 0.5 * (1 + math.Erf(u/math.Sqrt2))
			}
			down := b.linear(inner, name+"down")
			plus(down, v)
			b.norm(down, name+"norm")
			next[i] = down
		}
		x = next
	}
	return x
}

// logits returns the numbers that the model's head makes of the first token.
func (b *bert) logits(ids, segments []int) []float64 {
	pooled := b.linear(b.hiddenStates(ids, segments)[0], "pooler")
	for i, v := range pooled {
		pooled[i] = math.Tanh(v)
	}
	return b.linear(pooled, "classifier")
}

func (b *bert) linear(x []float64, name string) []float64 {
	weight, bias := b.weights[name+".weight"], b.weights[name+".bias"]
	y := make([]float64, len(bias))
	for j := range y {
		y[j] = float64(bias[j])
		for i, v := range x {
			y[j] += v * float64(weight[i*len(y)+j])
		}
	}
	return y
}

func (b *bert) norm(x []float64, name string) {
	gain, bias := b.weights[name+".gain"], b.weights[name+".bias"]
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i, v := range x {
		x[i] = (v-mean)/math.Sqrt(variance+epsilon)*float64(gain[i]) + float64(bias[i])
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func plus(x, y []float64) {
	for i := range x {
		x[i] += y[i]
	}
}
