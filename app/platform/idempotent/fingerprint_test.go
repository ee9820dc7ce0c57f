package idempotent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/idempotent"
	ports "partnerdeposits/ports/platform"
)

// fingerprint reads body, a JSON value, as a member of an object; "" is a request without a body.
func fingerprint(t testing.TB, body string) [32]byte {
	t.Helper()
	if body == "" {
		return idempotent.Fingerprint(nil)
	}
	var value map[string]any
	decoder := json.NewDecoder(strings.NewReader(`{"body":` + body + `}`))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	return idempotent.Fingerprint(value)
}

func TestFingerprint_SameMeaning_IsTheSame(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{`{"a":1,"b":[true,null,"x"]}`, ` { "b" : [ true , null , "x" ] , "a" : 1 } `,
			`{"\u0061":1.0,"b":[true,null,"\u0078"]}`},
		{`70`, `70.0`, `70.000`, `7e1`, `7E+1`, `0.7e2`, `700e-1`, `7e0001`, `70.0e0`},
		{`0`, `-0`, `0.0`, `0e400`, `-0e-99999999999999999999999`},
		{`1e400`, `10e399`, `0.1e401`, `1E+400`},
		{`-69.99`, `-6999e-2`, `-0.6999e2`},
		{`"é"`, `"\u00e9"`},
		{`1e99999999999999999999`, `1E+99999999999999999999`, `1e0000000000000099999999999999999999`},
	}
	for _, group := range same {
		for _, other := range group[1:] {
			require.Equal(t, fingerprint(t, group[0]), fingerprint(t, other), "%s %s", group[0], other)
		}
	}
}

func TestFingerprint_OtherMeaning_IsAnother(t *testing.T) {
	t.Parallel()
	bodies := []string{
		``, `{}`, `[]`, `null`, `""`, `0`, `1`, `-1`, `"1"`, `10`, `1e400`, `1e401`, `1e-400`, `true`, `false`, `"null"`,
		`{"a":1}`, `{"a":"1"}`, `{"a":null}`, `{"a":{}}`, `{"b":1}`, `{"a":1,"b":1}`, `[1,2]`, `[2,1]`, `[12]`, `[1,[2]]`,
		`[[1],2]`,
		`{"a":"b"}`, `{"ab":""}`, `["a","b"]`, `["ab"]`, `["a\"1:b"]`, `["a;b"]`, `70.001`, `70.01`, `9007199254740993`,
		`9007199254740992`,
		`1e99999999999999999999`, `1e99999999999999999998`, `1e-99999999999999999999`,
	}
	seen := map[[32]byte]string{}
	for _, b := range bodies {
		f := fingerprint(t, b)
		require.NotContains(t, seen, f, "%q and %q", b, seen[f])
		seen[f] = b
	}
}

func TestFingerprint_HugeNumbers_CostNoMoreThanTheirLength(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, body := range []string{`1e999999999999999999`, `1e-999999999999999999`, "1e" + strings.Repeat("9", 60_000),
		strings.Repeat("9", 60_000), "0." + strings.Repeat("0", 60_000) + "1"} {
		fingerprint(t, body)
	}
	require.Less(t, time.Since(start), 2*time.Second)
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	want := [16]byte{0x3f, 0x1c, 0x9a, 0x52, 0x7c, 0x3e, 0x4b, 0x0e, 0x9a, 0x55, 0x0d, 0x7f, 0x2b, 0x6a, 0x1e, 0x84}
	for _, good := range []string{
		"3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84", "3F1C9A52-7C3E-4B0E-9A55-0D7F2B6A1E84",
		`"3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84"`,
	} {
		got, err := idempotent.ParseKey(good)
		require.NoError(t, err, good)
		require.Equal(t, want, got)
	}
	for _, bad := range []string{
		"", `""`, `"`, "1", "3f1c9a527c3e4b0e9a550d7f2b6a1e84", "3f1c9a52-7c3e-1b0e-9a55-0d7f2b6a1e84",
		"3f1c9a52-7c3e-7b0e-9a55-0d7f2b6a1e84",
		"3f1c9a52-7c3e-4b0e-1a55-0d7f2b6a1e84", "3f1c9a52-7c3e-4b0e-ca55-0d7f2b6a1e84",
		"gf1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84",
		"3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e8", "3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e841",
		`"3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84`,
		"{3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84}",
		"3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84, 3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84",
		"3f1c-a52-7c3e-4b0e-9a55-0d7f2b6a1e84", "00000000-0000-0000-0000-000000000000",
	} {
		_, err := idempotent.ParseKey(bad)
		require.ErrorIs(t, err, ports.ErrInvalidIdempotencyKey, bad)
	}
}

func TestFingerprint_NoBodyAndEmptyObject_Differ(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, idempotent.Fingerprint(nil), idempotent.Fingerprint(map[string]any{}))
}
