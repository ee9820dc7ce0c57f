package jsonbody_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/core/fault"
)

func TestObject_ReadsPlainValues(t *testing.T) {
	got, err := jsonbody.ParseObject([]byte(
		" {\"a\" : [1, 2.50 ,-3e2,true,false,null,{} ,[] ], \"b\":\"x\\n\\u00e9\\ud83d\\ude00/\\/é\",\"\":{\"c\":\"\"}}\r\n"))
	require.NoError(t, err)
	want := map[string]any{
		"a": []any{json.Number("1"), json.Number("2.50"), json.Number("-3e2"), true, false, nil, map[string]any{}, []any{}},
		"b": "x\né😀//é",
		"":  map[string]any{"c": ""},
	}
	require.Empty(t, cmp.Diff(want, got))
}

func TestObject_KeepsEveryNumberLiteral(t *testing.T) {
	got, err := jsonbody.ParseObject([]byte(`{"a":70.000000000000000000001,"b":1e-400,"c":1e400,"d":-1e999999999}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"a": json.Number("70.000000000000000000001"),
		"b": json.Number("1e-400"),
		"c": json.Number("1e400"),
		"d": json.Number("-1e999999999"),
	}, got)
}

func TestObject_RefusesWhatIsReadInTwoWays(t *testing.T) {
	cases := []struct{ name, body, code, message string }{
		{"empty", ``, "invalid_json", "not valid JSON"},
		{"broken", `{"a":`, "invalid_json", "not valid JSON"},
		{"trailing text", `{} {}`, "invalid_json", "not valid JSON"},
		{"byte order mark", "\ufeff{}", "invalid_json", "not valid JSON"},
		{"trailing comma", `{"a":1,}`, "invalid_json", "not valid JSON"},
		{"NaN", `{"a":NaN}`, "invalid_json", "not valid JSON"},
		{"leading zero", `{"a":012}`, "invalid_json", "not valid JSON"},
		{"raw control character", "{\"a\":\"\x01\"}", "invalid_json", "not valid JSON"},
		{"raw NUL", "{\"a\":\"\x00\"}", "invalid_json", "not valid JSON"},
		{"not UTF-8", "{\"a\":\"\xff\"}", "invalid_json", "not valid UTF-8"},
		{"list", `[1]`, "invalid_json", "must be a JSON object"},
		{"text", `"a"`, "invalid_json", "must be a JSON object"},
		{"null", `null`, "invalid_json", "must be a JSON object"},
		{"duplicate key", `{"amount":70,"amount":100}`, "invalid_json", "amount: appears more than once"},
		{"duplicate key by escape", `{"a":1,"\u0061":2}`, "invalid_json", "a: appears more than once"},
		{"nested duplicate", `{"metadata":{"k":1,"k":1}}`, "invalid_json", "metadata.k: appears more than once"},
		{"too deep", strings.Repeat(`{"a":`, 33) + `1` + strings.Repeat(`}`, 33), "invalid_json", "deeper than 32"},
		{"too deep lists", `{"a":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}`, "invalid_json",
			"deeper than 32"},
		{"NUL", `{"rentalContract":"a\u0000b"}`, "invalid_field", "rentalContract: must not contain the NUL character"},
		{"NUL in a list", `{"events":["a",{"x":["\u0000"]}]}`, "invalid_field",
			"events[1].x[0]: must not contain the NUL character"},
		{"NUL in a key", `{"metadata":{"\u0000":"x"}}`, "invalid_field", "metadata: must not contain the NUL character"},
		{"NUL in an outer key", `{"\u0000":"x"}`, "invalid_field", "body: must not contain the NUL character"},
		{"half surrogate", `{"a":"\ud800"}`, "invalid_field", "a: contains half of a surrogate pair"},
		{"half surrogate before text", `{"a":"\ud800x"}`, "invalid_field", "a: contains half of a surrogate pair"},
		{"low surrogate first", `{"a":"\udc00\ud800"}`, "invalid_field", "a: contains half of a surrogate pair"},
		{"two high surrogates", `{"a":"\ud800\ud800"}`, "invalid_field", "a: contains half of a surrogate pair"},
		{"NUL before a half surrogate", `{"a":["\\u0000\u0000\ud800"]}`, "invalid_field",
			"a[0]: must not contain the NUL character"},
		{"half surrogate before NUL", `{"a":["\\u0000\ud800\u0000"]}`, "invalid_field",
			"a[0]: contains half of a surrogate pair"},
		{"half surrogate in a key", `{"a":{"\ud800":1}}`, "invalid_field", "a: contains half of a surrogate pair"},
		{"duplicate key before a syntax error", `{"a":1,"a":2,`, "invalid_json", "not valid JSON"},
		{"unprintable path", `{"é":"\u0000"}`, "invalid_field", "?: must not contain the NUL character"},
		{"long path", `{"` + strings.Repeat("k", 5000) + `":"\u0000"}`, "invalid_field",
			strings.Repeat("k", 120) + "…: must not"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := jsonbody.ParseObject([]byte(c.body))
			require.Error(t, err)
			f := fault.FromError(err)
			require.Equal(t, c.code, f.Code)
			require.Contains(t, f.Message, c.message)
			require.Less(t, len(f.Message), 300)
		})
	}
}

func TestObject_NestsAsDeepAsAllowed(t *testing.T) {
	_, err := jsonbody.ParseObject([]byte(strings.Repeat(`{"a":`, 32) + `1` + strings.Repeat(`}`, 32)))
	require.NoError(t, err)
}

// FuzzObject compares Object with encoding/json: both read an accepted body as the same values.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,"x",null,true,{"b":2.5e1}]}`, `{"a":"\u00e9\ud83d\ude00\\\""}`,
		` { "a" : [ ] } `, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := jsonbody.ParseObject(data)
		if err != nil {
			require.NotEqual(t, fault.Internal, fault.KindOf(err))
			return
		}
		var want map[string]any
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&want))
		require.True(t, reflect.DeepEqual(want, got), "%s: %v", data, got)
	})
}
