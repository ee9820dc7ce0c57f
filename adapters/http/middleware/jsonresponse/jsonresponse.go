// Package jsonresponse encodes JSON responses faster than encoding/json, with the same bytes but without escapes
// for HTML. encoding/json checks and copies every MarshalJSON result once more, and a list of deposits contains
// hundreds of times.
package jsonresponse

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Appender appends its own JSON to a buffer, with the bytes of its MarshalJSON; Encode does not check them.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// keptBuffer is the size in bytes of the largest encoding buffer kept for reuse. It fits the largest list page.
const keptBuffer = 512 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Encode returns the JSON of v; parts whose types it cannot encode go to encoding/json. Returns the error of such
// a part.
func Encode(v any) ([]byte, error) {
	return EncodeWithBuffer(func(b []byte) ([]byte, error) { return AppendEncoded(b, v) })
}

// EncodeWithBuffer calls fill with a pooled buffer and returns a copy of the appended bytes.
func EncodeWithBuffer(fill func(b []byte) ([]byte, error)) ([]byte, error) {
	buffer := buffers.Get().(*[]byte)
	b, err := fill((*buffer)[:0])
	if cap(b) <= keptBuffer {
		*buffer = b
		defer buffers.Put(buffer)
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(b), nil
}

func AppendEncoded(b []byte, v any) ([]byte, error) {
	root := reflect.ValueOf(v)
	if !root.IsValid() {
		return standard(b, v)
	}
	// A value behind a pointer is addressable, so its parts' methods are called without a copy.
	if root.Kind() != reflect.Pointer {
		held := reflect.New(root.Type())
		held.Elem().Set(root)
		root = held
	}
	return encoderOf(root.Type())(b, root)
}

// standard appends the JSON of encoding/json, without escapes for HTML.
func standard(b []byte, v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b, err
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...), nil
}

// encoder appends the JSON of a value of one Go type to a buffer.
type encoder func(b []byte, v reflect.Value) ([]byte, error)

var encoders sync.Map // Cache of JSON encoders by Go type.

func encoderOf(t reflect.Type) encoder {
	if known, ok := encoders.Load(t); ok {
		return known.(encoder)
	}
	e := newEncoder(t)
	encoders.Store(t, e)
	return e
}

func newEncoder(t reflect.Type) encoder {
	if e := ownEncoder(t); e != nil {
		return e
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.String:
		if t != reflect.TypeFor[json.Number]() {
			return func(b []byte, v reflect.Value) ([]byte, error) { return appendString(b, v.String()), nil }
		}
	case reflect.Pointer:
		return pointerEncoder(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return sliceEncoder(t)
		}
	case reflect.Map:
		if plainString(t.Key()) && plainString(t.Elem()) {
			return appendMap
		}
	case reflect.Struct:
		if fields := fieldsOf(t); fields != nil {
			return structEncoder(fields)
		}
	}
	return appendUnknown
}

// ownEncoder returns the encoder for a type with JSON methods of its own; nil without such methods.
func ownEncoder(t reflect.Type) encoder {
	behind := reflect.PointerTo(t)
	if behind.Implements(reflect.TypeFor[Appender]()) && t.Kind() != reflect.Pointer {
		return func(b []byte, v reflect.Value) ([]byte, error) { return v.Addr().Interface().(Appender).AppendJSON(b) }
	}
	if t.Kind() != reflect.Pointer && marshals(behind) {
		return appendUnknown
	}
	return nil
}

func appendUnknown(b []byte, v reflect.Value) ([]byte, error) {
	if v.CanAddr() {
		return standard(b, v.Addr().Interface())
	}
	return standard(b, v.Interface())
}

func pointerEncoder(t reflect.Type) encoder {
	// The element type's encoder is looked up at its first use, since a type may contain itself.
	elem := sync.OnceValue(func() encoder { return encoderOf(t.Elem()) })
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return elem()(b, v.Elem())
	}
}

func sliceEncoder(t reflect.Type) encoder {
	elem := sync.OnceValue(func() encoder { return encoderOf(t.Elem()) })
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = elem()(b, v.Index(i)); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
}

// appendMap appends a map of strings as a JSON object, sorted by key.
func appendMap(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	type entry struct{ key, value string }
	entries := make([]entry, 0, v.Len())
	for all := v.MapRange(); all.Next(); {
		entries = append(entries, entry{all.Key().String(), all.Value().String()})
	}
	slices.SortFunc(entries, func(x, y entry) int {
		if x.key < y.key {
			return -1
		}
		return 1
	})
	b = append(b, '{')
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(appendString(b, e.key), ':'), e.value)
	}
	return append(b, '}'), nil
}

// appendString appends a JSON string with the escapes of encoding/json.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0 // Bytes of the text appended so far.
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); size > 1 && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		b = appendEscape(append(b, s[done:i]...), r)
		i += size
		done = i
	}
	return append(append(b, s[done:]...), '"')
}

// short maps characters that JSON escapes by backslash and letter, such as
//
// , to that letter.
var short = map[rune]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

func appendEscape(b []byte, r rune) []byte {
	if letter, ok := short[r]; ok {
		return append(b, '\\', letter)
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
