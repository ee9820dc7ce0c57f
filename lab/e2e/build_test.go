package e2e_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The build that these tests stamp on the binaries.
const (
	stampedVersion  = "1.2.3-e2e"
	stampedRevision = "0123456789abcdef0123456789abcdef01234567"
	stampedDate     = "2026-11-28T02:00:00Z"
)

// stampOfImage gives the flags of the linker by which the Containerfile stamps the binaries of the image.
func stampOfImage() (string, error) {
	content, err := os.ReadFile(filepath.Join(repository(), "deployments/Containerfile"))
	if err != nil {
		return "", err
	}
	flags := regexp.MustCompile(`-ldflags="-s -w (-X [^"]+)"`).FindStringSubmatch(string(content))
	if flags == nil {
		return "", errors.New("the Containerfile stamps no binary")
	}
	return strings.NewReplacer("${VERSION}", stampedVersion, "${REVISION}", stampedRevision, "${DATE}",
		stampedDate).Replace(flags[1]), nil
}

func TestVersion_OfEveryProcess_IsTheStampOfTheImage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"http", "dispatcher", "admin"} {
		code, stdout, stderr := run(t, nil, name, "--version")
		require.Zero(t, code, stderr)
		require.Regexp(t, `^`+name+` `+stampedVersion+` \(revision `+stampedRevision+`, go1\.\S+, built `+stampedDate+`\)\n$`,
			stdout)
	}
	for _, p := range []*process{w.http(t), w.dispatcher(t)} {
		_, body := fetch(p.opsURL + "/livez")
		require.JSONEq(t, `{"status":"live","checks":{},"version":"`+stampedVersion+`","revision":"`+stampedRevision+
			`","date":"`+stampedDate+`"}`, body)
		_, body = fetch(p.opsURL + "/metrics")
		require.Regexp(t, `(?m)^svc_build_info\{date="`+stampedDate+`",go_version="go1\.\S+",revision="`+stampedRevision+
			`",version="`+stampedVersion+`"\} 1$`, body)
	}
	code, stdout, stderr := run(t, nil, "admin", "--version", "--json")
	require.Zero(t, code, stderr)
	require.Regexp(t, `^{"version":"`+stampedVersion+`","revision":"`+stampedRevision+`","goVersion":"go1\.[^"]+","date":"`+
		stampedDate+`"}\n$`, stdout)
	code, stdout, stderr = run(t, nil, "sandbox", "--version")
	require.Zero(t, code, stderr)
	require.Regexp(t, `^sandbox \S+ \(revision \S+, go1\.\S+, built \S+\)\n$`, stdout)
}

// TestHealthcheck_OfRunningProcesses asks with METRICS_ADDR as the only setting, as a container engine does that has no
// other.
func TestHealthcheck_OfRunningProcesses(t *testing.T) {
	t.Parallel()
	nowhere := []string{"DATABASE_URL=postgres://u@127.0.0.1:1/x", "REDIS_URL=redis://127.0.0.1:1/0", "DRAIN_DELAY=20s"}
	w := newWorld(t)
	for _, name := range []string{"http", "dispatcher"} {
		check := func(p *process) (code int, stdout, stderr string) {
			return run(t, []string{"METRICS_ADDR=" + strings.TrimPrefix(p.opsURL, "http://"), "LOG_LEVEL=loud"}, name,
				"healthcheck")
		}
		well := start(t, name, w.environ...).ready(t)
		code, stdout, stderr := check(well)
		require.Equal(t, []any{0, "ready\n", ""}, []any{code, stdout, stderr}, name)
		require.Zero(t, well.stop(t))
		code, stdout, stderr = check(well)
		require.Equal(t, []any{1, ""}, []any{code, stdout}, name)
		require.Contains(t, stderr, "connection refused", name)

		waiting := start(t, name, append(nowhere, "HTTP_ADDR="+freePort(t))...)
		waiting.awaitStatus(t, http.StatusServiceUnavailable, func(r readiness) bool {
			return r.Checks["postgres"] == "cannot be reached" && r.Checks["redis"] == "cannot be reached"
		})
		code, stdout, stderr = check(waiting)
		require.Equal(t, []any{1, ""}, []any{code, stdout}, name)
		require.Regexp(t, `^not_ready: .*postgres cannot be reached, .*redis cannot be reached`, stderr, name)
	}
	code, _, stderr := run(t, []string{"METRICS_ADDR=9090"}, "http", "healthcheck")
	require.Equal(t, 1, code, "container engines know no exit code but 0 and 1")
	require.Contains(t, stderr, `METRICS_ADDR: "9090" is not`)
}
