package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
)

// bouncerConns is the number of server connections that PgBouncer opens for a database.
const bouncerConns = 8

// Bouncer starts PgBouncer in transaction mode in front of a database, and returns the URL that leads through PgBouncer.
// more are further lines of its configuration.
// PgBouncer stops at the end of the test. scripts/ensure-debian.sh installs PgBouncer.
func Bouncer(t testing.TB, databaseURL string, more ...string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // Debian keeps the program out of the PATH of users
	}
	target, err := pgx.ParseConfig(databaseURL)
	require.NoError(t, err)
	port, err := backing.FreePort()
	require.NoError(t, err)
	password := ""
	if target.Password != "" {
		password = " password='" + strings.ReplaceAll(target.Password, "'", "''") + "'"
	}
	settings := filepath.Join(t.TempDir(), "pgbouncer.ini")
	require.NoError(t, os.WriteFile(settings, fmt.Appendf(nil, `[databases]
* = host=%s port=%d user=%s%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 400
%s
`, target.Host, target.Port, target.User, password, port, bouncerConns, strings.Join(more, "\n")), 0o600))
	args := []string{"-q", settings}
	if os.Geteuid() == 0 { // PgBouncer refuses to run as root
		args = append([]string{"-u", "nobody"}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start(), "PgBouncer is missing: scripts/ensure-debian.sh pgbouncer")
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // the signal is its error
	})
	through, err := url.Parse(databaseURL)
	require.NoError(t, err)
	through.Host = fmt.Sprintf("127.0.0.1:%d", port)
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, through.String())
		return err == nil && conn.Close(ctx) == nil
	}, cleanupLimit, 20*time.Millisecond, "PgBouncer answers")
	return through.String()
}
