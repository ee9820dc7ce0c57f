// Package jsonbody parses the JSON body of a request into plain Go values, and refuses bodies that two parsers
// could read differently: duplicate names, text that is not UTF-8, half surrogate pairs, NUL, deep nesting.
// ADR 0006 records why the parser is built on jsontext.
package jsonbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/fault"
)

// MaxDepth is the greatest nesting of a JSON body; the API's own schemas need three levels.
const MaxDepth = 32

type bodyKey struct{}

// ParseBody is the middleware that parses a non-empty request body as a JSON object, which ParsedObject returns.
//
// Returns unsupported_media_type, invalid_json or invalid_field.
func ParseBody(c *fiber.Ctx) error {
	raw := c.Request().Body()
	if len(raw) == 0 {
		return c.Next()
	}
	if !isJSON(string(c.Request().Header.ContentType())) {
		return fault.ErrUnsupportedMediaType
	}
	value, err := ParseObject(raw)
	if err != nil {
		return err
	}
	c.Locals(bodyKey{}, value)
	return c.Next()
}

// ParsedObject returns the JSON object that ParseBody has parsed; nil without a body.
func ParsedObject(c *fiber.Ctx) map[string]any {
	value, _ := c.Locals(bodyKey{}).(map[string]any)
	return value
}

// isJSON reports whether a Content-Type is application/json or application/…+json, in UTF-8.
func isJSON(contentType string) bool {
	media, params, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	if media != fiber.MIMEApplicationJSON &&
		(!strings.HasPrefix(media, "application/") || !strings.HasSuffix(media, "+json")) {
		return false
	}
	for p := range strings.SplitSeq(params, ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(p), "="); name == "charset" &&
			strings.Trim(value, `"`) != "utf-8" {
			return false
		}
	}
	return true
}

// ParseObject parses a JSON object. Values are nil, bool, string, json.Number (unchanged), []any and
// map[string]any.
//
// Returns invalid_json, or invalid_field with the name of the field whose text cannot be stored.
func ParseObject(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, fault.ErrInvalidJSON.WithMessage("The request body is not valid UTF-8.")
	}
	r := readers.Get().(*reader)
	defer r.release()
	r.input = *bytes.NewBuffer(data)
	r.decoder.Reset(&r.input)
	value, err := r.body()
	switch {
	case err == nil:
		return value, nil
	// A JSON syntax error takes precedence over any fault found before it.
	case !json.Valid(data):
		return nil, fault.ErrInvalidJSON
	}
	var s *syntaxError
	if errors.As(err, &s) {
		return nil, s.explain(data)
	}
	return nil, err
}

// reader builds Go values from JSON tokens. The decoder itself refuses duplicate names and half surrogate pairs.
type reader struct {
	decoder *jsontext.Decoder
	input   bytes.Buffer
}

// readers is a pool of JSON decoders: a new one per request would double the cost of a small body.
var readers = sync.Pool{New: func() any { return &reader{decoder: jsontext.NewDecoder(new(bytes.Buffer))} }}

// release puts a JSON reader back into the pool, without the request's bytes.
func (r *reader) release() {
	r.input = bytes.Buffer{}
	r.decoder.Reset(&r.input)
	readers.Put(r)
}

func (r *reader) body() (map[string]any, error) {
	if r.decoder.PeekKind() != jsontext.KindBeginObject {
		return nil, fault.ErrInvalidJSON.WithMessage("The request body must be a JSON object.")
	}
	value, err := r.object(nil, 1)
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fault.ErrInvalidJSON
	}
	return value, nil
}

func (r *reader) value(at *valuePosition, depth int) (any, error) {
	switch r.decoder.PeekKind() {
	case jsontext.KindBeginObject:
		return r.object(at, depth+1)
	case jsontext.KindBeginArray:
		return r.list(at, depth+1)
	case jsontext.KindString:
		return r.text(at)
	}
	token, err := r.token(at)
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	case jsontext.KindNumber:
		return json.Number(token.String()), nil
	}
	return nil, nil //nolint:nilnil // JSON null is nil
}

func (r *reader) object(at *valuePosition, depth int) (map[string]any, error) {
	if depth > MaxDepth {
		return nil, errTooDeep()
	}
	if _, err := r.token(at); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for r.decoder.PeekKind() != jsontext.KindEndObject {
		name, err := r.text(at)
		if err != nil {
			return nil, err
		}
		if out[name], err = r.value(&valuePosition{parent: at, name: name, index: -1}, depth); err != nil {
			return nil, err
		}
	}
	_, err := r.token(at)
	return out, err
}

