package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
)

// bouncerConns is PgBouncer's number of server connections for each test database.
const bouncerConns = 8

// StartPgBouncer starts PgBouncer in transaction mode until the test ends, and returns the database's URL through
// it. more holds lines of its configuration.
func StartPgBouncer(t testing.TB, databaseURL string, more ...string) string {
	t.Helper()
	return through(t, databaseURL, startBouncer(t, databaseURL, t.TempDir(), t.Cleanup, more...))
}

// sharedBouncer is the PgBouncer of all tests of a binary.
var sharedBouncer struct {
	sync.Mutex
	address string
}

// PgBouncerURL returns a test database's URL through the PgBouncer that a binary's tests share.
func PgBouncerURL(t testing.TB, databaseURL string) string {
	t.Helper()
	sharedBouncer.Lock()
	defer sharedBouncer.Unlock()
	if sharedBouncer.address == "" {
		folder, err := os.MkdirTemp("", "pgbouncer")
		require.NoError(t, err)
		backing.AtExit(func() { _ = os.RemoveAll(folder) })
		sharedBouncer.address = startBouncer(t, databaseURL, folder, backing.AtExit)
	}
	return through(t, databaseURL, sharedBouncer.address)
}

// through returns a database URL with another host and port.
func through(t testing.TB, databaseURL, address string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	u.Host = address
	return u.String()
}

// startBouncer starts PgBouncer with its settings in a folder, and returns its address. atEnd registers its stop.
func startBouncer(t testing.TB, databaseURL, folder string, atEnd func(func()), more ...string) (address string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		// Debian's pgbouncer is in a folder outside the PATH of users.
		program = "/usr/sbin/pgbouncer"
	}
	target, err := pgx.ParseConfig(databaseURL)
	require.NoError(t, err)
	port, err := backing.FreePort()
	require.NoError(t, err)
	password := ""
	if target.Password != "" {
		password = " password='" + strings.ReplaceAll(target.Password, "'", "''") + "'"
	}
	settings := filepath.Join(folder, "pgbouncer.ini")
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
	if os.Geteuid() == 0 { // PgBouncer refuses to run as root.
		args = append([]string{"-u", "nobody"}, args...)
	}
	process, err := procs.Start(procs.ProcessSpec{Name: "PgBouncer", Path: program, Args: args, Store: true})
	require.NoError(t, err, "PgBouncer is missing: scripts/ensure-debian.sh pgbouncer")
	atEnd(process.Kill)
	address = fmt.Sprintf("127.0.0.1:%d", port)
	there := through(t, databaseURL, address)
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, there)
		return err == nil && conn.Close(ctx) == nil
	}, cleanupLimit, 20*time.Millisecond, "PgBouncer answers")
	return address
}
