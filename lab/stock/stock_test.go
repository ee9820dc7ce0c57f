package stock_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/storetest"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

func TestFill_ForSeveralOwners_AddsRowsThatTheServiceReads(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	owners, err := stock.CreateRowOwners(t.Context(), pool, 2, 3)
	require.NoError(t, err)
	require.Len(t, owners, 6)
	require.NoError(t, stock.FillDatabase(t.Context(), pool, owners,
		stock.RowCounts{Deposits: 6_000, Deliveries: 3_000, Events: 1_000, Clients: 500}))
	require.NoError(t, stock.FillDatabase(t.Context(), pool, owners[:1], stock.RowCounts{Deposits: 100}))

	count := func(sql string) (n int) {
		t.Helper()
		require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	require.Equal(t, 6_100, count(`SELECT count(*) FROM deposits`))
	require.Equal(t, 3_000,
		count(
			`SELECT count(*) FROM deliveries d JOIN deposits p ON p.id = d.deposit_id
				JOIN webhook_subscriptions s ON s.id = d.subscription_id AND s.partner_id = p.partner_id`))
	require.Equal(t, 1_000, count(`SELECT count(*) FROM events e JOIN deliveries d ON d.event_id = e.id`))
	require.Zero(t, count(`SELECT count(*) FROM events_rest`), "every event is in the partition of its day")
	require.Equal(t, 3_050,
		count(`SELECT count(*) FROM deposits d JOIN clients c ON c.id = d.client_id AND c.account_id = d.account_id`))
	require.Equal(t,
		count(`SELECT count(*) FROM deposits WHERE status IN ('pending', 'incomplete', 'payment_issue', 'active')`),
		count(`SELECT count(*) FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id WHERE t.due_at > now()`),
		"no timer is due")
	require.Equal(t, count(`SELECT coalesce(sum(attempts - 1 + (state = 3)::int), 0) FROM deliveries`),
		count(`SELECT count(*) FROM delivery_attempts`))

	require.Equal(t, 500, count(
		`SELECT count(*) FROM clients c JOIN account_links l USING (partner_id, account_id) WHERE c.first_name = 'Ben'`))

	for _, status := range []deposit.Status{deposit.Pending, deposit.Active, deposit.Cancelled, deposit.Closed,
		deposit.Captured} {
		page, err := store.Deposits.Deposits(t.Context(),
			depositports.DepositFilter{PartnerID: owners[0].Partner, Statuses: []deposit.Status{status}}, ports.Page{Limit: 5})
		require.NoError(t, err)
		require.NotEmpty(t, page.Items, status)
	}
	log, err := store.Deliveries.Deliveries(t.Context(), owners[0].Subscription,
		webhookports.DeliveryFilter{Status: webhook.StatusFailed}, ports.Page{Limit: 100})
	require.NoError(t, err)
	require.NotEmpty(t, log.Items)
	require.Len(t, log.Items[0].AttemptLog, 11)
}

func TestFill_WithoutOwners_IsRefused(t *testing.T) {
	t.Parallel()
	require.Error(t, stock.FillDatabase(t.Context(), pgtest.New(t), nil, stock.RowCounts{Deposits: 1}))
}
