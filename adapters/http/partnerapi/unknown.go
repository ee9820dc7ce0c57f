package partnerapi

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/core/fault"
)

// noBody is the schema for routes without a request body; it accepts {}, which many clients send.
var noBody = openapi3.NewObjectSchema().WithoutAdditionalProperties()

// unknownIn returns the fault of a body's first unknown field, outer before inner, by name; nil for none. A
// misspelt field must not be ignored: a capture without an amount captures everything (api.md §1, "Values").
func unknownIn(s *openapi3.Schema, value any, at jsonbody.Path) error {
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		for _, name := range names {
			if open := s.AdditionalProperties.Has; s.Properties[name] == nil && open != nil && !*open {
				return unknownName(append(at, name), slices.Sorted(maps.Keys(s.Properties)), "takes no body")
			}
		}
		for _, name := range names {
			if inner := s.Properties[name]; inner != nil {
				if err := unknownIn(inner.Value, v[name], append(at, name)); err != nil {
					return err
				}
			}
		}
	case []any:
		for i, item := range v {
			if s.Items == nil {
				break
			}
			if err := unknownIn(s.Items.Value, item, append(at, "["+strconv.Itoa(i)+"]")); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknownName returns the fault for an unknown name: "`amountCents` is unknown; did you mean `amount`?". none is
// the text for a route without known names.
func unknownName(at jsonbody.Path, known []string, none string) error {
	hint := "; known are " + strings.Join(known, ", ") + "."
	if near := nearest(at[len(at)-1], known); near != "" {
		hint = "; did you mean `" + near + "`?"
	} else if len(known) == 0 {
		hint = "; this route " + none + "."
	}
	return fault.ErrUnknownField.WithMessage("`%s` is unknown%s", strings.ReplaceAll(at.String(), "`", "?"), hint)
}

// longestGuessed bounds the length of names for which a similar one is searched. shortestPart is the least number
// of letters for which containing a name counts as similar.
const longestGuessed, shortestPart = 64, 3

// nearest returns the known name that a misspelt one may mean; "" for none. It prefers the fewest letters to
// change, at most a third; else the longest name contained in it (amountCents: amount); else the only one that
// contains it (rental: rentalContract).
func nearest(name string, known []string) (near string) {
	if len(name) > longestGuessed {
		return ""
	}
	given, fewest := lettersOf(name), longestGuessed
	for _, k := range known {
		letters := lettersOf(k)
		if d := edits(given, letters); d < fewest && d <= max(1, len(letters)/3) {
			near, fewest = k, d
		}
	}
	if near != "" {
		return near
	}
	var around []string
	for _, k := range known {
		letters := lettersOf(k)
		if len(letters) >= shortestPart && strings.Contains(given, letters) && len(k) > len(near) {
			near = k
		}
		if len(given) >= shortestPart && strings.Contains(letters, given) {
			around = append(around, k)
		}
	}
	if near == "" && len(around) == 1 {
		return around[0]
	}
	return near
}

// lettersOf returns a name in lower case without signs: rental_contract equals rentalContract.
func lettersOf(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// edits returns the edit distance of two names: letters to add, drop, replace or swap.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case x[i-1] == y[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