func (r *reader) list(at *valuePosition, depth int) ([]any, error) {
	if depth > MaxDepth {
		return nil, errTooDeep()
	}
	if _, err := r.token(at); err != nil {
		return nil, err
	}
	out := []any{}
	for r.decoder.PeekKind() != jsontext.KindEndArray {
		item, err := r.value(&valuePosition{parent: at, index: len(out)}, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	_, err := r.token(at)
	return out, err
}

func errTooDeep() error {
	return fault.ErrInvalidJSON.WithMessage("The request body is nested deeper than %d levels.", MaxDepth)
}

func (r *reader) text(at *valuePosition) (string, error) {
	token, err := r.token(at)
	if err != nil {
		return "", err
	}
	s := token.String()
	if strings.IndexByte(s, 0) >= 0 {
		return "", errNUL(at)
	}
	return s, nil
}

func errNUL(at *valuePosition) error {
	return fault.ErrInvalidField.WithField(at.String(), "must not contain the NUL character")
}

func (r *reader) token(at *valuePosition) (jsontext.Token, error) {
	start := r.decoder.InputOffset()
	token, err := r.decoder.ReadToken()
	if err != nil {
		return token, &syntaxError{cause: err, at: at, start: start}
	}
	return token, nil
}

// syntaxError is an error of jsontext (the JSON parser), with the refused token's place in the body.
type syntaxError struct {
	cause error
	at    *valuePosition
	start int64 // Offset in the body at which the token before the refused one ends.
}

func (e *syntaxError) Error() string { return e.cause.Error() }

// explain returns the fault of a valid JSON body that jsontext refused: a duplicate name or half a surrogate pair.
// A NUL before the half pair takes precedence.
func (e *syntaxError) explain(data []byte) error {
	var s *jsontext.SyntacticError
	if !errors.As(e.cause, &s) {
		return fault.ErrInternal.WithCause(e.cause)
	}
	if errors.Is(e.cause, jsontext.ErrDuplicateName) {
		twice := valuePosition{parent: e.at, name: s.JSONPointer.LastToken(), index: -1}
		return fault.ErrInvalidJSON.WithField(twice.String(), "appears more than once")
	}
	before := data[e.start:s.ByteOffset]
	quote := bytes.IndexByte(before, '"')
	if quote < 0 {
		return fault.ErrInternal.WithCause(e.cause)
	}
	text, err := jsontext.AppendUnquote(nil, append(bytes.Clone(before[quote:]), '"'))
	if err == nil && bytes.IndexByte(text, 0) >= 0 {
		return errNUL(e.at)
	}
	return fault.ErrInvalidField.WithField(e.at.String(), "contains half of a surrogate pair")
}

// valuePosition is a value's position in a JSON body, for error messages; nil is the body itself.
type valuePosition struct {
	parent *valuePosition
	name   string // Name of the value in its JSON object; unused in a list.
	index  int    // Index of the value in its JSON list; -1 in an object.
}

// String formats a place in a JSON body, as events[1] or metadata.note; the body itself is "body".
func (pl *valuePosition) String() string {
	if pl == nil {
		return "body"
	}
	var path Path
	for ; pl != nil; pl = pl.parent {
		if pl.index >= 0 {
			path = append(path, "["+strconv.Itoa(pl.index)+"]")
		} else {
			path = append(path, pl.name)
		}
	}
	slices.Reverse(path)
	return path.String()
}

// Path is a position in a JSON body: names, and list indexes as "[1]", from the outside in.
type Path []string

// maxPath is the greatest length in bytes of a path in an error message, since its names are the caller's text.
const maxPath = 120

// String joins a JSON path with points. A name that is not plain ASCII becomes "?".
func (p Path) String() string {
	var b strings.Builder
	for i, segment := range p {
		if i > 0 && !strings.HasPrefix(segment, "[") {
			b.WriteByte('.')
		}
		b.WriteString(printable(segment))
		if b.Len() > maxPath {
			return b.String()[:maxPath] + "…"
		}
	}
	return b.String()
}

func printable(name string) string {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return "?"
		}
	}
	return name
}
