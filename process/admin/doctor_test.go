package admin

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/process/wire"
)

// checkOf runs the doctor and gives its finding by the name of the check.
func checkOf(t *testing.T, name string, environ []string) (ok bool, found, todo string) {
	t.Helper()
	got := runWith(t.Context(), environ, "doctor", "--json")
	var answer struct {
		Checks []struct {
			Check         string
			OK            bool
			Finding, Todo string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &answer), got.stdout+got.stderr)
	for _, c := range answer.Checks {
		if c.Check == name {
			return c.OK, c.Finding, c.Todo
		}
	}
	require.Fail(t, "no such check", "%s: %s", name, got.stdout)
	return false, "", ""
}

// A server with eight connections for users, which are all taken, keeps the others back for a superuser.
func TestDoctor_OfAPostgresWithoutAFreeConnection_TellsTheWayIn(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	var connections int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT current_setting('max_connections')::integer`).Scan(&connections))
	for _, statement := range []string{`CREATE ROLE service LOGIN PASSWORD 'secret'`,
		`ALTER SYSTEM SET superuser_reserved_connections = ` + strconv.Itoa(connections-8)} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	require.NoError(t, server.Stop(false))
	require.NoError(t, server.Restart(t.Context()))
	role, err := url.Parse(server.URL())
	require.NoError(t, err)
	role.User = url.UserPassword("service", "secret")
	for range 8 {
		taken, err := pgx.Connect(t.Context(), role.String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = taken.Close(t.Context()) }) // the context has ended: it closes all the same
	}

	ok, found, todo := checkOf(t, "database", environOf(role.String()))
	require.False(t, ok)
	require.Contains(t, found, "has no connection free: ")
	require.NotContains(t, found, "secret")
	require.Contains(t, todo, "sudo -u postgres psql")
	ok, found, _ = checkOf(t, "database", environOf(server.URL()))
	require.True(t, ok, "a superuser gets in: %s", found)
	process := processFinding(wire.ProcessState{Checks: []wire.HealthCheckState{{Name: "postgres",
		Problem: wire.NoConnectionText}}})
	require.Equal(t, wayIn, process.remedy)
}

func TestDoctor_OfARedisThatEvicts_NamesThePolicy(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	environ := environOf(pgtest.NewDatabaseURL(t), "REDIS_URL="+server.URL())
	ok, found, _ := checkOf(t, "redis", environ)
	require.True(t, ok, found)
	require.NoError(t,
		redistest.ServerClient(t, server).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	ok, found, todo := checkOf(t, "redis", environ)
	require.False(t, ok)
	require.Contains(t, found, "maxmemory-policy is allkeys-lru")
	require.Contains(t, todo, "noeviction")
}

func TestDoctor_OfAnIdleTransaction_NamesTheSessionAndHowToEndIt(t *testing.T) {
	t.Parallel()
	got := idle(wire.Diagnosis{Idle: []wire.BlockingSession{{PID: 7, Application: "batch at 10.0.0.5",
		State: "idle in transaction", Query: "SELECT 1", Open: 4 * time.Minute}}})
	require.Contains(t, got.problem, "pid 7 (batch at 10.0.0.5, idle in transaction, open for 4m0s): SELECT 1")
	require.Contains(t, got.remedy, "SELECT pg_terminate_backend(7);")
	require.Empty(t, idle(wire.Diagnosis{}).problem)
}

func TestDoctor_OfTwoMistakesWithProxies_TellsBoth(t *testing.T) {
	t.Parallel()
	got := proxies(wire.Diagnosis{Forwarded: redisadapter.ProxyHeaderWarning{Peer: "10.0.0.9", Header: "X-Forwarded-For"},
		ForwardedBoth: redisadapter.ProxyHeaderWarning{Peer: "10.0.0.8"}})
	require.Contains(t, got.problem, "10.0.0.8 sent both X-Real-IP and X-Forwarded-For")
	require.Contains(t, got.problem, "; 10.0.0.9 sent X-Forwarded-For and is not in TRUSTED_PROXIES")
	require.Equal(t, 2, strings.Count(got.remedy, "TRUSTED_PROXY_HEADER"), got.remedy)
	require.Empty(t, proxies(wire.Diagnosis{}).problem)
}
