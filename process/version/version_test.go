package version_test

import (
	"regexp"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/process/version"
)

// The test sets the package's variables, so it does not run in parallel.
func TestRead_TheLinkersStampComesFirst(t *testing.T) {
	require.Equal(t, version.Build{Version: version.Read().Version, Revision: "unknown", Date: "unknown",
		Go: runtime.Version()}, version.Read(), "a test has no commit")
	require.NotEmpty(t, version.Read().Version)

	version.Version, version.Revision, version.Date = "1.2.3", "ad1685c3", "2026-11-28T02:00:00Z"
	defer func() { version.Version, version.Revision, version.Date = "", "", "" }()
	require.Equal(t, "http 1.2.3 (revision ad1685c3, "+runtime.Version()+", built 2026-11-28T02:00:00Z)",
		version.Read().VersionLine("http"))
}

// The linker says nothing about a variable that does not exist. lab/e2e reads the stamp from binaries.
func TestBuilds_StampEveryVariable(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"Makefile", "deployments/Containerfile"} {
		var stamped []string
		for _, m := range regexp.MustCompile(`-X (?:partnerdeposits/process/version|\$\(STAMPED\))\.(\w+)=`).
			FindAllStringSubmatch(docstest.ReadFile(t, path), -1) {
			stamped = append(stamped, m[1])
		}
		slices.Sort(stamped)
		require.Equal(t, []string{"Date", "Revision", "Version"}, stamped, path)
	}
}
