package webhook

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// readComputed decodes a signature in hex or base64. form is CauseValid if it is written as this service writes it,
// and otherwise names the difference. digest is "" for a text that is no signature.
func readComputed(text string) (digest string, form SignatureCause) {
	const prefix = "sha256="
	bare := strings.TrimSpace(text)
	form = CauseUnprefixedSignature
	if n := min(len(prefix), len(bare)); strings.EqualFold(bare[:n], prefix) {
		bare, form = bare[n:], CauseValid
	}
	if raw, err := hex.DecodeString(bare); err == nil && anyCaseForm.MatchString(bare) {
		if bare != strings.ToLower(bare) {
			form = CauseUpperCaseSignature
		}
		return string(raw), form
	}
	standard := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(bare), "=")
	raw, err := base64.RawStdEncoding.DecodeString(standard)
	if err != nil {
		return "", CauseSignatureMismatch
	}
	// The decoded base64 was hex: the receiver had encoded the signature's hex digits.
	if of, err := hex.DecodeString(string(raw)); err == nil {
		raw = of
	}
	if len(raw) != sha256.Size {
		return "", CauseSignatureMismatch
	}
	return string(raw), CauseBase64Signature
}

// mistake is a known wrong way to compute a signature.
type mistake struct {
	cause        SignatureCause
	detail       string
	key, message string
}

// mistakes iterates over the known wrong ways to compute a signature, one at a time, since a body has many forms.
func mistakes(timestamp string, body []byte, keys CandidateSecrets) iter.Seq[mistake] {
	own, signed := keys.Own.Reveal(), timestamp+"."+string(body)
	var few []mistake
	for _, around := range []string{"\n", "\r\n", " ", "\t", byteOrderMark} {
		few = append(few, mistake{CauseSecretWhitespace, "", own + around, signed},
			mistake{CauseSecretWhitespace, "", around + own, signed})
	}
	for _, quote := range []string{`"`, "'"} {
		few = append(few, mistake{CauseWrongSecretKind, inQuotes, quote + own + quote, signed})
	}
	tail := strings.TrimPrefix(own, SigningSecretPrefix)
	decoded, _ := base64.RawURLEncoding.DecodeString(tail)
	few = append(few, mistake{CauseWrongSecretKind, asConnectSecret, keys.Connect.Reveal(), signed},
		mistake{CauseWrongSecretKind, asAPIKey, keys.API.Reveal(), signed},
		mistake{CauseWrongSecretKind, withoutPrefix, tail, signed},
		mistake{CauseWrongSecretKind, withoutPrefix, string(decoded), signed},
		mistake{CauseWrongSecretKind, asStandard, StandardWebhooksSecret(keys.Own), signed})
	for _, message := range append(otherOrders(timestamp, string(body)), timestamp) {
		few = append(few, mistake{CauseWrongSigningOrder, "", own, message})
	}
	few = append(few, mistake{CauseMillisecondTimestamp, "", own, timestamp + "000." + string(body)})
	few = slices.DeleteFunc(few, func(m mistake) bool { return m.key == "" })
	return func(yield func(mistake) bool) {
		for _, m := range few {
			if !yield(m) {
				return
			}
		}
		for _, text := range changed(body) {
			if !yield(mistake{CauseBodyChanged, "", own, timestamp + "." + text}) {
				return
			}
		}
		for text := range rewritten(body) {
			if !yield(mistake{CauseBodyReserialized, "", own, timestamp + "." + text}) ||
				!yield(mistake{CauseBodyChanged, "", own, timestamp + "." + text + "\n"}) {
				return
			}
		}
	}
}

// changed returns texts that receivers sign by mistake in place of the body.
func changed(body []byte) []string {
	quoted, _ := json.Marshal(string(body)) // A string can always be encoded.
	latin1 := make([]rune, len(body))
	for i, b := range body {
		latin1[i] = rune(b)
	}
	return []string{"", "null", "undefined", "[object Object]", string(body) + "\n", string(body) + "\r\n",
		string(trimmed(body)), byteOrderMark + string(body), string(latin1), string(quoted),
		base64.StdEncoding.EncodeToString(body)}
}

// style describes how a JSON encoder writes.
type style struct {
	comma, colon, indent string
	// Whether the encoder escapes characters outside ASCII (ascii), slashes (slash), and <, > and & (html).
	ascii, slash, html bool
}

