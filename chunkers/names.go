package chunkers

import (
	"fmt"
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
