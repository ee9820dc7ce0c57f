package servetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
)

// HAProxy is a running haproxy. Addr and Stats are host:port; Stats serves the servers' state as CSV at /;csv.
type HAProxy struct{ Addr, Stats string }

// StartHAProxy runs haproxy until the test ends, with the lines of backend in its configuration. haproxy never
// repeats a request.
func StartHAProxy(t testing.TB, backend ...string) HAProxy {
	t.Helper()
	path, err := exec.LookPath("haproxy")
	if err != nil {
		// Debian's haproxy is in a folder that is only in the PATH of root.
		path = "/usr/sbin/haproxy"
	}
	p := HAProxy{Addr: freeAddr(t), Stats: freeAddr(t)}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(append([]string{
		"defaults", "mode http", "retries 0", "timeout connect 5s", "timeout client 60s", "timeout server 60s",
		"frontend front", "bind " + p.Addr, "default_backend back",
		"listen stats", "bind " + p.Stats, "stats enable", "stats uri /",
		"backend back",
	}, append(backend, "")...), "\n")), 0o600))
	process, err := procs.Start(procs.ProcessSpec{Name: "haproxy", Path: path, Args: []string{"-q", "-db", "-f", file}})
	require.NoError(t, err, "install haproxy: scripts/ensure-debian.sh haproxy")
	t.Cleanup(process.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, process.AwaitHTTPOK(ctx, "http://"+p.Stats+"/;csv"))
	return p
}

func freeAddr(t testing.TB) string {
	t.Helper()
	port, err := backing.FreePort()
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}
