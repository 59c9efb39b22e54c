package chunkers

import (
	"fmt"
	"reflect"
	"strings"
)

// nameOf returns what a component calls itself, or its type, in any case
// without white space, which would end the name of a benchmark.
func nameOf(component any) string {
	name := ""
	if s, ok := component.(fmt.Stringer); ok {
		name = s.String()
	}
	if name == "" {
		name = fmt.Sprintf("%T", component)
	}
	return strings.Join(strings.Fields(name), "_")
}

// nestedName is nameOf for a component that is a field of another: its own
// slashes would read as fields of that one.
func nestedName(component any) string { return strings.ReplaceAll(nameOf(component), "/", ",") }

// same reports whether two chunkers are of one type and equal: the same function,
// or values that are deeply equal.
func same(a, b any) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if va.IsValid() && vb.IsValid() && va.Type() == vb.Type() && va.Kind() == reflect.Func {
		return va.Pointer() == vb.Pointer()
	}
	return reflect.DeepEqual(a, b)
}
