package servicetest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// `make unit` tests these packages with the build tag unit, which leaves out the test files that begin with
// `//go:build !unit`.
var unitPackages = []string{"./core/...", "./ports/...", "./app/..."}

const serverPackage = "partnerdeposits/lab/backing" // starts servers for tests

func TestUnit_LinksNothingThatStartsAServer(t *testing.T) {
	t.Parallel()
	tested := 0
	for _, line := range list(t, "-tags=unit", "-test", "-f={{.ImportPath}} {{join .Deps \" \"}}") {
		name, dependencies, _ := strings.Cut(line, " ")
		if strings.HasSuffix(name, ".test") {
			tested++
		}
		require.False(t, slices.Contains(strings.Fields(dependencies), serverPackage),
			"%s starts a server under `make unit`: begin its test files that need a server with `//go:build !unit`", name)
	}
	require.Greater(t, tested, 10, "packages with tests under `make unit`")
}

func TestUnit_LeavesOutOnlyPackagesThatStartAServer(t *testing.T) {
	t.Parallel()
	var withServer []string
	for _, line := range list(t, "-test", "-f={{.ImportPath}} {{join .Deps \" \"}}") {
		name, dependencies, _ := strings.Cut(line, " ")
		if slices.Contains(strings.Fields(dependencies), serverPackage) {
			withServer = append(withServer, strings.TrimSuffix(name, ".test"))
		}
	}
	for _, line := range list(t, "-tags=unit", "-f={{.ImportPath}} {{join .IgnoredGoFiles \" \"}}") {
		name, ignored, _ := strings.Cut(line, " ")
		if strings.Contains(ignored, "_test.go") {
			require.Contains(t, withServer, name, "%s needs no server: run these files under `make unit` too: %s", name, ignored)
		}
	}
}

// list gives the lines of `go list` about unitPackages.
func list(t *testing.T, arguments ...string) []string {
	t.Helper()
	command := procs.Command(t.Context(), "go", append(append([]string{"list"}, arguments...), unitPackages...)...)
	command.Dir = "../.."
	out, err := command.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
