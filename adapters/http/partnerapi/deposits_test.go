package partnerapi_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

func mustAccount(t testing.TB, s string) id.ID {
	t.Helper()
	parsed, ok := id.Account.Parse(s)
	require.True(t, ok)
	return parsed
}

// events returns the names of a deposit's events, oldest first.
func (w *world) events(t testing.TB, depositID string) []string {
	t.Helper()
	parsed, ok := id.Deposit.Parse(depositID)
	require.True(t, ok)
	rows, err := w.Pool.Query(t.Context(),
		`SELECT name FROM (SELECT event_id AS id, name, deposit_id FROM outbox UNION ALL SELECT id, name, deposit_id
			FROM events) e WHERE deposit_id = $1 ORDER BY id`,
		parsed)
	require.NoError(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		out = append(out, name)
	}
	return out
}

func TestCancel_BeforeTheDepositIsSecured_IsRecordedOnce(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	c.simulated(d, "fail_payment")
	got := c.post("/deposits/"+d+"/cancel", nil).ok(200)
	require.Equal(t, []any{"cancelled", "by_partner"}, []any{got["status"], got["statusReason"]})
	require.NotEmpty(t, got["cancelledAt"])
	require.Equal(t, []string{"deposit.status_changed", "deposit.cancelled"}, c.events(t, d))
	c.leavesNothing(t, func() { c.post("/deposits/"+d+"/cancel", nil).refused(409, "deposit_not_cancellable") })
}

func TestCancel_WithAPaymentPageOpen_ClosesIt(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	c.openPage(d)
	require.Equal(t, "cancelled", c.post("/deposits/"+d+"/cancel", nil).ok(200)["status"])
	var open int
	require.NoError(t,
		c.Pool.QueryRow(t.Context(), `SELECT count(*) FROM payments WHERE status = 'processing'`).Scan(&open))
	require.Zero(t, open)
}

func TestCancel_TenantWasQuicker_IsRefused(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	c.openPage(d)
	_, err := c.Pool.Exec(t.Context(), `UPDATE sandbox_payments SET status = 'succeeded'`)
	require.NoError(t, err)
	c.post("/deposits/"+d+"/cancel", nil).refused(409, "deposit_not_cancellable")
	require.Equal(t, "active", c.get("/deposits/" + d).ok(200)["status"])
	require.Equal(t, []string{"deposit.activated"}, c.events(t, d))
}

// openPage starts the tenant's payment: the fee payment is processing and the provider's page is open.
func (c *caller) openPage(depositID string) {
	c.t.Helper()
	parsed, ok := id.Deposit.Parse(depositID)
	require.True(c.t, ok)
	ctx, payment := c.t.Context(), id.ID{0: 1, 15: byte(c.rings.Add(1))}
	_, err := c.Pool.Exec(ctx, `UPDATE deposits SET checkout_started_at = now() WHERE id = $1`, parsed)
	require.NoError(c.t, err)
	_, err = c.Pool.Exec(ctx,
		`INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
			VALUES ($1, $2, 'fee', 1750, 'processing', now(), now())`,
		payment, parsed)
	require.NoError(c.t, err)
	_, err = c.Pool.Exec(ctx,
		`INSERT INTO sandbox_payments (id, ref, amount_cents, description, return_url, status)
			VALUES ($1, gen_random_uuid()::text, 1750, '', 'https://x.example', 'open')`,
		payment)
	require.NoError(c.t, err)
}

