package jsonresponse

import (
	"encoding"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
)

// field describes how a struct field is encoded as JSON, by the rules of encoding/json.
type field struct {
	index     int
	start     string // The field's quoted JSON name with a colon.
	omitEmpty bool
	encode    encoder
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// fieldsOf lists a struct type's JSON fields; nil if it uses more of encoding/json than names and omitempty.
func fieldsOf(t reflect.Type) []field {
	fields, names := make([]field, 0, t.NumField()), map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, option, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous || tag == "-" || option != "" && option != "omitempty":
			return nil
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if names[name] || !plainName.MatchString(name) {
			return nil
		}
		names[name] = true
		fields = append(fields, field{index: i, start: `"` + name + `":`, omitEmpty: option != "", encode: encoderOf(f.Type)})
	}
	return fields
}

func structEncoder(fields []field) encoder {
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		b = append(b, '{')
		first := true
		for i := range fields {
			f := &fields[i]
			part := v.Field(f.index)
			if f.omitEmpty && empty(part) {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			if b, err = f.encode(append(b, f.start...), part); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}

// empty reports whether omitempty leaves a value out of the JSON.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct, reflect.Func, reflect.Chan:
		return false
	}
	return v.IsZero()
}

// marshals reports whether a type has a MarshalJSON or MarshalText that encoding/json would call.
func marshals(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// plainString reports whether encoding/json writes a type as a JSON string with the value's characters.
func plainString(t reflect.Type) bool {
	return t.Kind() == reflect.String && t != reflect.TypeFor[json.Number]() && !marshals(reflect.PointerTo(t))
}
