package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// TestDocs_TheRestoreRuns follows the page about restores. Redis keeps all that it knows, and a request that is
// repeated after the restore gets a deposit that exists. A follower of the feed notices that numbers were taken back.
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
	w.cancelled(t, kept)
	w.relayAll(t) // admin doctor blames events that have waited for 30 s
	var lost, feedID string
	var followed int
	shell := newDocShell(t, t.TempDir(),
		map[string]string{"DATABASE_URL": before, "RESTORED_URL": restored.String(), "REDIS_URL": redisURL})
	change := func(command string) string { return strings.Replace(command, `" restored`, `" `+name, 1) }
	runPage(t, shell, restorePage, change, map[string]func(string){
		"pg_dump": func(string) {
			lost = w.keyed(t, account, lostKey)
			require.Equal(t, lost, w.keyed(t, account, lostKey), "replayed")
			w.cancelled(t, lost)
			w.relayAll(t)
			_, followed, feedID = w.follow(t, 0)
			require.Zero(t, h.stop(t), h.log.String())
		},
		"admin restore-finish": func(output string) { require.Contains(t, output, "epoch") },
	})
	w.environ[0] = "DATABASE_URL=" + restored.String()
	w.http(t)
	status, _, _ := w.follow(t, followed)
	require.Equal(t, http.StatusBadRequest, status, "the number was taken back")
	_, last, anew := w.follow(t, 0)
	require.Equal(t, followed-1, last, "the events of the backup")
	require.NotEqual(t, feedID, anew)
	require.Equal(t, kept, w.keyed(t, account, key), "Postgres has the response")
	status, _, err = w.api(t).do(http.MethodGet, "/deposits/"+lost, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status)
	again := w.keyed(t, account, lostKey)
	status, body, err := w.api(t).do(http.MethodGet, "/deposits/"+again, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, "the id of a repeated request exists: %s", body)
}

// TestPromotion_ThatLosesACommit_VoidsItsCachedAnswer lets a standby take over that misses the last commit. Redis keeps
// the answer about that commit.
func TestPromotion_ThatLosesACommit_VoidsItsCachedAnswer(t *testing.T) {
	t.Parallel()
	pair := pgtest.Pair(t)
	w := worldOn(t, pair.Primary.URL(), redistest.URL(t))
	h := w.http(t)
	account := w.link(t, "villa-22")
	key, lostKey := uuid.NewString(), uuid.NewString()
	kept := w.keyed(t, account, key)
	require.NoError(t, pair.AwaitStandby(t.Context()))
	require.NoError(t, pair.Standby.Stop(false))
	lost := w.keyed(t, account, lostKey)
	require.Equal(t, lost, w.keyed(t, account, lostKey), "replayed")

	require.NoError(t, pair.Primary.Kill())
	require.NoError(t, pair.Promote(t.Context()))
	// Until then the epoch is unknown, and the cache is left out.
	require.Eventually(t, func() bool { return strings.Contains(h.log.String(), "or a standby was promoted") }, soon,
		often)
	again := w.keyed(t, account, lostKey)
	require.NotEqual(t, lost, again, "the answer about the lost commit is void")
	status, body := w.served(t, "", http.MethodGet, "/deposits/"+again, nil)
	require.Equal(t, http.StatusOK, status, "the id of a repeated request exists: %s", body)
	status, _ = w.served(t, "", http.MethodGet, "/deposits/"+lost, nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, kept, w.keyed(t, account, key), "the standby had that commit")
	code, stdout, stderr := run(t, w.environ, "admin", "doctor")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stdout, "Run `admin restore-finish`")
}

// cancelled cancels a deposit, which is an event.
func (w *deployment) cancelled(t testing.TB, depositID string) {
	t.Helper()
	status, raw := w.served(t, uuid.NewString(), http.MethodPost, "/deposits/"+depositID+"/cancel", map[string]any{})
	require.Equal(t, http.StatusOK, status, string(raw))
}

// follow reads the feed behind a number, and gives the last number and the feedId.
func (w *deployment) follow(t testing.TB, after int) (status, last int, feedID string) {
	t.Helper()
	status, raw := w.served(t, "", http.MethodGet, "/events/feed?after="+strconv.Itoa(after), nil)
	var page struct {
		NextAfter int
		FeedID    string
	}
	require.NoError(t, json.Unmarshal(raw, &page))
	return status, page.NextAfter, page.FeedID
}

// relayAll lets a dispatcher work until the outbox is empty.
func (w *deployment) relayAll(t testing.TB) {
	t.Helper()
	d, database := w.dispatcher(t), w.database(t)
	require.Eventually(t, func() bool {
		var waiting int
		err := database.QueryRow(t.Context(), `SELECT count(*) FROM outbox`).Scan(&waiting)
		return err == nil && waiting == 0
	}, soon, often)
	require.Zero(t, d.stop(t), d.log.String())
}

// keyed creates a deposit under an Idempotency-Key.
func (w *deployment) keyed(t testing.TB, accountID, key string) (depositID string) {
	t.Helper()
	status, raw := w.served(t, key, http.MethodPost, "/deposits", map[string]any{
		"accountId": accountID, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z",
	})
	require.Equal(t, http.StatusCreated, status, string(raw))
	var made struct{ Data struct{ ID string } }
	require.NoError(t, json.Unmarshal(raw, &made))
	return made.Data.ID
}

// served calls the API until the answer is no 503, as partners do: after a promotion a connection of the pool may still
// lead to the server that is gone.
func (w *deployment) served(t testing.TB, key, method, path string, body any) (status int, raw []byte) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		status, raw, err = w.api(t).with("Idempotency-Key", key).do(method, path, body)
		return err == nil && status != http.StatusServiceUnavailable
	}, soon, often)
	return status, raw
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
