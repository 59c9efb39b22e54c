package langsmithtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// decode decodes an object of a schema: a struct whose fields are those that the
// schema has, the required ones tagged so. A field that is null is absent.
func decode(text []byte, into any) error {
	var fields map[string]json.RawMessage
	if err := strictly(text, &fields); err != nil {
		return err
	}
	t := reflect.TypeOf(into).Elem()
	known := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("json")
		known[name] = true
		if value := string(fields[name]); f.Tag.Get("required") != "" && (value == "" || value == "null") {
			return invalid("the field %s is missing", name)
		}
	}
	for name := range fields {
		if !known[name] {
			return invalid("unknown field %q", name)
		}
	}
	return strictly(text, into)
}

// decodeArray decodes an array of such objects.
func decodeArray[T any](text []byte) ([]T, error) {
	var raw []json.RawMessage
	if err := strictly(text, &raw); err != nil {
		return nil, err
	}
	all := make([]T, len(raw))
	for i := range raw {
		if err := decode(raw[i], &all[i]); err != nil {
			return nil, invalid("element %d: %v", i, err)
		}
	}
	return all, nil
}

func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(into); err != nil {
		return invalid("the body is %.200q: %v", text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return invalid("there is something after the JSON value")
	}
	return nil
}

// id is a UUID in its usual form.
type id string

func (i *id) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if u, err := uuid.Parse(s); err != nil || u.String() != s {
		return fmt.Errorf("%q is not a UUID", s)
	}
	*i = id(s)
	return nil
}

// instant is a time in RFC 3339.
type instant struct{ time.Time }

func (t *instant) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	var err error
	t.Time, err = time.Parse(time.RFC3339Nano, s)
	return err
}

// object is a JSON object.
type object map[string]json.RawMessage

// in returns an error unless a value is one of an enumeration.
func in(field, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return invalid("%s is %q, want one of %q", field, value, allowed)
	}
	return nil
}

// query holds the parameters of a request, each given once.
type query map[string]string

func readQuery(raw, names string) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, invalid("the query: %v", err)
	}
	q := query{}
	for name, value := range values {
		if !slices.Contains(strings.Fields(names), name) {
			return nil, invalid("unknown parameter %q", name)
		}
		if len(value) != 1 {
			return nil, invalid("the parameter %s is given %d times", name, len(value))
		}
		q[name] = value[0]
	}
	return q, nil
}

// only returns an error for a parameter that is documented but not implemented here.
func (q query) only(names ...string) error {
	for name := range q {
		if !slices.Contains(names, name) {
			return invalid("the parameter %s is not implemented by langsmithtest", name)
		}
	}
	return nil
}

func (q query) id(name string) (string, error) {
	if _, err := uuid.Parse(q[name]); err != nil {
		return "", invalid("the parameter %s is %q, want a UUID", name, q[name])
	}
	return q[name], nil
}

// page returns the part of a list that is asked for.
func page[T any](q query, list []T) ([]T, error) {
	limit, offset := maxPage, 0
	for name, into := range map[string]*int{"limit": &limit, "offset": &offset} {
		if s, ok := q[name]; ok {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 {
				return nil, invalid("the parameter %s is %q, want a number", name, s)
			}
			*into = n
		}
	}
	if limit < 1 || limit > maxPage {
		return nil, invalid("the parameter limit is %d, want 1 to %d", limit, maxPage)
	}
	list = list[min(offset, len(list)):]
	return append([]T{}, list[:min(limit, len(list))]...), nil
}
