//go:build (linux && !android && (amd64 || arm64)) || (darwin && !ios)

package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	ort "github.com/shota3506/onnxruntime-purego/onnxruntime"
)

// apiVersion is that of ONNX Runtime's C interface which the binding knows.
// Later versions of the library still have it.
const apiVersion = 23

// ortSession runs a model in ONNX Runtime.
type ortSession struct {
	library *ort.Runtime
	env     *ort.Env
	session *ort.Session
}

func openORT(library, path string) (_ session, err error) {
	s := &ortSession{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	defer recovered(&err, "loading ONNX Runtime from "+library)
	if s.library, err = ort.NewRuntime(library, apiVersion); err != nil {
		return nil, fmt.Errorf("loading ONNX Runtime from %s: %w: want version 1.23 or later", library, err)
	}
	if s.env, err = s.library.NewEnv("rageval", ort.LoggingLevelFatal); err != nil {
		return nil, oneLine(err)
	}
	if s.session, err = s.library.NewSession(s.env, path, &ort.SessionOptions{}); err != nil {
		return nil, oneLine(err)
	}
	return s, nil
}

// oneLine joins the lines of ONNX Runtime's messages, some of which tell its
// call stack.
func oneLine(err error) error { return errors.New(strings.Join(strings.Fields(err.Error()), " ")) }

func (s *ortSession) inputs() []string  { return slices.Clone(s.session.InputNames()) }
func (s *ortSession) outputs() []string { return slices.Clone(s.session.OutputNames()) }
func (s *ortSession) runs() string      { return "ONNX Runtime " + s.library.GetVersionString() }

func (s *ortSession) maxRows() int          { return 1 << 30 }
func (s *ortSession) padded(length int) int { return length }

func (s *ortSession) close() {
	if s.session != nil {
		s.session.Close()
	}
	if s.env != nil {
		s.env.Close()
	}
	if s.library != nil {
		s.library.Close()
	}
}

func (s *ortSession) run(output string, b batch) (_ tensor, err error) {
	defer recovered(&err, "running the model")
	// The library reads the batch's own memory, through pointers that Go does not
	// see: both it and the values must stay alive until it has run.
	defer runtime.KeepAlive(b)
	values := map[string]*ort.Value{}
	defer func() {
		for _, v := range values {
			v.Close()
		}
	}()
	for _, name := range s.session.InputNames() {
		v, err := ort.NewTensorValue(s.library, b.input(name), []int64{int64(b.rows), int64(b.length)})
		if err != nil {
			return tensor{}, err
		}
		values[name] = v
	}
	results, err := s.session.Run(context.Background(), values, ort.WithOutputNames(output))
	if err != nil {
		return tensor{}, oneLine(err)
	}
	result := results[output]
	defer result.Close()
	if got, err := result.GetTensorElementType(); err != nil || got != ort.ONNXTensorElementDataTypeFloat {
		return tensor{}, cmp.Or(err, fmt.Errorf("the output %s is of ONNX's type %d: want %d, numbers in single precision", output, got, ort.ONNXTensorElementDataTypeFloat))
	}
	data, dims, err := ort.GetTensorData[float32](result)
	if err != nil {
		return tensor{}, err
	}
	shape := make([]int, len(dims))
	for i, d := range dims {
		shape[i] = int(d)
	}
	return newTensor(shape, data)
}
