package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// Who upgrades reads this section alone, so it comes first in each release and is not empty.
func TestChangelog_EveryReleaseSaysHowToUpgrade(t *testing.T) {
	releases := regexp.MustCompile(`(?m)^## `).Split(docstest.ReadFile(t, "CHANGELOG.md"), -1)[1:]
	require.NotEmpty(t, releases)
	for _, release := range releases {
		name, text, _ := strings.Cut(release, "\n")
		heading, text, _ := strings.Cut(strings.TrimSpace(text), "\n")
		require.Equal(t, "### Upgrading", heading, "the first section of %s", name)
		section, _, _ := strings.Cut(text, "\n### ")
		require.Contains(t, section, "admin migrate up", "the section of %s", name)
	}
}
