package partnerapi_test

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

func TestRelease_OfAnActiveDeposit_ClosesItOnce(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	active := c.simulated(d, "activate")
	got := c.post("/deposits/"+d+"/release", object{"comment": "Returned in good order"}).ok(200)
	require.Equal(t, []any{"close", "released", 0.0, active["expiresAt"]},
		[]any{got["status"], got["statusReason"], got["capturedAmountCents"], got["expiresAt"]})
	require.NotEmpty(t, got["closedAt"])
	require.Equal(t, got, c.get("/deposits/"+d).ok(200))
	require.Equal(t, []string{"deposit.activated", "deposit.expired"}, c.events(t, d))

	parsed, ok := id.Deposit.Parse(d)
	require.True(t, ok)
	var actor string
	var detail []byte
	require.NoError(t,
		c.Pool.QueryRow(t.Context(),
			`SELECT actor, detail FROM deposit_transitions WHERE deposit_id = $1 AND trigger = 'released'`, parsed).Scan(&actor,
			&detail))
	require.Equal(t, "partner:"+id.Partner.Of(c.partner.ID), actor)
	var said map[string]string
	require.NoError(t, json.Unmarshal(detail, &said))
	require.Equal(t, map[string]string{"keyId": c.keyID, "comment": "Returned in good order"}, said)

	c.leavesNothing(t, func() {
		c.post("/deposits/"+d+"/release", nil).refused(409, "deposit_not_releasable")
		c.post("/deposits/"+d+"/capture", nil).refused(409, "deposit_not_capturable")
	})
}

func TestReleaseAndCapture_ManyAtOnce_OneHappens(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	c.simulated(d, "activate")
	var done atomic.Int64
	var wg sync.WaitGroup
	for i := range 20 {
		action := []string{"release", "capture"}[i%2]
		wg.Go(func() {
			if r := c.post("/deposits/"+d+"/"+action, nil); r.status == 200 {
				done.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, done.Load())
	require.Len(t, c.events(t, d), 2)
	var collections int
	parsed, _ := id.Deposit.Parse(d)
	require.NoError(t, c.Pool.QueryRow(t.Context(),
		`SELECT count(*) FROM payments WHERE deposit_id = $1 AND kind = 'collection'`, parsed).Scan(&collections))
	want := 0
	if c.get("/deposits/" + d).ok(200)["status"] == "captured" {
		want = 1
	}
	require.Equal(t, want, collections)
}