func TestCapture_AllOrPart_OnceAndWithItsCollection(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for body, cents := range map[string]float64{``: 50000, `{}`: 50000, `{"amount":0.50}`: 50, `{"amount":5e2}`: 50000,
		`{"amount":180.50,"reason":"damage"}`: 18050} {
		d := c.created(account)
		c.simulated(d, "activate")
		var sent any
		if body != "" {
			sent = body
		}
		got := c.post("/deposits/"+d+"/capture", sent).ok(200)
		require.Equal(t, []any{"captured", "claim", cents},
			[]any{got["status"], got["statusReason"], got["capturedAmountCents"]})
		require.Equal(t, []string{"deposit.activated", "deposit.captured"}, c.events(t, d))
		parsed, _ := id.Deposit.Parse(d)
		var amount int64
		var status string
		require.NoError(t,
			c.Pool.QueryRow(t.Context(),
				`SELECT amount_cents, status FROM payments WHERE deposit_id = $1 AND kind = 'collection' AND check_at <= now()`,
				parsed).Scan(&amount, &status))
		require.Equal(t, []any{int64(cents), "processing"}, []any{amount, status})
		c.leavesNothing(t, func() { c.post("/deposits/"+d+"/capture", nil).refused(409, "deposit_not_capturable") })
	}
}

func TestCancelAndCapture_ManyAtOnce_HappenOnce(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for _, k := range []struct{ outcome, action string }{{"", "cancel"}, {"activate", "capture"}} {
		d := c.created(account)
		if k.outcome != "" {
			c.simulated(d, k.outcome)
		}
		before := len(c.events(t, d))
		var done atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if r := c.post("/deposits/"+d+"/"+k.action, nil); r.status == 200 {
					done.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, done.Load())
		require.Len(t, c.events(t, d), before+1)
	}
}

func TestListDeposits_FiltersAndPages(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	second := c.link("hotel-2")
	client := text(t, c.post("/clients",
		object{"accountId": account, "email": "a@b.example", "firstName": "A", "lastName": "B"}).ok(201), "id")
	var ids []string // newest first
	for i := range 5 {
		ids = append([]string{c.created(account, "rentalContract", fmt.Sprintf("BK %d&x", i))}, ids...)
	}
	withClient := c.created(second, "clientId", nil)
	ids = append([]string{withClient}, ids...)
	ids = append([]string{
		c.created(account, "clientId", client, "depositUrlGeneration", true, "returnUrl", "https://x.example/")}, ids...)
	c.simulated(ids[2], "activate")
	c.simulated(ids[3], "decline")
	created := text(t, c.get("/deposits/"+ids[4]).ok(200), "createdAt")

	listed := func(query string) []string {
		t.Helper()
		var out []string
		for _, d := range c.get("/deposits?" + query).list() {
			out = append(out, text(t, d, "id"))
		}
		return out
	}
	require.Equal(t, ids, listed(""))
	require.Equal(t, ids[:1], listed("clientId="+client))
	require.Equal(t, []string{withClient}, listed("accountId="+second))
	require.Equal(t, []string{withClient}, listed("externalId=hotel-2"))
	require.Equal(t, ids[2:3], listed("status=active"))
	require.Equal(t, ids[2:4], listed("status=active,cancelled"))
	require.Equal(t, []string{ids[6]}, listed("rentalContract=BK%200%26x"))
	require.Empty(t, listed("rentalContract=bk%200%26x"))
	require.Empty(t, listed("status=captured&accountId="+account))
	require.Contains(t, listed("createdFrom="+created), ids[4], "from is included, to the millisecond of the answer")
	require.NotContains(t, listed("createdTo="+created), ids[4])
	require.Empty(t, listed("createdTo=0001-01-01T00:00:00Z"))
	require.NotEmpty(t, c.get("/deposits?limit=1").list()[0]["depositUrl"])

	for _, limit := range []int{1, 2, 3, 7, 100} {
		var got []string
		path := fmt.Sprintf("/deposits?limit=%d&accountId=%s", limit, account)
		for pages := 1; ; pages++ {
			require.LessOrEqual(t, pages, 7)
			r := c.get(path)
			for _, d := range r.list() {
				got = append(got, text(t, d, "id"))
			}
			page := r.parsed().Pagination
			require.Equal(t, page.HasMore, page.NextCursor != nil)
			if !page.HasMore {
				require.Empty(t, r.header.Get("Link"))
				break
			}
			next := fmt.Sprintf("/deposits?accountId=%s&cursor=%s&limit=%d", account, *page.NextCursor, limit)
			require.Equal(t, "<"+apiBase+"/api/partner/v1"+next+`>; rel="next"`, r.header.Get("Link"))
			path = next
			c.created(second) // a new deposit does not shift the pages
		}
		want := append([]string{ids[0]}, ids[2:]...)
		require.Equal(t, want, got, limit)
	}
}

