package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

// units gives the text of each unit of systemd, by its name.
func units(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(root + "/deployments/systemd/*.service")
	require.NoError(t, err)
	found := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		found[filepath.Base(path)] = string(content)
	}
	require.Len(t, found, 3)
	return found
}

func TestUnits_HandSecretsOnByFileAndWaitForTheGrace(t *testing.T) {
	t.Parallel()
	secretLine := regexp.MustCompile(`(?m)^LoadCredential=(\w+):/etc/partnerdeposits/secrets/(\w+)\n` +
		`Environment=(\w+)_FILE=%d/(\w+)$`)
	for name, text := range units(t) {
		var secrets []string
		for _, m := range secretLine.FindAllStringSubmatch(text, -1) {
			require.Equal(t, []string{m[1], m[1], m[1]}, m[2:], name)
			require.Contains(t, secretSettings, m[1], name)
			secrets = append(secrets, m[1])
		}
		want := []string{"DATABASE_URL", "REDIS_URL", "SECRETS_KEYSET", "SMTP_URL"} // required in production
		if strings.Contains(name, "migrate") {
			want = []string{"DATABASE_URL", "SECRETS_KEYSET"}
		}
		require.Equal(t, want, secrets, name)
		require.Equal(t, len(want), strings.Count(text, "LoadCredential="), name)
		require.Contains(t, text, "\nTimeoutStopSec=40\n", name)
		require.Contains(t, text, "\nDynamicUser=yes\n", name)
		require.NotContains(t, text, "RestartPrevent", name, "the runtime of Go ends a crash with 2, as we do a wrong configuration")
	}
}

// systemd 252 is the oldest release that has all that the units use; Debian 12 has it.
func TestUnits_AreReadBySystemd(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DeploymentTests) {
		return
	}
	dir := t.TempDir()
	var paths []string
	program := regexp.MustCompile(`(?m)^ExecStart=/opt/partnerdeposits/(http|dispatcher|admin migrate up)$`)
	for name, text := range units(t) {
		require.Len(t, program.FindAllString(text, -1), 1, name)
		path := filepath.Join(dir, name)
		installed := program.ReplaceAllString(text, "ExecStart=/bin/true") // verify looks for the program
		require.NoError(t, os.WriteFile(path, []byte(installed), 0o600))
		paths = append(paths, path)
	}
	out, err := procs.Command(t.Context(), "systemd-analyze", append([]string{"verify", "--man=no"}, paths...)...).
		CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out), "a line that systemd does not know is a warning")

	claim := regexp.MustCompile(`rates the exposure of the units at (\d\.\d) of 10`).
		FindStringSubmatch(docstest.ReadFile(t, "docs/guides/operations.md"))
	require.NotNil(t, claim)
	for _, path := range paths {
		out, err = procs.Command(t.Context(), "systemd-analyze", "security", "--offline=yes", "--threshold=20", path).
			CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "exposure level for "+filepath.Base(path)+": "+claim[1], string(out))
	}
}
