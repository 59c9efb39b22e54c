package onnx

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/gomlx/gomlx/pkg/ml/context"
	gomlx "github.com/gomlx/onnx-gomlx/onnx"
)

// goSession runs a model in pure Go. It compiles the model for each shape of a
// batch and keeps that, so that there should be few shapes.
type goSession struct {
	model      *gomlx.Model
	programs   map[string]*context.Exec // by output
	vocabulary int                      // how many IDs the model knows; 0: it could not be seen
}

func openGo(path string) (_ session, err error) {
	defer recovered(&err, "reading the model")
	model, err := gomlx.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := checkGraph(model); err != nil {
		return nil, err
	}
	// Operations run one after the other, each of them on all cores: a panic in
	// one is then in the goroutine that runs the model, which recovers.
	backend, err := simplego.New("ops_sequential")
	if err != nil {
		return nil, err
	}
	variables := context.New()
	if err := model.VariablesToContext(variables); err != nil {
		return nil, err
	}
	variables = variables.Reuse()
	s := &goSession{model: model, programs: map[string]*context.Exec{}, vocabulary: vocabulary(model)}
	for _, output := range model.OutputsNames {
		program, err := context.NewExec(backend, variables, func(ctx *context.Context, inputs []*graph.Node) *graph.Node {
			named := map[string]*graph.Node{}
			for i, name := range model.InputsNames {
				named[name] = inputs[i]
			}
			return model.CallGraph(ctx, inputs[0].Graph(), named, output)[0]
		})
		if err != nil {
			return nil, err
		}
		s.programs[output] = program.SetMaxCache(-1)
	}
	return s, nil
}

// checkGraph returns an error for what the library would follow without end, or
// allocate without need.
func checkGraph(model *gomlx.Model) error {
	const maxNodes = 100_000 // the library's recursion goes as deep; a large BERT has some thousands
	nodes := model.Proto.Graph.Node
	if len(nodes) > maxNodes {
		return fmt.Errorf("the model has %d nodes: want at most %d", len(nodes), maxNodes)
	}
	known := map[string]bool{"": true} // an optional input that is left out
	for _, name := range model.InputsNames {
		known[name] = true
	}
	for _, t := range model.Proto.Graph.Initializer {
		known[t.Name] = true
		if err := checkSize(t.Dims, len(t.RawData), len(t.FloatData), len(t.Int32Data), len(t.Int64Data), len(t.DoubleData), len(t.Uint64Data)); err != nil {
			return fmt.Errorf("initializer %q: %w", t.Name, err)
		}
	}
	for _, n := range nodes {
		for _, input := range n.Input {
			if !known[input] {
				return fmt.Errorf("node %q (%s): its input %q is not computed before it", n.Name, n.OpType, input)
			}
		}
		for _, output := range n.Output {
			known[output] = true
		}
		for _, a := range n.Attribute {
			if a.G != nil || len(a.Graphs) > 0 {
				return fmt.Errorf("node %q (%s) has a graph of its own: only the backend ONNXRuntime runs such models", n.Name, n.OpType)
			}
			if t := a.T; t != nil {
				if err := checkSize(t.Dims, len(t.RawData), len(t.FloatData), len(t.Int32Data), len(t.Int64Data), len(t.DoubleData), len(t.Uint64Data)); err != nil {
					return fmt.Errorf("node %q (%s): attribute %q: %w", n.Name, n.OpType, a.Name, err)
				}
			}
		}
	}
	for _, name := range model.OutputsNames {
		if !known[name] {
			return fmt.Errorf("the output %q is not computed", name)
		}
	}
	return nil
}

// checkSize returns an error if a tensor has more elements than there are data.
func checkSize(dims []int64, lengths ...int) error {
	size, most := uint64(1), uint64(slices.Max(lengths))
	for _, d := range dims {
		if d < 0 {
			return fmt.Errorf("the shape is %v: want no negative numbers", dims)
		}
		high, low := bits.Mul64(size, uint64(d))
		if high > 0 {
			return fmt.Errorf("the shape is %v, of %d data", dims, most)
		}
		size = low
	}
	if size > most {
		return fmt.Errorf("the shape is %v, of %d data", dims, most)
	}
	return nil
}

// vocabulary returns for how many IDs a model has an embedding; 0 if it does not
// look IDs up in a constant.
func vocabulary(model *gomlx.Model) int {
	rows := map[string]int{}
	for _, t := range model.Proto.Graph.Initializer {
		if len(t.Dims) > 0 {
			rows[t.Name] = int(t.Dims[0])
		}
	}
	for _, n := range model.Proto.Graph.Node {
		if n.OpType == "Gather" && len(n.Input) == 2 && n.Input[1] == inputIDs {
			return rows[n.Input[0]]
		}
	}
	return 0
}

func (s *goSession) inputs() []string  { return slices.Clone(s.model.InputsNames) }
func (s *goSession) outputs() []string { return slices.Clone(s.model.OutputsNames) }
func (s *goSession) runs() string      { return "GoMLX" }
func (s *goSession) close()            {}

// A batch gains nothing, and padding costs time. Lengths are few: 32 up to 512
// tokens.
func (s *goSession) maxRows() int          { return 1 }
func (s *goSession) padded(length int) int { return (length + 15) / 16 * 16 }

func (s *goSession) run(output string, b batch) (_ tensor, err error) {
	defer recovered(&err, "running the model")
	if s.vocabulary > 0 {
		for _, id := range b.ids { // the library would take the nearest one that there is
			if id >= int64(s.vocabulary) {
				return tensor{}, fmt.Errorf("the tokenizer gives the ID %d, but the model has only %d", id, s.vocabulary)
			}
		}
	}
	args := make([]any, len(s.model.InputsNames))
	for i, name := range s.model.InputsNames {
		args[i] = tensors.FromFlatDataAndDimensions(b.input(name), b.rows, b.length)
	}
	results, err := s.programs[output].Exec(args...)
	if err != nil {
		return tensor{}, err
	}
	if len(results) != 1 {
		return tensor{}, errors.New("there is no output")
	}
	if got := results[0].DType(); got != dtypes.Float32 {
		return tensor{}, fmt.Errorf("the output %s is of the type %v: want numbers in single precision", output, got)
	}
	data, err := tensors.CopyFlatData[float32](results[0])
	if err != nil {
		return tensor{}, err
	}
	shape := results[0].Shape().Dimensions
	if err := results[0].FinalizeAll(); err != nil { // its memory is reused
		return tensor{}, err
	}
	return newTensor(shape, data)
}
