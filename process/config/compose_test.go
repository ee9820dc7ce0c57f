package config_test

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

const root = "../.."

// fixedInCompose are the settings that belong to Compose's own servers and ports.
var fixedInCompose = []string{"DATABASE_URL", "REDIS_URL", "HTTP_ADDR", "METRICS_ADDR"}

// composeEnvironment reads the environment that every service of compose.yaml gets.
func composeEnvironment(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(root + "/deployments/compose.yaml")
	require.NoError(t, err)
	_, block, there := strings.Cut(string(content), "environment: &environment\n")
	require.True(t, there)
	pair := regexp.MustCompile(`^    ([A-Z_]+): (.*)$`)
	found := map[string]string{}
	for line := range strings.Lines(block) {
		m := pair.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil && !strings.HasPrefix(line, "    #") {
			return found
		}
		if m != nil {
			found[m[1]] = m[2]
		}
	}
	return found
}

func TestCompose_HandsEverySettingOn(t *testing.T) {
	environment := composeEnvironment(t)
	var want []string
	for _, setting := range inOrder() {
		want = append(want, setting.Name)
		if !slices.Contains(fixedInCompose, setting.Name) {
			require.Contains(t, environment[setting.Name], "${"+setting.Name+":-", "deployments/compose.yaml hands %s on",
				setting.Name)
		}
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(environment)))
}

// docker-compose 1.29 is the oldest release that Debian and Ubuntu still have.
func TestCompose_IsReadByDockerCompose(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DeploymentTests) {
		return
	}
	refused, err := composed(t).CombinedOutput()
	require.Error(t, err, "the database has no password by default")
	require.Contains(t, string(refused), "POSTGRES_PASSWORD")

	cmd := composed(t, "POSTGRES_PASSWORD=given-password", "VERSION=1.2.3")
	var handed []string
	for name := range composeEnvironment(t) {
		if !slices.Contains(fixedInCompose, name) {
			handed = append(handed, name)
			cmd.Env = append(cmd.Env, name+"=given-"+name)
		}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, name := range handed {
		require.Contains(t, string(out), name+": given-"+name+"\n")
	}
	require.Contains(t, string(out), "postgres:given-password@postgres")
	require.Contains(t, string(out), "--storage.tsdb.retention.time=30d")
	require.NotRegexp(t, `(?m)^ *(- |published: )['"]?[0-9]+:[0-9]+`, string(out), "ports are open on this machine alone")
	for _, bound := range []string{"mem_limit: ", "pids_limit: ", "max-size: 10m\n", "max-file: '5'\n"} {
		require.Equal(t, strings.Count(string(out), "image: "), strings.Count(string(out), bound),
			"each service has a bound: %s", bound)
	}
	for _, service := range []string{"http", "dispatcher"} {
		require.Regexp(t, `test:\n +- CMD\n +- /`+service+`\n +- healthcheck\n`, string(out), "the image has no curl")
	}
	require.Contains(t, string(out), "VERSION: 1.2.3\n")
}

// composed shows the Compose file of all profiles with these variables.
func composed(t *testing.T, environ ...string) *exec.Cmd {
	t.Helper()
	cmd := procs.Command(t.Context(), "docker-compose", "-f", root+"/deployments/compose.yaml", "--profile",
		"metrics", "--profile", "tools", "config")
	cmd.Env = append(os.Environ(), environ...)
	return cmd
}
