package partnerapi_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
)

func mustAccount(t testing.TB, s string) id.ID {
	t.Helper()
	parsed, ok := id.Account.Parse(s)
	require.True(t, ok)
	return parsed
}

// events returns the names of a deposit's events, oldest first. Each has the version of its transition.
func (w *world) events(t testing.TB, depositID string) []string {
	t.Helper()
	parsed, ok := id.Deposit.Parse(depositID)
	require.True(t, ok)
	rows, err := w.Pool.Query(t.Context(),
		`SELECT name, data::jsonb->'version' IS NOT DISTINCT FROM to_jsonb(version)
			FROM (SELECT event_id, name, deposit_id, data FROM outbox UNION ALL SELECT id, name, deposit_id, data
			FROM events) e JOIN deposit_transitions USING (deposit_id, event_id) WHERE deposit_id = $1 ORDER BY event_id`,
		parsed)
	require.NoError(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		var tells bool
		require.NoError(t, rows.Scan(&name, &tells))
		require.True(t, tells, "%s of %s tells another version", name, depositID)
		out = append(out, name)
	}
	return out
}

// A deposit is captured or released once, however many ask for it.
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
	parsed, _ := id.Deposit.Parse(d)
	captured := c.get("/deposits/" + d).ok(200)["status"] == "captured"
	require.Equal(t, captured, c.Count("payments", "deposit_id = $1 AND kind = 'collection'", parsed) == 1)
}

func TestListDeposits_Filters(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	second := c.link("hotel-2")
	client := c.client(account, "a@b.example")
	first, cancelled, active := c.created(account, "rentalContract", "BK 0&x"), c.created(account), c.created(account)
	c.simulated(cancelled, "decline")
	c.simulated(active, "activate")
	elsewhere := c.created(second, "clientId", nil)
	clients := c.created(account, "clientId", client, "depositUrlGeneration", true, "returnUrl", "https://x.example/")
	created := text(t, c.get("/deposits/"+active).ok(200), "createdAt")
	for query, want := range map[string][]any{
		"":                                 {clients, elsewhere, active, cancelled, first},
		"clientId=" + client:               {clients},
		"accountId=" + second:              {elsewhere},
		"externalId=hotel-2":               {elsewhere},
		"externalId=hotel-3":               nil,
		"status=active":                    {active},
		"status=active,cancelled":          {active, cancelled},
		"rentalContract=BK%200%26x":        {first},
		"rentalContract=bk%200%26x":        nil,
		"status=captured":                  nil,
		"createdTo=0001-01-01T00:00:00Z":   nil,
		"createdFrom=9999-12-31T23:59:59Z": nil,
		"createdFrom=1900-01-01T00:00:00Z&accountId=" + account: {clients, active, cancelled, first},
		"externalId=hotel-2&accountId=" + second:                {elsewhere},
		"externalId=hotel-2&accountId=" + account:               nil,
	} {
		require.Equal(t, want, ids(c.get("/deposits?"+query).list()), query)
	}
	require.Contains(t, ids(c.get("/deposits?createdFrom="+created).list()), any(active), "from is included")
	require.NotContains(t, ids(c.get("/deposits?createdTo="+created).list()), any(active))
	require.NotEmpty(t, c.get("/deposits?limit=1").list()[0]["depositUrl"])
}

// The ends of what a field may hold reach the database and come back.
func TestCreate_TheEndsOfEachField(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	metadata := object{"k": strings.Repeat("😀", 500)}
	for i := range 19 {
		metadata[fmt.Sprintf("%040d", i)] = "v"
	}
	long := strings.Repeat("é", 255)
	d := c.created(account, "contractStartAt", "0001-01-01T00:00:00.001Z",
		"contractEndAt", "9999-12-31T23:59:59.999999999Z", "rentalContract", long, "metadata", metadata)
	got := c.get("/deposits/" + d).ok(200)
	require.Equal(t, []any{"0001-01-01T00:00:00.001Z", "9999-12-31T23:59:59.999Z", long, metadata, "pending"},
		[]any{got["contractStartAt"], got["contractEndAt"], got["rentalContract"], got["metadata"], got["status"]})
	got = c.get("/deposits/" + c.created(account, "contractStartAt", "2030-08-01T15:00:00+00:00", "contractEndAt",
		"2030-08-01T15:00:00Z", "rentalContract", nil)).ok(200)
	require.Equal(t, []any{got["contractEndAt"], ""}, []any{got["contractStartAt"], got["rentalContract"]})
}

func TestCreate_UpToTheCeilingOfTheOperator(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	parsed := mustAccount(t, account)
	c.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Operators.SetDepositCeiling(ctx, parsed, 400_000)
	})
	require.Equal(t, 4000.0, c.get("/deposits/" + c.created(account, "amount", 4000)).ok(200)["amount"])
	require.Equal(t, "amount: 4000.01 EUR exceeds this operator's maximum of 4000.00 EUR",
		c.post("/deposits", draft(account, "amount", 4000.01)).refused(400, "amount_above_maximum"))
}