// styles holds the styles of the JSON encoders that receivers use most.
var styles = []style{
	{",", ":", "", false, false, false},   // The style of the JSON encoders of JavaScript, Ruby and Jackson.
	{", ", ": ", "", true, false, false},  // The style of Python's JSON encoder.
	{", ", ": ", "", false, false, false}, // The style of Python's JSON encoder with ensure_ascii=False.
	{",", ":", "", true, false, false},
	{",", ":", "", true, true, false}, // The style of PHP's JSON encoder.
	{",", ":", "", false, true, false},
	{",", ":", "", false, false, true}, // The style of Go's JSON encoder.
	{",", ": ", "  ", false, false, false},
	{",", ": ", "  ", true, false, false},
	{",", ": ", "    ", false, false, false},
	{",", ": ", "    ", true, true, false},
	{",", ": ", "    ", true, false, false},
}

// Limits of the bodies that are rewritten in other styles, far beyond those of this service.
const (
	maxRewritten = 16 << 10
	maxDepth     = 16
)

// rewritten iterates over a JSON body as other encoders would write it, with its keys in their order and sorted.
func rewritten(body []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(body) > maxRewritten {
			return
		}
		for _, sorted := range []bool{false, true} {
			in := json.NewDecoder(bytes.NewReader(body))
			in.UseNumber()
			v, err := readValue(in, sorted, maxDepth)
			if err != nil {
				return
			}
			for _, s := range styles {
				if !yield(string(s.append(nil, v, "\n"))) {
					return
				}
			}
		}
		yield("{}")
	}
}

type member struct {
	name  string
	value any
}

var errDeep = errors.New("webhook: a value is nested too deeply")

// readValue reads a JSON value of at most depth levels. Objects become a []member, in their order or sorted.
func readValue(in *json.Decoder, sorted bool, depth int) (any, error) {
	token, err := in.Token()
	if err != nil {
		return nil, err
	}
	if _, opens := token.(json.Delim); opens && depth == 0 {
		return nil, errDeep
	}
	switch token {
	case json.Delim('{'):
		object := []member{}
		for in.More() {
			name, err := in.Token()
			if err != nil {
				return nil, err
			}
			value, err := readValue(in, sorted, depth-1)
			if err != nil {
				return nil, err
			}
			text, _ := name.(string) // The JSON decoder returns only strings as names.
			object = append(object, member{text, value})
		}
		if sorted {
			slices.SortFunc(object, func(a, b member) int { return strings.Compare(a.name, b.name) })
		}
		_, err = in.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for in.More() {
			value, err := readValue(in, sorted, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = in.Token()
		return list, err
	}
	return token, nil
}

// append writes a JSON value in this style. line is a line break with the indentation of its depth.
func (s style) append(b []byte, v any, line string) []byte {
	inner := line + s.indent
	switch v := v.(type) {
	case []member:
		return s.items(b, '{', '}', len(v), line, func(b []byte, i int) []byte {
			return s.append(append(s.text(b, v[i].name), s.colon...), v[i].value, inner)
		})
	case []any:
		return s.items(b, '[', ']', len(v), line, func(b []byte, i int) []byte { return s.append(b, v[i], inner) })
	case string:
		return s.text(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

func (s style) items(b []byte, first, last byte, n int, line string, item func([]byte, int) []byte) []byte {
	b = append(b, first)
	for i := range n {
		if i > 0 {
			b = append(b, s.comma...)
		}
		if s.indent != "" {
			b = append(b, line+s.indent...)
		}
		b = item(b, i)
	}
	if s.indent != "" && n > 0 {
		b = append(b, line...)
	}
	return append(b, last)
}

var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (s style) text(b []byte, text string) []byte {
	b = append(b, '"')
	for _, r := range text {
		switch escaped, known := shortEscapes[r]; {
		case known:
			b = append(b, escaped...)
		case r == '/' && s.slash:
			b = append(b, `\/`...)
		case r < ' ', s.ascii && r >= utf8.RuneSelf, s.html && strings.ContainsRune("<>&\u2028\u2029", r):
			for _, unit := range utf16.Encode([]rune{r}) {
				b = append(b, `\u`...)
				b = hex.AppendEncode(b, []byte{byte(unit >> 8), byte(unit)})
			}
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
