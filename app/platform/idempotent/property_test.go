package idempotent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/app/platform/idempotent"
)

// decimal is a JSON number by its value: units × 10^power.
type decimal struct {
	units int64
	power int
}

// values draws JSON values: nil, bool, string, decimal, []any and map[string]any.
func values(depth int) *rapid.Generator[any] {
	simple := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.StringN(0, 8, 32).AsAny(),
		rapid.Custom(func(t *rapid.T) decimal {
			return decimal{rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "units"), rapid.IntRange(-6, 6).Draw(t, "power")}
		}).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(simple...)
	}
	inner := values(depth - 1)
	return rapid.OneOf(
		append(simple, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(rapid.StringN(0, 6, 24), inner, 0, 4).AsAny())...)
}

// written writes a value in a random form: the order of members, white space, escapes and forms of numbers vary.
func written(t *rapid.T, value any) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r\n  "})
	pad := func(s string) string { return space.Draw(t, "space") + s + space.Draw(t, "space") }
	switch v := value.(type) {
	case map[string]any:
		var members []string
		for _, name := range rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, "order") {
			members = append(members, pad(text(t, name))+":"+written(t, v[name]))
		}
		return pad("{" + strings.Join(members, ",") + "}")
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, written(t, item))
		}
		return pad("[" + strings.Join(items, ",") + "]")
	case string:
		return pad(text(t, v))
	case decimal:
		return pad(v.written(t))
	default:
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		return pad(string(raw))
	}
}

// text writes a string with random characters escaped.
func text(t *rapid.T, s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x10000 && (r < ' ' || r == '"' || r == '\\' || rapid.Bool().Draw(t, "escaped")) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return `"` + b.String() + `"`
}

// written writes the number with its point and exponent somewhere.
func (d decimal) written(t *rapid.T) string {
	sign, digits, power := "", strconv.FormatInt(d.units, 10), d.power
	if d.units < 0 {
		sign, digits = "-", digits[1:]
	}
	if zeros := rapid.IntRange(0, 3).Draw(t, "zeros"); d.units != 0 {
		digits, power = digits+strings.Repeat("0", zeros), power-zeros
	}
	if point := rapid.IntRange(0, len(digits)-1).Draw(t, "point"); point > 0 {
		digits, power = digits[:point]+"."+digits[point:], power+len(digits)-point
	}
	if power == 0 && rapid.Bool().Draw(t, "no exponent") {
		return sign + digits
	}
	e := rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e")
	if power >= 0 {
		e += rapid.SampledFrom([]string{"", "+", "0", "+00"}).Draw(t, "plus")
	}
	return sign + digits + e + strconv.Itoa(power)
}

// meaning writes a value in a form of its own: equal values give equal texts, and different values different texts.
func meaning(value any) string {
	switch v := value.(type) {
	case map[string]any:
		out := "{"
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out += strconv.Quote(name) + ":" + meaning(v[name]) + ","
		}
		return out + "}"
	case []any:
		out := "["
		for _, item := range v {
			out += meaning(item) + ","
		}
		return out + "]"
	case string:
		return strconv.Quote(v)
	case decimal:
		exact, _ := new(big.Rat).SetString(fmt.Sprintf("%de%d", v.units, v.power))
		return exact.RatString()
	default:
		return fmt.Sprint(v)
	}
}

func TestFingerprint_AnyTwoForms_AreEqualExactlyWhereTheirMeaningIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := values(3).Draw(t, "one")
		two := values(3).Draw(t, "two")
		fingerprint := func(value any) [32]byte {
			decoder := json.NewDecoder(strings.NewReader(`{"body":` + written(t, value) + `}`))
			decoder.UseNumber()
			var body map[string]any
			require.NoError(t, decoder.Decode(&body))
			return idempotent.Fingerprint(body)
		}
		require.Equal(t, fingerprint(one), fingerprint(one), "the same body in another form")
		require.Equal(t, meaning(one) == meaning(two), fingerprint(one) == fingerprint(two), "%s and %s", meaning(one),
			meaning(two))
		changed := altered(t, one)
		require.NotEqual(t, fingerprint(one), fingerprint(changed), "%s and %s", meaning(one), meaning(changed))
	})
}

// altered changes a value a little, somewhere inside.
func altered(t *rapid.T, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		if len(v) == 0 || rapid.Bool().Draw(t, "another member") {
			name := "x"
			for _, taken := out[name]; taken; _, taken = out[name] {
				name += "x"
			}
			out[name] = nil
			return out
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "member")
		out[name] = altered(t, v[name])
		return out
	case []any:
		if len(v) == 0 || rapid.Bool().Draw(t, "another item") {
			return append(slices.Clone(v), nil)
		}
		out := slices.Clone(v)
		at := rapid.IntRange(0, len(v)-1).Draw(t, "item")
		out[at] = altered(t, v[at])
		return out
	case string:
		return v + "x"
	case decimal:
		return decimal{v.units + 1, v.power}
	case bool:
		return !v
	default:
		return false
	}
}

// FuzzParseKey compares the reader of Idempotency-Key with its form: 36 characters, version 4, in any case.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84", `"3F1C9A52-7C3E-4B0E-9A55-0D7F2B6A1E84"`, "",
		`"`, "3f1c9a52-7c3e-1b0e-9a55-0d7f2b6a1e84"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, err := idempotent.ParseKey(header)
		if err != nil {
			require.Zero(t, key)
			return
		}
		bare := fmt.Sprintf("%x-%x-%x-%x-%x", key[0:4], key[4:6], key[6:8], key[8:10], key[10:])
		require.Contains(t, []string{bare, `"` + bare + `"`}, strings.ToLower(header))
	})
}
