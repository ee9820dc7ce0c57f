package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// A look-up reads an index of each table that grows, in large tables too. The tables of partners and of subscriptions
// have few rows.
func TestSupport_LookUpsReadIndexes(t *testing.T) {
	t.Parallel()
	seen := &statements{}
	pool := storetest.NewPool(t, grown(t), postgres.PoolOptions{Tracer: seen})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	none, ctx := portstest.NewID(), t.Context()
	for name, c := range map[string]struct {
		want []string
		do   func() error
	}{
		"deposit by reference": {[]string{"clients_pkey/1", "deposits_reference_key/1"}, func() error {
			_, err := store.Deposits.DepositByReference(ctx, "D-0000-0000")
			return unless(err, deposit.ErrNotFound)
		}},
		"history": {[]string{"deposit_transitions_pkey/1"},
			func() error { _, err := store.Deposits.History(ctx, none); return err }},
		"deliveries of a deposit": {[]string{"deliveries_of_deposit/1"}, func() error {
			_, err := store.Deliveries.DeliveriesOfDeposit(ctx, none, 50)
			return err
		}},
		"client": {[]string{"clients_pkey/1"},
			func() error { _, err := store.Clients.ClientByID(ctx, none); return unless(err, tenant.ErrNotFound) }},
		"clients by e-mail": {[]string{"clients_of_email/1"},
			func() error { _, err := store.Clients.ClientsByEmail(ctx, "Nobody@example.com", 20); return err }},
		"account of an operator": {[]string{"accounts_operator_id_key/1"}, func() error {
			_, err := store.Operators.AccountIDOfOperator(ctx, none)
			return unless(err, connect.ErrAccountNotFound)
		}},
		"event": {[]string{"Seq Scan of outbox", "Seq Scan of outbox_set_aside"}, func() error {
			// both have few rows; TestFindEvent_ReadsAnIndexOfTheDay shows the events
			_, err := store.Events.FindEvent(ctx, none)
			return unless(err, webhook.ErrEventNotFound)
		}},
		"deliveries of an event": {[]string{"deliveries_of_deposit/1", "deliveries_pkey/2"}, func() error {
			_, err := store.Deliveries.DeliveriesOfEvent(ctx, webhookports.EventView{ID: none, PartnerID: none, DepositID: none})
			return err
		}},
		"delivery": {[]string{"deliveries_pkey/2"}, func() error {
			_, err := store.Deliveries.FindDelivery(ctx, none)
			return unless(err, webhook.ErrDeliveryNotFound)
		}},
		"deliveries of a subscription": {[]string{"deliveries_pkey/1"},
			func() error { _, err := store.Deliveries.LastDeliveries(ctx, none, 50); return err }},
		"audit": {[]string{"audit_log_of_actor/1", "audit_log_of_request/1", "audit_log_of_subject/1"}, func() error {
			_, err := store.Audit.AuditEntries(ctx,
				ports.AuditFilter{RequestID: "req_1", Subject: "dep_1", Actors: []actor.Actor{actor.Staff}}, 100)
			return err
		}},
		"audit of a time": {[]string{"audit_log_in_order/2"}, func() error {
			begin := time.Now().Add(-time.Hour)
			_, err := store.Audit.AuditEntriesAfter(ctx, ports.AuditLogPosition{At: begin}, begin.Add(2*time.Hour), 1000)
			return err
		}},
	} {
		seen.take()
		require.NoError(t, c.do(), name)
		read := map[string]bool{}
		for _, sql := range seen.take() {
			for _, access := range accesses(t, pool, sql) {
				if !strings.Contains(access, "webhook_subscriptions") { // a table of few rows
					read[access] = true
				}
			}
		}
		require.Equal(t, c.want, sortedKeys(read), name)
	}
}

