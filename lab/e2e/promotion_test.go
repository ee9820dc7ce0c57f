package e2e_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// TestPromotion_ThatLosesACommit_VoidsItsCachedAnswer lets a standby take over that misses the last commit. Redis keeps
// the answer about that commit.
func TestPromotion_ThatLosesACommit_VoidsItsCachedAnswer(t *testing.T) {
	t.Parallel()
	pair := pgtest.StartPrimaryWithStandby(t)
	w := worldOn(t, pair.Primary.URL(), redistest.EmptyDatabaseURL(t))
	h := w.http(t)
	account := w.link(t, "villa-22")
	key, lostKey := uuid.NewString(), uuid.NewString()
	kept := w.keyed(t, account, key)
	require.NoError(t, pair.AwaitReplication(t.Context()))
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
