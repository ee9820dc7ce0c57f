package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/stock"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestClients_EveryFilterAndPair_ReadsFewRows(t *testing.T) {
	t.Parallel()
	s := newFullStore(t, stock.RowCounts{Deposits: 4_000, Clients: 20_000})
	email := value[string](t, s, `SELECT email FROM clients ORDER BY created_at LIMIT 1`)
	// A second account, whose link has ended: its clients are the newest, and fit no list.
	exec(t, s.pool,
		`INSERT INTO operators (id, email, email_key, password_hash, created_at)
			VALUES (md5('ended')::uuid, 'ended', 'ended', 'h', now())`)
	exec(t, s.pool,
		`INSERT INTO accounts (id, operator_id, company_name, created_at)
			VALUES (md5('ended')::uuid, md5('ended')::uuid, 'C', now())`)
	exec(t, s.pool, `INSERT INTO account_links (id, partner_id, account_id, external_id, linked_at, revoked_at, revoked_by)
		VALUES (gen_random_uuid(), $1, md5('ended')::uuid, 'ended', now(), now(), 'admin')`, s.Owner.Partner)
	exec(t, s.pool, `INSERT INTO clients (id, account_id, partner_id, email, first_name, last_name, created_at)
		SELECT gen_random_uuid(), md5('ended')::uuid, $1, 'same@mail.example', 'A', 'B', now() FROM generate_series(1, 5000)`,
		s.Owner.Partner)
	exec(t, s.pool, `VACUUM ANALYZE clients`)
	ended := value[id.ID](t, s, `SELECT md5('ended')::uuid`)
	type filter = partnerports.ClientFilter
	count := 0
	for _, page := range []ports.Page{{Limit: 100},
		{Limit: 100, Cursor: ports.Cursor{At: time.Now().Add(-180 * 24 * time.Hour), ID: portstest.NewID()}}} {
		filters[filter]{
			{func(f *filter) { f.AccountID = s.Owner.Account }, func(f *filter) { f.AccountID = ended },
				func(f *filter) { f.AccountID = portstest.NewID() }},
			{func(f *filter) { f.Email = email }, func(f *filter) { f.Email = "same@mail.example" },
				func(f *filter) { f.Email = "none@mail.example" }},
		}.each(func(name string, f filter) {
			count++
			f.PartnerID = s.Owner.Partner
			var found ports.ListPage[tenant.Client]
			require.LessOrEqual(t, s.rowsRead(t, func() (err error) {
				found, err = s.Clients.Clients(t.Context(), f, page)
				return err
			}), 2*maxRead, name) // each client with its link
			if f.Email == email && f.AccountID.IsZero() && page.Cursor.IsZero() {
				require.Len(t, found.Items, 1, "the index of addresses leads to the oldest client at once")
			}
		})
	}
	require.Equal(t, 2*16, count)
}

func TestEvents_EveryFilterAndPair_ReadsFewRows(t *testing.T) {
	t.Parallel()
	// After midnight the partition of the day is a page or two: the plan scans the whole page for each event, which
	// costs nothing and counts many rows.
	s := delivered(t, map[string]string{"enable_seqscan": "off"})
	middle := time.Now().Add(-15 * 24 * time.Hour)
	told := value[id.ID](t, s, `SELECT deposit_id FROM events ORDER BY id LIMIT 1`)
	type filter = webhookports.EventFilter
	event := func(e webhook.EventName) func(*filter) { return func(f *filter) { f.Name = e } }
	count := 0
	filters[filter]{
		{event(webhook.EventDepositActivated), event(webhook.EventDepositStatusChanged), event(webhook.EventOperatorLinked)},
		{func(f *filter) { f.DepositID = told }, func(f *filter) { f.DepositID = portstest.NewID() }},
		{
			func(f *filter) { f.Created = ports.TimeSpan{From: middle.Add(-24 * time.Hour), To: middle} },
			func(f *filter) { f.Created.To = middle }, func(f *filter) { f.Created.To = middle.Add(-1000 * 24 * time.Hour) },
		},
	}.each(func(name string, f filter) {
		count++
		require.LessOrEqual(t, s.rowsRead(t, func() error {
			_, err := s.Events.Events(t.Context(), s.Owner.Partner, f, ports.Page{Limit: 100})
			return err
		}), maxRead, name)
	})
	require.Equal(t, 1+8+21, count)
}

