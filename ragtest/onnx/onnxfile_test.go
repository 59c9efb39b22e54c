package onnx

import (
	"encoding/binary"
	"math"
	"strconv"
)

// The part of ONNX's file format (onnx.proto3, IR version 8) that a model of
// BERT's shape needs, written as Protocol Buffers' wire format says.

// message is a Protocol Buffers message under construction.
type message []byte

func (m *message) varint(field int, v uint64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3)
	*m = binary.AppendUvarint(*m, v)
}

func (m *message) bytes(field int, b []byte) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|2)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }

func (m *message) float(field int, f float32) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|5)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(f))
}

// Numbers of TensorProto.DataType.
const (
	typeFloat = 1
	typeInt64 = 7
)

func tensorProto(name string, dataType int, raw []byte, dims ...int) (m message) {
	for _, d := range dims {
		m.varint(1, uint64(d))
	}
	m.varint(2, uint64(dataType))
	if name != "" {
		m.text(8, name)
	}
	m.bytes(9, raw)
	return m
}

func rawFloats(values []float32) (raw []byte) {
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

func rawInts(values ...int64) (raw []byte) {
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return raw
}

// attribute is an attribute of a node.
type attribute struct {
	name  string
	value any // int, float32, []int
}

func (a attribute) proto() (m message) {
	m.text(1, a.name)
	switch v := a.value.(type) {
	case float32:
		m.float(2, v)
		m.varint(20, 1)
	case int:
		m.varint(3, uint64(int64(v)))
		m.varint(20, 2)
	case []int:
		for _, i := range v {
			m.varint(8, uint64(int64(i)))
		}
		m.varint(20, 7)
	}
	return m
}

// graphFile is an ONNX graph under construction.
type graphFile struct {
	nodes, initializers, inputs, outputs []message
	names                                int
}

// node adds a node and returns the name of its output.
func (g *graphFile) node(op string, inputs []string, attributes ...attribute) string {
	g.names++
	output := op + "_" + strconv.Itoa(g.names)
	g.named(output, op, inputs, attributes...)
	return output
}

// named adds a node whose output has the given name.
func (g *graphFile) named(output, op string, inputs []string, attributes ...attribute) {
	var m message
	for _, input := range inputs {
		m.text(1, input)
	}
	m.text(2, output)
	m.text(3, "node_"+output)
	m.text(4, op)
	for _, a := range attributes {
		m.bytes(5, a.proto())
	}
	g.nodes = append(g.nodes, m)
}

// floats adds a constant and returns its name.
func (g *graphFile) floats(name string, values []float32, dims ...int) string {
	g.initializers = append(g.initializers, tensorProto(name, typeFloat, rawFloats(values), dims...))
	return name
}

func (g *graphFile) scalar(value float32) string {
	g.names++
	return g.floats("scalar_"+strconv.Itoa(g.names), []float32{value})
}

func (g *graphFile) ints(values ...int64) string {
	g.names++
	name := "ints_" + strconv.Itoa(g.names)
	g.initializers = append(g.initializers, tensorProto(name, typeInt64, rawInts(values...), len(values)))
	return name
}

// scalarInt adds a constant without dimensions.
func (g *graphFile) scalarInt(value int64) string {
	g.names++
	name := "int_" + strconv.Itoa(g.names)
	g.initializers = append(g.initializers, tensorProto(name, typeInt64, rawInts(value)))
	return name
}

// intMatrix adds a constant of one row.
func (g *graphFile) intMatrix(row []int64) string {
	g.names++
	name := "matrix_" + strconv.Itoa(g.names)
	g.initializers = append(g.initializers, tensorProto(name, typeInt64, rawInts(row...), 1, len(row)))
	return name
}

// valueInfo describes an input or output. A dimension is a number or a name.
func valueInfo(name string, elemType int, dims ...any) (m message) {
	var shape message
	for _, d := range dims {
		var dim message
		switch d := d.(type) {
		case int:
			dim.varint(1, uint64(d))
		case string:
			dim.text(2, d)
		}
		shape.bytes(1, dim)
	}
	var tensorType, typ message
	tensorType.varint(1, uint64(elemType))
	tensorType.bytes(2, shape)
	typ.bytes(1, tensorType)
	m.text(1, name)
	m.bytes(2, typ)
	return m
}

func (g *graphFile) input(name string, elemType int, dims ...any) {
	g.inputs = append(g.inputs, valueInfo(name, elemType, dims...))
}

func (g *graphFile) output(name string, dims ...any) {
	g.outputs = append(g.outputs, valueInfo(name, typeFloat, dims...))
}

// file returns the content of the model's file.
func (g *graphFile) file() []byte {
	var graph, opset, model message
	for _, n := range g.nodes {
		graph.bytes(1, n)
	}
	graph.text(2, "test")
	for _, i := range g.initializers {
		graph.bytes(5, i)
	}
	for _, i := range g.inputs {
		graph.bytes(11, i)
	}
	for _, o := range g.outputs {
		graph.bytes(12, o)
	}
	opset.text(1, "")
	opset.varint(2, 14)
	model.varint(1, 8)
	model.bytes(7, graph)
	model.bytes(8, opset)
	return model
}
