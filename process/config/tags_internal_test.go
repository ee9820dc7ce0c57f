package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tag with a typing error would be a check that never runs, or a panic of every command that starts.
func TestTags_OfEverySetting_AreKnownAndComplete(t *testing.T) {
	t.Parallel()
	tag := regexp.MustCompile(`(\w+):"`)
	needed := slices.Concat(RequiredForService, RequiredForSecrets, RequiredForDashboardLinks, RequiredForDatabase,
		NothingRequired)
	for _, s := range settings(Config{}) {
		for _, m := range tag.FindAllStringSubmatch(string(s.field.Tag), -1) {
			known := []string{"env", "envDefault", "required", "example", "form", "min", "max", "above"}
			require.Contains(t, known, m[1], "%s: the tag", s.name())
		}
		if form := s.tag("form"); form != "" {
			require.NotNil(t, forms[form], "%s: the form %q", s.name(), form)
		}
		required := s.tag("required")
		if with, found := strings.CutPrefix(required, "in production with "); found {
			for _, provider := range strings.Split(with, " or ") {
				require.Contains(t, PaymentsProviders, provider, "%s: the provider", s.name())
			}
		} else {
			require.Contains(t, []string{"", "always", "outside development", "in production"}, required, s.name())
		}
		require.Equal(t, required != "", slices.Contains(needed, s.name()), "%s: required, and in the Needs", s.name())
		if required != "" && s.tag("form") != "keyset" { // which a command makes
			require.NotEmpty(t, s.tag("example"), "%s is required: its message needs an example", s.name())
		}
	}
	require.Greater(t, reflect.TypeFor[Config]().NumField(), 30)
}
