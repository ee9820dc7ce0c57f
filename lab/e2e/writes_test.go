package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// While a session holds a lock, everything answers but changes. Processes stay ready, for what reads.
func TestWrites_ThatWaitForALock_AreToldByProcessesAndDoctor(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.NewDatabaseURL(t)
	w := worldOn(t, databaseURL, redistest.EmptyDatabaseURL(t))
	processes := []*process{w.http(t), w.dispatcher(t)}
	holder, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	defer func() { _ = holder.Close(t.Context()) }() // the server has ended it
	_, err = holder.Exec(t.Context(), `SET application_name = 'index builder'; BEGIN; LOCK TABLE deposits IN SHARE MODE`)
	require.NoError(t, err)
	for _, p := range processes {
		p.awaitStatus(t, http.StatusOK, func(r readiness) bool {
			return r.Status == "degraded" && r.Checks["writes"] == "wait: a session holds a lock" && r.Checks["postgres"] == "ok"
		})
		require.Eventually(t, func() bool {
			return strings.Contains(p.log.String(), "missing: writes wait: a session holds a lock; trying again")
		}, soon, often)
	}
	var stdout string
	require.Eventually(t, func() bool { // the doctor names sessions whose transaction is older than 5 s
		var code int
		code, stdout, _ = run(t, w.environ, "admin", "doctor")
		return code == 1 && strings.Contains(stdout, "(index builder, idle in transaction, open for ")
	}, soon, often, "%s", &stdout)
	end := stdout[strings.Index(stdout, "SELECT pg_terminate_backend("):]
	end, _, _ = strings.Cut(end, ";")
	var ended bool
	require.NoError(t, w.database(t).QueryRow(t.Context(), end).Scan(&ended))
	require.True(t, ended, "as the doctor says")
	for _, p := range processes {
		p.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "ready" })
	}
	code, stdout, stderr := run(t, w.environ, "admin", "doctor")
	require.Zero(t, code, stdout+stderr)
}

// Hosts of Postgres make it read-only before its disk is full.
func TestWrites_OfAReadOnlyDatabase_AreToldByProcessesAndDoctor(t *testing.T) {
	t.Parallel()
	w := worldOn(t, pgtest.NewDatabaseURL(t), redistest.EmptyDatabaseURL(t))
	h := w.http(t)
	database := w.database(t)
	alter := func(statement string) {
		_, err := database.Exec(t.Context(),
			`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I `+statement+`', current_database()); END $$`)
		require.NoError(t, err)
		_, err = database.Exec(t.Context(),
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
				AND pid <> pg_backend_pid()`)
		require.NoError(t, err)
	}
	alter("SET default_transaction_read_only = on")
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool {
		return r.Status == "degraded" && r.Checks["writes"] == "are refused: Postgres is read-only"
	})
	code, stdout, _ := run(t, w.environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "Name the primary in DATABASE_URL")
	alter("RESET default_transaction_read_only")
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "ready" })
}

// A commit that no standby confirms takes place on the primary, and is answered with 503. Its key finds it again.
func TestWrites_ThatNoStandbyConfirms_AreTold_AndARepeatUnderItsKeyMakesNoSecond(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	w := worldOn(t, server.URL(), redistest.EmptyDatabaseURL(t))
	h := w.http(t)
	accountID, key := w.link(t, "villa-12"), uuid.NewString()
	alter := func(statement string) {
		for _, s := range []string{statement, `SELECT pg_reload_conf()`} {
			_, err := w.database(t).Exec(t.Context(), s)
			require.NoError(t, err)
		}
	}
	alter(`ALTER SYSTEM SET synchronous_standby_names = 'away'`)
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool {
		return r.Status == "degraded" && r.Checks["writes"] == "wait: no standby confirms (synchronous_standby_names)"
	})
	require.InDelta(t, 1, h.metric(`svc_writes_failing{cause="standby"}`), 0)
	require.Zero(t, h.metric(`svc_writes_failing{cause="lock"}`))
	code, stdout, _ := run(t, w.environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "Bring a standby of synchronous_standby_names back")

	create := map[string]any{"accountId": accountID, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z"}
	status, raw, err := w.api(t).with("Idempotency-Key", key).do(http.MethodPost, "/deposits", create)
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, status, string(raw))
	const id = `SELECT coalesce(string_agg(id::text, ' '), '') FROM deposits`
	var made string
	require.Eventually(t, func() bool { // others see it once the commit that waits is given up
		return w.database(t).QueryRow(t.Context(), id).Scan(&made) == nil && made != ""
	}, soon, often, "the effect of a 503 may have happened")

	alter(`ALTER SYSTEM RESET synchronous_standby_names`)
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "ready" })
	require.Zero(t, h.metric(`svc_writes_failing{cause="standby"}`))
	w.keyed(t, accountID, key)
	var remain string
	require.NoError(t, w.database(t).QueryRow(t.Context(), id).Scan(&remain))
	require.Equal(t, made, remain)
}

// A role that lacks a right is named with the table, by a process that would begin to work and by the doctor.
func TestWrites_WithoutRights_AreToldByProcessesAndDoctor(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	w := worldOn(t, server.URL(), redistest.EmptyDatabaseURL(t))
	for _, statement := range []string{`CREATE ROLE service LOGIN`,
		`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO service`,
		`REVOKE UPDATE ON deliveries FROM service`} {
		_, err := w.database(t).Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	environ := append(w.environ, "DATABASE_URL="+strings.Replace(server.URL(), "postgres@", "service@", 1))
	start(t, "http", environ...).awaitStatus(t, http.StatusServiceUnavailable, func(r readiness) bool {
		return r.Checks["writes"] == "are refused: the role lacks rights" && r.Checks["schema"] == "ok"
	})
	code, stdout, _ := run(t, environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "service may not UPDATE deliveries")
	_, err := w.database(t).Exec(t.Context(), `REVOKE ALL ON goose_db_version FROM service`)
	require.NoError(t, err)
	code, stdout, _ = run(t, environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "permission denied")
	require.NotContains(t, stdout, "admin migrate up`.\n")
}