// The feed is read by its numbers, from anywhere: the first number, numbers of the last days, and the last.
func TestFeed_FromAnyNumber_ReadsItsPage(t *testing.T) {
	t.Parallel()
	const stored, page, partitions = 40_000, 100, 50 // an event every ten seconds
	s := newFullStore(t, stock.RowCounts{})
	exec(t, s.pool, `INSERT INTO events (id, partner_id, name, data, created_at, sequence)
		SELECT overlay(gen_random_uuid()::text PLACING left(uuid_floor(at)::text, 13)
		FROM 1)::uuid, $1, 'deposit.cancelled', '{}', at, i
		FROM generate_series(1, $2::integer) i, LATERAL (SELECT date_trunc('day', now(),
		'UTC') + interval '12 hours' - ($2 - i) * interval '10 seconds') AS made(at)`,
		s.Owner.Partner, stored) // up to noon, whatever the time is: of a day that has just begun, Postgres reads all rows
	exec(t, s.pool, `VACUUM ANALYZE events`)
	for _, after := range []int64{0, stored / 2, stored - 17_000, stored - 12_000, stored - 8_700, stored - 8_500,
		stored - 4_000, stored - 150, stored - 1} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			var found []ports.Event
			require.LessOrEqual(t, s.rowsRead(t, func() (err error) {
				found, err = s.Events.FeedEvents(t.Context(), s.Owner.Partner, after, page)
				return err
			}), page+partitions)
			require.Len(t, found, min(page, int(stored-after)))
			require.Equal(t, after+1, found[0].Sequence)
		})
	}
}

// A page of deliveries that failed eleven times has 1,100 attempts, and reads no other attempts but those of the same
// days. Their statement has no name: Postgres would plan a named statement for all partitions.
func TestDeliveries_ThatFailedElevenTimes_ReadTheirAttempts(t *testing.T) {
	t.Parallel()
	s := delivered(t, nil)
	var found ports.ListPage[webhook.Delivery]
	for range 8 { // a named statement gets a plan without values at the sixth execution
		plans := s.plans(t, func() (err error) {
			found, err = s.Deliveries.Deliveries(t.Context(), s.Owner.Subscription,
				webhookports.DeliveryFilter{Status: webhook.StatusFailed}, ports.Page{Limit: 100})
			return err
		})
		for _, p := range plans {
			require.LessOrEqual(t, p.read(), 3*1_100)
		}
	}
	require.Len(t, found.Items, 100)
	for _, d := range found.Items {
		require.Len(t, d.AttemptLog, 11)
		for i, a := range d.AttemptLog {
			require.Equal(t, i+1, a.Number)
		}
	}
	var named int
	require.NoError(t, s.Store.Query(t.Context(),
		`SELECT count(*) FROM pg_prepared_statements WHERE statement ~ 'delivery_attempt[s]'`, &named))
	require.Zero(t, named)
}

// The health of a full page of endpoints, each with more deliveries than are counted, costs some rows of each endpoint.
func TestReports_OfLongBacklogs_ReadNoDelivery(t *testing.T) {
	t.Parallel()
	s := newFullStore(t, stock.RowCounts{})
	var subs []webhook.Subscription
	for n := range webhook.MaxSubscriptions {
		sub := addSubscription(t, s.pool, byte(n+1), "slow = false")
		subs = append(subs, webhook.Subscription{ID: sub, Enabled: true})
	}
	exec(t, s.pool, `INSERT INTO deliveries (subscription_id, id, event_id, event, state, body, event_at)
		SELECT s.id, gen_random_uuid(), gen_random_uuid(), 'deposit.cancelled', 0, '{}', now()
		FROM webhook_subscriptions s, generate_series(1, $1) WHERE s.url LIKE '%'`,
		webhook.MaxReportedPendingDeliveries+1)
	exec(t, s.pool, `ANALYZE deliveries`)
	var got []webhook.SubscriptionWithReport
	require.LessOrEqual(t, s.rowsRead(t, func() (err error) {
		got, err = s.Subscriptions.HealthReports(t.Context(), subs)
		return err
	}), 10*len(subs))
	for _, r := range got {
		require.Equal(t, []any{webhook.MaxReportedPendingDeliveries, true}, []any{r.Health.Pending, r.Health.PendingCapped})
	}
}