// The audit log keeps the request of an action, and is found by request, subject and actor, newest first.
func TestAuditEntries_AreFoundByEveryName(t *testing.T) {
	t.Parallel()
	store := storetest.NewStoreOverPool(t, storetest.NewPool(t, pgtest.NewDatabaseURL(t), postgres.PoolOptions{}),
		postgres.Options{})
	begin := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	var all []ports.AuditEntry
	for i, requestID := range []string{"req_a", "", "req_a"} {
		e := ports.AuditEntry{ID: portstest.NewID(), At: begin.Add(time.Duration(i) * time.Second), Actor: actor.Staff,
			Action: "test", Subject: "dep_1",
			Detail: map[string]string{"n": requestID}, RequestID: requestID}
		ctx := ports.WithRequestID(t.Context(), requestID)
		require.NoError(t, store.WithinTx(ctx, appending(store, e)))
		all = append([]ports.AuditEntry{e}, all...)
	}
	for _, c := range []struct {
		filter ports.AuditFilter
		want   []ports.AuditEntry
	}{
		{ports.AuditFilter{RequestID: "req_a"}, []ports.AuditEntry{all[0], all[2]}},
		{ports.AuditFilter{Subject: "dep_1"}, all},
		{ports.AuditFilter{Subject: "dep_1", Actors: []actor.Actor{actor.Staff, actor.Parse("nobody")}}, all},
		{ports.AuditFilter{Actors: []actor.Actor{actor.Parse("nobody")}}, nil},
	} {
		found, err := store.Audit.AuditEntries(t.Context(), c.filter, 100)
		require.NoError(t, err)
		require.Equal(t, c.want, found)
	}
	found, err := store.Audit.AuditEntries(t.Context(), ports.AuditFilter{Subject: "dep_1"}, 2)
	require.NoError(t, err)
	require.Equal(t, all[:2], found)
}

// Through PgBouncer in transaction mode, too: an export keeps no cursor.
func TestAuditEntriesAfter_AreInOrderFromTheirPlaceToTheEnd(t *testing.T) {
	t.Parallel()
	pool := storetest.NewPool(t, pgtest.PgBouncerURL(t, pgtest.NewDatabaseURL(t)), postgres.PoolOptions{Pooled: true})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	midnight := time.Date(2026, 8, 2, 0, 0, 0, 0, time.UTC)
	var all []ports.AuditEntry
	for i, minutes := range []time.Duration{-1, 0, 0, 1, 24 * 60} { // two of the same time
		e := ports.AuditEntry{ID: id.ID{byte(i + 1)}, At: midnight.Add(minutes * time.Minute), Actor: actor.Clock,
			Action: "test", Subject: "dep_1", Detail: map[string]string{"n": "1"}}
		require.NoError(t, store.WithinTx(t.Context(), appending(store, e)))
		all = append(all, e)
	}
	day := midnight.AddDate(0, 0, 1)
	for name, c := range map[string]struct {
		after ports.AuditLogPosition
		limit int
		want  []ports.AuditEntry
	}{
		"a day has its first instant and not its last": {ports.AuditLogPosition{At: midnight}, 100, all[1:4]},
		"a page":                           {ports.AuditLogPosition{At: midnight.AddDate(0, 0, -1)}, 2, all[:2]},
		"the page after, at the same time": {ports.AuditLogPosition{At: midnight, ID: all[1].ID}, 2, all[2:4]},
		"from the zero time on":            {ports.AuditLogPosition{}, 2, all[:2]},
		"behind the last":                  {ports.AuditLogPosition{At: all[3].At, ID: all[3].ID}, 2, []ports.AuditEntry{}},
	} {
		found, err := store.Audit.AuditEntriesAfter(t.Context(), c.after, day, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, found, name)
	}
}

func appending(store *postgres.Store, e ports.AuditEntry) func(context.Context) error {
	return func(ctx context.Context) error { return store.Audit.Append(ctx, e) }
}

// The id of an event names a day, so a look-up probes the index of a single partition, for each partner.
func TestFindEvent_ReadsAnIndexOfTheDay(t *testing.T) {
	t.Parallel()
	seen := &statements{}
	pool := storetest.NewPool(t, grown(t), postgres.PoolOptions{Tracer: seen})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	var eventID id.ID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT id FROM events LIMIT 1`).Scan(&eventID))
	seen.take()
	found, err := store.Events.FindEvent(t.Context(), eventID)
	require.NoError(t, err)
	require.Equal(t, []any{eventID, webhookports.StageInFeed}, []any{found.ID, found.Place})
	asked := strings.ReplaceAll(seen.take()[0], "$1", "'"+eventID.String()+"'")
	rows, err := pool.Query(t.Context(), "EXPLAIN "+asked)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	text := strings.Join(lines, "\n")
	require.Regexp(t, `Index Scan using events_\d+_pkey on events_\d+ e`, text)
	require.NotRegexp(t, `Seq Scan on events`, text)
	require.Equal(t, 1, strings.Count(text, "_pkey on events_"), "a single partition")
}
