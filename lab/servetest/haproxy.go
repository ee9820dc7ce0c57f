package servetest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
)

// HAProxy is a running haproxy in front of servers under test. Addr and Stats have the form host:port; Stats serves the
// state of the servers as CSV at /;csv.
type HAProxy struct{ Addr, Stats string }

// StartHAProxy runs haproxy with the given lines of its backend until the test ends. haproxy repeats no request.
// scripts/ensure-debian.sh installs haproxy.
func StartHAProxy(t testing.TB, backend ...string) HAProxy {
	t.Helper()
	path, err := exec.LookPath("haproxy")
	if err != nil {
		path = "/usr/sbin/haproxy" // Debian's place, which only root has in PATH
	}
	p := HAProxy{Addr: freeAddr(t), Stats: freeAddr(t)}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(append([]string{
		"defaults", "mode http", "retries 0", "timeout connect 5s", "timeout client 60s", "timeout server 60s",
		"frontend front", "bind " + p.Addr, "default_backend back",
		"listen stats", "bind " + p.Stats, "stats enable", "stats uri /",
		"backend back",
	}, append(backend, "")...), "\n")), 0o600))
	cmd := exec.Command(path, "-q", "-db", "-f", file)
	var output syncOutput
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start(), "install haproxy: scripts/ensure-debian.sh haproxy")
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed in the end
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", p.Addr)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}, patience, 10*time.Millisecond, "%s", &output)
	return p
}

func freeAddr(t testing.TB) string {
	t.Helper()
	port, err := backing.FreePort()
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// syncOutput collects the output of a running command.
type syncOutput struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *syncOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *syncOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return fmt.Sprintf("haproxy says: %s", o.b.String())
}
