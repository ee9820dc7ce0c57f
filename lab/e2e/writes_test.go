package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// While a session holds a lock, everything answers but changes. Processes stay ready, for what reads.
func TestWrites_ThatWaitForALock_AreToldByProcessesAndDoctor(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.URL(t)
	w := worldOn(t, databaseURL, redistest.URL(t))
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
	w := worldOn(t, pgtest.URL(t), redistest.URL(t))
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