func TestCursor_OnlyFromItsOwnList(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	c.link("hotel-2")
	c.created(account)
	c.created(account)
	cursor := *c.get("/deposits?limit=1").parsed().Pagination.NextCursor
	accounts := *c.get("/accounts?limit=1").parsed().Pagination.NextCursor
	hook := "/webhooks/" + text(t, c.post("/webhooks", object{"url": "https://93.184.216.34/"}).ok(201), "id")
	for _, bad := range []string{"", "x", cursor + "A", cursor[1:], "B" + cursor[1:], cursor[:len(cursor)-1] + "!",
		accounts, "eyJjIjoiMjAyNi0wNi0wMiJ9"} {
		c.get("/deposits?cursor="+bad).refused(400, "invalid_cursor")
		c.get(hook+"/deliveries?cursor="+bad).refused(400, "invalid_cursor")
		c.get("/webhooks?cursor="+bad).refused(400, "invalid_cursor")
	}
	c.get("/accounts?cursor="+cursor).refused(400, "invalid_cursor")
	require.Len(t, c.get("/accounts?cursor="+accounts).list(), 1)
	other := c.world.caller(t, "other")
	require.Empty(t, other.get("/deposits?cursor="+cursor).list(), "a cursor is a place, not a permission")
}

func TestAccounts_Pages(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	for i := range 4 {
		c.revoke(c.link(fmt.Sprintf("gone-%d", i)))
		c.link(fmt.Sprintf("here-%d", i))
	}
	for query, n := range map[string]int{"": 5, "status=active": 5, "status=revoked": 4, "status=all": 9,
		"externalId=here-2": 1, "externalId=gone-2": 0} {
		require.Len(t, c.get("/accounts?"+query).list(), n, query)
	}
	seen := map[any]bool{}
	path := "/accounts?status=all&limit=2"
	for path != "" {
		r := c.get(path)
		for _, a := range r.list() {
			seen[a["accountId"]] = true
		}
		path = ""
		if next := r.parsed().Pagination.NextCursor; next != nil {
			path = "/accounts?status=all&limit=2&cursor=" + *next
		}
	}
	require.Len(t, seen, 9)
}

func TestSimulate_Outcomes(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for _, k := range []struct {
		outcomes       []string
		status, reason any
	}{
		{[]string{"start"}, "pending", nil},
		{[]string{"activate"}, "active", nil},
		{[]string{"start", "activate"}, "active", nil},
		{[]string{"fail_payment"}, "payment_issue", "fee_failed"},
		{[]string{"fail_payment", "activate"}, "active", nil},
		{[]string{"decline"}, "cancelled", "tenant_declined"},
		{[]string{"abandon"}, "cancelled", "tenant_abandoned"},
		{[]string{"expire"}, "cancelled", "checkout_expired"},
		{[]string{"activate", "expire"}, "close", "coverage_elapsed"},
	} {
		d := c.created(account)
		var got object
		for _, o := range k.outcomes {
			got = c.simulated(d, o)
		}
		require.Equal(t, []any{k.status, k.reason}, []any{got["status"], got["statusReason"]}, k.outcomes)
		require.Equal(t, got, c.get("/deposits/"+d).ok(200))
	}
	d := c.created(account)
	c.simulated(d, "decline")
	c.leavesNothing(t, func() {
		for _, outcome := range []string{"start", "activate", "fail_payment", "decline", "abandon", "expire"} {
			r := c.post("/test/deposits/"+d+"/simulate", object{"outcome": outcome})
			require.Equal(t, 409, r.status, "%s: %s", outcome, r.body)
		}
	})
}
