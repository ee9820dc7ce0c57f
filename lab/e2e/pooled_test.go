package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// TestPooled_BehindPgBouncer_WorksUnderLoad runs both processes behind PgBouncer in transaction mode, whose eight
// connections serve the pools of both.
func TestPooled_BehindPgBouncer_WorksUnderLoad(t *testing.T) {
	t.Parallel()
	direct := pgtest.NewDatabaseURL(t)
	pooled := pgtest.StartPgBouncer(t, direct)
	w := worldOn(t, pooled, redistest.EmptyDatabaseURL(t), "DATABASE_POOLED=true", "DATABASE_DIRECT_URL="+direct)
	w.setRole(t, direct)
	h, d := w.http(t), w.dispatcher(t)
	account := w.link(t, "villa-31")
	r := newReceiver(t)
	w.subscribe(t, r, "deposit.activated")

	const clients, each = 16, 12
	var load sync.WaitGroup
	for range clients {
		client := w.api(t)
		load.Go(func() {
			for range each {
				if err := client.activateOne(account); err != nil {
					t.Error(err)
				}
			}
		})
	}
	load.Wait()
	require.Len(t, r.await(t, clients*each), clients*each)
	for _, p := range []*process{h, d} {
		require.Zero(t, p.stop(t))
		require.NotContains(t, p.log.String(), "prepared statement")
		require.NotContains(t, p.log.String(), "SQLSTATE")
	}
}

// activateOne creates a deposit and activates it.
func (c *apiClient) activateOne(accountID string) error {
	keyed := &apiClient{t: c.t, base: c.base, header: c.header.Clone()}
	keyed.header.Set("Idempotency-Key", uuid.NewString())
	status, raw, err := keyed.do(http.MethodPost, "/deposits", map[string]any{
		"accountId": accountID, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z",
	})
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("create: %d %s %w", status, raw, err)
	}
	id := regexp.MustCompile(`"id":"(dep_\w+)"`).FindSubmatch(raw)
	if id == nil {
		return fmt.Errorf("create: no id in %s", raw)
	}
	status, raw, err = c.do(http.MethodPost, "/test/deposits/"+string(id[1])+"/simulate",
		map[string]string{"outcome": "activate"})
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("activate: %d %s %w", status, raw, err)
	}
	return nil
}

// setRole gives the role the settings that doctor asks for, in the database of the test alone.
func (w *deployment) setRole(t *testing.T, direct string) {
	t.Helper()
	code, stdout, _ := run(t, w.environ, "admin", "doctor")
	require.Equal(t, 1, code, stdout)
	statements := regexp.MustCompile(`ALTER ROLE ("\w+") SET ([^;]+);`).FindAllStringSubmatch(stdout, -1)
	require.Greater(t, len(statements), 5, stdout)
	conn, err := pgx.Connect(t.Context(), direct)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for _, s := range statements {
		_, err := conn.Exec(t.Context(), "ALTER ROLE "+s[1]+" IN DATABASE "+conn.Config().Database+" SET "+s[2])
		require.NoError(t, err)
	}
	// PgBouncer's open connections have the settings from before.
	_, err = conn.Exec(t.Context(),
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
			AND pid <> pg_backend_pid()`)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		code, stdout, _ = run(t, w.environ, "admin", "doctor")
		return code == 0
	}, soon, often, "%s", lazy(func() string { return stdout }))
}

// TestPooled_Undeclared_IsNotReady: a pooler that drops start-up parameters breaks prepared statements, too.
func TestPooled_Undeclared_IsNotReady(t *testing.T) {
	t.Parallel()
	names :=
		"application_name,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,enable_seqscan,enable_hashjoin,enable_mergejoin,enable_bitmapscan,join_collapse_limit,plan_cache_mode,jit"
	pooled := pgtest.StartPgBouncer(t, pgtest.NewDatabaseURL(t), "ignore_startup_parameters = "+names)
	environ := []string{"DATABASE_URL=" + pooled, "REDIS_URL=" + redistest.EmptyDatabaseURL(t), "HTTP_ADDR=" + freePort(t)}
	start(t, "http", environ...).awaitStatus(t, http.StatusServiceUnavailable, func(r readiness) bool {
		return strings.Contains(r.Checks["postgres"], "DATABASE_POOLED=true")
	})
	code, stdout, _ := run(t, environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "a pooler drops the settings of connections")
}
