package jsonresponse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware/jsonresponse"
)

// standard is the encoding that Encode must give. Invalid UTF-8, which no stored text has, becomes U+FFFD:
// encoding/json writes it as an escape, Encode as a character.
func standard(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), `\ufffd`, "\ufffd")
}

type named string

type own struct{ text string }

func (o own) MarshalJSON() ([]byte, error) {
	if o.text == "" {
		return nil, errors.New("own: no text")
	}
	return []byte(o.text), nil
}

type inner struct {
	Texts []string          `json:"texts,omitempty"`
	Map   map[string]string `json:"map"`
	Deep  *inner            `json:"deep,omitempty"`
}

// known is a struct of the kinds of types that responses have.
type known struct {
	Text     string          `json:"text"`
	Name     named           `json:"name,omitempty"`
	Int      int             `json:"int"`
	Large    int64           `json:"large,omitempty"`
	Truth    bool            `json:"truth"`
	Pointer  *string         `json:"pointer"`
	Maybe    *string         `json:"maybe,omitempty"`
	Own      own             `json:"own"`
	OwnMaybe *own            `json:"ownMaybe,omitempty"`
	Inner    inner           `json:"inner"`
	Many     []inner         `json:"many"`
	Names    map[named]named `json:"names,omitempty"`
	Untagged []map[string]int
	hidden   int
}

// unknown uses parts of encoding/json that few responses need.
type unknown struct {
	inner
	Float   float64         `json:"float"`
	Text    int             `json:"text,string"`
	Skipped string          `json:"-"`
	Raw     json.RawMessage `json:"raw"`
	Bytes   []byte          `json:"bytes"`
	Time    time.Time       `json:"time,omitzero"`
	Any     any             `json:"any"`
	Array   [2]int          `json:"array"`
	Uint    uint8           `json:"uint"`
}

// texts need every kind of escape, or none.
var texts = []string{
	"", "plain", "<a href='x'>&amp;</a>", `"quoted"`, `back\slash`, "line\nbreak\ttab\r\b\f", "\x00\x1f\x7f", "é ü 漢 🏠",
	"\u2028 \u2029", "\u2027 \u202a", "\xff\xc3(", "cut \xe2\x80",
}

func TestEncode_GivesTheBytesOfEncodingJSON(t *testing.T) {
	t.Parallel()
	empty, text := "", "t"
	values := []any{
		nil, 1, "x", true, []string(nil), []string{}, (*known)(nil), map[string]any{"b": 1, "a": []any{nil, 2.5}},
		map[string]string{}, map[string]string(nil), map[int]string{2: "b"},
		known{Own: own{"1"}}, &known{Own: own{`{"a":1}`}, Pointer: &empty, Maybe: &empty, OwnMaybe: &own{`"x"`}, Truth: true,
			Int: -7, Large: math.MinInt64, hidden: 1},
		known{Own: own{"null"}, Pointer: &text, Maybe: &text, Name: "<n>",
			Names: map[named]named{"z": "<", "a": "\u2028", "é": "\"", "A": ""}, Untagged: []map[string]int{{"x": 1}, nil},
			Inner: inner{Texts: texts, Deep: &inner{Map: map[string]string{}}}, Many: []inner{{}, {Texts: []string{}}}},
		unknown{Raw: json.RawMessage(`{"a": 1}`), Any: map[string]any{"<": "&"}, inner: inner{Texts: texts},
			Time: time.Unix(1, 5)},
		unknown{Raw: json.RawMessage("{\"b\" : [1.50, 1e3, -0], \"a\":\"\\u003c < \\/ \\u00e9 \\u2028 &\"}")},
		&unknown{Any: &known{Own: own{"1"}}, Bytes: []byte{1, 2}},
		struct {
			A string `json:"a b"`
			B string `json:"é"`
		}{"x", "y"},
	}
	for _, v := range values {
		got, err := jsonresponse.Encode(v)
		require.NoError(t, err)
		require.Equal(t, standard(t, v), string(got))
	}
	for _, s := range texts {
		got, err := jsonresponse.Encode(&known{Text: s, Own: own{"1"}})
		require.NoError(t, err)
		require.Equal(t, standard(t, &known{Text: s, Own: own{"1"}}), string(got))
	}
}

func TestEncode_PartThatCannotBeEncoded_IsAnError(t *testing.T) {
	t.Parallel()
	for _, v := range []any{known{}, []*known{{Own: own{"1"}}, {}}, map[string]any{"a": known{}}, math.NaN(),
		make(chan int)} {
		_, err := jsonresponse.Encode(v)
		require.Error(t, err)
	}
	got, err := jsonresponse.Encode([]int{1})
	require.NoError(t, err)
	require.Equal(t, "[1]", string(got), "nothing is left of the response before")
}
