// Package jsonresponse encodes JSON responses with the bytes of encoding/json, but without escapes for HTML.
// Invalid UTF-8 becomes the character U+FFFD instead of its escape; a json.Number would become a string.
package jsonresponse

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// A stored response may be sent again by an older or a newer binary, so the bytes are those of encoding/json.
var options = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))

// keptBuffer is the size in bytes of the largest encoding buffer kept for reuse. It fits the largest list page.
const keptBuffer = 512 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Encode returns the JSON of v.
func Encode(v any) ([]byte, error) { return json.Marshal(v, options) }

// EncodeWithBuffer calls fill with a pooled buffer and returns a copy of the appended bytes.
func EncodeWithBuffer(fill func(b *bytes.Buffer) error) ([]byte, error) {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	err := fill(b)
	if b.Cap() <= keptBuffer {
		defer buffers.Put(b)
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(b.Bytes()), nil
}

// AppendEncoded appends the JSON of v to b.
func AppendEncoded(b *bytes.Buffer, v any) error { return json.MarshalWrite(b, v, options) }
