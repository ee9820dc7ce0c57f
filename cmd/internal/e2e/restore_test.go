package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/redis/redistest"
)

// TestDocs_TheRestoreRuns follows the page about restores. Redis keeps all that it knows, and a request that is repeated
// after the restore gets a deposit that exists.
func TestDocs_TheRestoreRuns(t *testing.T) {
	t.Parallel()
	before, redisURL := pgtest.URL(t), redistest.URL(t)
	w := worldOn(t, before, redisURL)
	h := w.http(t)
	account := w.link(t, "villa-21")
	name := "restored_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	restored, err := url.Parse(before)
	require.NoError(t, err)
	restored.Path = "/" + name
	t.Cleanup(func() { dropDatabase(t, before, name) })

	key, lostKey := uuid.NewString(), uuid.NewString()
	kept := w.keyed(t, account, key)
	var lost string
	shell := newDocShell(t, t.TempDir(), map[string]string{"DATABASE_URL": before, "RESTORED_URL": restored.String(), "REDIS_URL": redisURL})
	change := func(command string) string { return strings.Replace(command, `" restored`, `" `+name, 1) }
	runPage(t, shell, restorePage, change, map[string]func(string){
		"pg_dump": func(string) {
			lost = w.keyed(t, account, lostKey)
			require.Equal(t, lost, w.keyed(t, account, lostKey), "replayed")
			require.Zero(t, h.stop(t), h.log.String())
		},
		"admin restore-finish": func(output string) { require.Contains(t, output, "epoch") },
	})
	w.environ[0] = "DATABASE_URL=" + restored.String()
	w.http(t)
	require.Equal(t, kept, w.keyed(t, account, key), "Postgres has the response")
	status, _, err := w.api(t).do(http.MethodGet, "/deposits/"+lost, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status)
	again := w.keyed(t, account, lostKey)
	status, body, err := w.api(t).do(http.MethodGet, "/deposits/"+again, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, "the id of a repeated request exists: %s", body)
}

// keyed creates a deposit under an Idempotency-Key.
func (w *world) keyed(t testing.TB, accountID, key string) (depositID string) {
	t.Helper()
	status, raw, err := w.api(t).with("Idempotency-Key", key).do(http.MethodPost, "/deposits", map[string]any{
		"accountId": accountID, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z", "contractEndAt": "2030-06-08T10:00:00Z",
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, status, string(raw))
	var made struct{ Data struct{ ID string } }
	require.NoError(t, json.Unmarshal(raw, &made))
	return made.Data.ID
}

// dropDatabase runs at the end of a test, when the test's own context has ended.
func dropDatabase(t testing.TB, serverURL, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, serverURL)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	require.NoError(t, err)
	require.NoError(t, conn.Close(ctx))
}
