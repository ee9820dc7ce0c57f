package lists_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// place is a list as a single place of the repository holds the list.
type place struct {
	name    string
	entries []string
}

// at makes a place from entries of any string type, and from more entries that only this place leaves out.
func at[T ~string](name string, entries []T, more ...string) place {
	p := place{name: name, entries: slices.Clone(more)}
	for _, e := range entries {
		p.entries = append(p.entries, string(e))
	}
	return p
}

// with adds entries that only this place leaves out.
func (p place) with(entries ...string) place { return at(p.name, p.entries, entries...) }

// without leaves out entries that only this place holds.
func (p place) without(entries ...string) place {
	kept := slices.DeleteFunc(slices.Clone(p.entries), func(e string) bool { return slices.Contains(entries, e) })
	return place{name: p.name, entries: kept}
}

// differences names each entry that some places hold and others do not, each entry that a place holds twice, and each
// place without entries. Order does not count.
func differences(places ...place) []string {
	var found []string
	holders := map[string][]string{}
	for _, p := range places {
		if len(p.entries) == 0 {
			found = append(found, fmt.Sprintf("%s holds nothing", p.name))
		}
		for i, e := range p.entries {
			if slices.Contains(p.entries[:i], e) {
				found = append(found, fmt.Sprintf("%q stands twice in %s", e, p.name))
				continue
			}
			holders[e] = append(holders[e], p.name)
		}
	}
	for entry, in := range holders {
		var missing []string
		for _, p := range places {
			if !slices.Contains(in, p.name) {
				missing = append(missing, p.name)
			}
		}
		if len(missing) > 0 {
			found = append(found,
				fmt.Sprintf("%q is in %s and not in %s", entry, strings.Join(in, ", "), strings.Join(missing, ", ")))
		}
	}
	slices.Sort(found)
	return found
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	goList := at("Go", []string{"a", "b"})
	for name, c := range map[string]struct {
		places []place
		want   []string
	}{
		"the same in another order": {[]place{goList, at("SQL", []string{"b", "a"})}, nil},
		"an entry that SQL lacks": {[]place{goList, at("SQL", []string{"a"})},
			[]string{`"b" is in Go and not in SQL`}},
		"an entry that only SQL has": {[]place{goList, at("SQL", []string{"a", "b", "c"})},
			[]string{`"c" is in SQL and not in Go`}},
		"a spelling": {[]place{goList, at("SQL", []string{"a", "B"})},
			[]string{`"B" is in SQL and not in Go`, `"b" is in Go and not in SQL`}},
		"an entry twice": {[]place{goList, at("SQL", []string{"a", "b", "b"})},
			[]string{`"b" stands twice in SQL`}},
		"three places": {[]place{goList, at("SQL", []string{"a", "b"}), at("API", []string{"a"})},
			[]string{`"b" is in Go, SQL and not in API`}},
		"a place that was not found": {[]place{{name: "Go"}, {name: "SQL"}},
			[]string{"Go holds nothing", "SQL holds nothing"}},
		"an entry that a place omits": {[]place{goList, at("SQL", []string{"a"}, "b")}, nil},
		"an entry of a single place": {[]place{goList, at("API", []string{"a", "b", "all"}).without("all")},
			nil},
		"an entry that is let through needlessly": {[]place{goList, at("SQL", []string{"a", "b"}, "b")},
			[]string{`"b" stands twice in SQL`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, differences(c.places...))
		})
	}
}
