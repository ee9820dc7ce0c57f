package postgres_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/secretstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// hotStatements says how the statements of each hot operation read large tables: an index and the number of its
// conditions.
var hotStatements = map[string][]string{
	"create a deposit in a group": {"account_links_pair/2", "account_links_pkey/1", "accounts_pkey/1",
		"idempotency_keys_pkey/3"},
	"create a deposit alone": {"account_links_pair/2", "account_links_pkey/1", "accounts_pkey/1",
		"idempotency_keys_pkey/3"},
	"create a deposit in a transaction": {"account_links_pair/2", "account_links_pkey/1", "accounts_pkey/1",
		"clients_pkey/1", "idempotency_keys_pkey/3"},
	"activate a deposit in a group": {"clients_pkey/1", "deposits_pkey/1", "idempotency_keys_pkey/3"},
	"activate a deposit alone":      {"clients_pkey/1", "deposits_pkey/1", "idempotency_keys_pkey/3"},
	"find an API key":               {"api_keys_hash_key/1"},
	"read a deposit":                {"clients_pkey/1", "deposits_pkey/1", "one_active_link_per_account/1"},
	"find a checkout":               {"clients_pkey/1", "deposits_checkout_token_hash_key/1"},

	"ask for events": {"outbox_in_order/1"},
	"relay": {"Seq Scan of outbox_position", "Tid Scan of outbox", "event_feeds_pkey/1",
		"outbox_in_order/1", "webhook_subscriptions_of_partner/1"},
	"find due subscriptions": {"deliveries_leased/2", "deliveries_testing/0", "deliveries_waiting/0",
		"deliveries_waiting/2", "webhook_subscriptions_pkey/1"},
	"claim": {"deliveries_pkey/2", "deliveries_waiting/3"},
	"claim what is urgent": {"deliveries_leased/2", "deliveries_pkey/2", "deliveries_testing/0",
		"webhook_subscriptions_pkey/1"},
	"count claims": {"deliveries_leased/1"},
	"load":         {"deliveries_pkey/2", "webhook_subscriptions_pkey/1"},
	"renew":        {"deliveries_pkey/2"},
	"record":       {"deliveries_pkey/2", "webhook_subscriptions_pkey/1"},
	"release":      {"deliveries_pkey/2", "webhook_subscriptions_pkey/1"},
}

// A plan that is made when tables are large reads the right indexes, whatever the statistics: those of the present
// rows, of small tables, or of empty ones. TestCachedPlans_OfATableThatHasGrown_AreMadeAnew covers plans from before.
func TestHotStatements_ReadTheirIndexes_WhateverTheStatistics(t *testing.T) {
	t.Parallel()
	for name, small := range map[string]bool{"from small tables": true, "from empty tables": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.NewDatabaseURL(t)
			hot := newHotPaths(t, url)
			admin := storetest.NewPool(t, url, postgres.PoolOptions{StatementTimeout: time.Minute})
			exec(t, admin, withoutAutovacuum)
			texts := hot.run()
			hot.clear(admin)
			hot.checkClaim(texts, "empty")
			exec(t, admin, `VACUUM ANALYZE`)
			hot.checkClaim(texts, "vacuumed while empty")
			storetest.CreateDepositOrigin(t, hot.store)
			if small {
				grow(t, admin, 50)
				exec(t, admin, `ANALYZE`)
				hot.checkClaim(texts, "small")
			}
			grow(t, admin, 20_000)
			hot.check(texts, "large, statistics "+name)
			if small {
				exec(t, admin, `ANALYZE`)
				hot.check(texts, "large")
			}
		})
	}
}

// withoutAutovacuum leaves the statistics to the test. Autovacuum could count a table whose rows are being inserted:
// many pages, and no rows.
const withoutAutovacuum = `DO $$ DECLARE t regclass; BEGIN
	FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
		EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', t);
	END LOOP; END $$`

// hotPaths runs the hot operations on pools with the settings of the service.
type hotPaths struct {
	t              testing.TB
	seen           *statements
	plain, indexed *pgxpool.Pool
	store          *postgres.Store
	grouped, lone  *groupcommit.Committer
	dispatch       *dispatchstore.Store
	pools          map[string]*pgxpool.Pool
}

func newHotPaths(t testing.TB, databaseURL string) *hotPaths {
	seen := &statements{}
	plain := storetest.NewPool(t, databaseURL, postgres.PoolOptions{Tracer: seen})
	indexed := storetest.NewPool(t, databaseURL, postgres.PoolOptions{Tracer: seen, Settings: postgres.IndexPlanSettings})
	return &hotPaths{
		t: t, seen: seen, plain: plain, indexed: indexed, store: storetest.NewStoreOverPool(t, plain,
			postgres.Options{Reads: indexed}),
		grouped:  groupcommit.New(plain, secretstest.NewCipher(t), groupcommit.Options{Groups: indexed}),
		lone:     groupcommit.New(plain, secretstest.NewCipher(t), groupcommit.Options{}),
		dispatch: dispatchstore.New(indexed, secretstest.NewCipher(t)), pools: map[string]*pgxpool.Pool{},
	}
}

// run runs every operation once and returns the texts of its statements.
func (h *hotPaths) run() map[string][]string {
	texts := map[string][]string{}
	note := func(operation string, pool *pgxpool.Pool, err error) {
		require.NoError(h.t, err, operation)
		texts[operation], h.pools[operation] = h.seen.take(), pool
	}
	from := storetest.CreateDepositOrigin(h.t, h.store)
	sub := subscribeTo(h.t, h.store, from.PartnerID)
	h.seen.take()
	ctx, lease := h.t.Context(), time.Minute
	for name, of := range map[string]struct {
		changes *groupcommit.Committer
		pool    *pgxpool.Pool
	}{"in a group": {h.grouped, h.indexed}, "alone": {h.lone, h.plain}} {
		d := draft(from, time.Now())
		note("create a deposit "+name, of.pool, of.changes.Apply(ctx, creation(d)))
		note("activate a deposit "+name, of.pool, of.changes.Apply(ctx, activation(d)))
	}
	_, err := create(ctx, h.store, from, time.Now())
	note("create a deposit in a transaction", h.plain, err)
	_, _, err = h.store.Keys.KeyByHash(ctx, partner.HashAPIKey("none"))
	note("find an API key", h.plain, unless(err, partner.ErrInvalidAPIKey))
	_, err = h.store.Deposits.Deposit(ctx, portstest.NewID())
	note("read a deposit", h.indexed, unless(err, deposit.ErrNotFound))
	_, err = h.store.Deposits.DepositByToken(ctx, "none")
	note("find a checkout", h.plain, unless(err, deposit.ErrNotFound))

	_, _, err = h.dispatch.OutboxPending(ctx)
	note("ask for events", h.indexed, err)
	var claims []webhookports.Claim
	_, claims, err = h.dispatch.Relay(ctx, 10, lease,
		func(events []ports.Event, _ []webhookports.Subscription) (planned []webhookports.Delivery) {
			d := webhookports.NewDelivery(&events[0], sub.ID, events[0].Name, []byte("{}"))
			d.State = webhook.DeliveryStateDispatched
			return []webhookports.Delivery{d}
		})
	note("relay", h.indexed, err)
	require.Len(h.t, claims, 1)
	_, err = h.dispatch.FindDue(ctx, time.Second)
	note("find due subscriptions", h.indexed, err)
	_, err = h.dispatch.ClaimDue(ctx, []webhookports.ClaimQuota{{SubscriptionID: sub.ID, Room: 10}}, lease)
	note("claim", h.indexed, err)
	_, _, err = h.dispatch.ClaimUrgent(ctx, 10, lease)
	note("claim what is urgent", h.indexed, err)
	_, err = h.dispatch.CountClaimed(ctx)
	note("count claims", h.indexed, err)
	_, err = h.dispatch.LoadClaimed(ctx, claims) // from the relay's reading: no statement
	require.NoError(h.t, err)
	_, err = h.dispatch.LoadClaimed(ctx, claims)
	note("load", h.indexed, err)
	_, err = h.dispatch.RenewClaims(ctx, []webhookports.Claim{{DeliveryID: portstest.NewID(), SubscriptionID: sub.ID}},
		lease)
	note("renew", h.indexed, err)
	failed := webhookports.AttemptOutcome{Delivery: &webhookports.Delivery{Claim: claims[0]},
		Verdict: webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting, Wait: time.Hour},
		Attempt: webhook.Attempt{Number: 1, Result: webhook.ResultTimeout, StartedAt: time.Now()}}
	_, _, err = h.dispatch.RecordOutcomes(ctx, []webhookports.AttemptOutcome{failed}, []id.ID{sub.ID}, 64, time.Now())
	note("record", h.indexed, err)
	note("release", h.indexed, h.dispatch.ReleaseClaims(ctx, claims))
	return texts
}

// clear empties the tables. The space of the rows is given back. The triggers that keep partners are off meanwhile.
func (h *hotPaths) clear(admin *pgxpool.Pool) {
	exec(h.t, admin, `DO $$ BEGIN
		SET LOCAL session_replication_role = replica;
		TRUNCATE partners, operators, deposits, outbox, events, deliveries, delivery_attempts,
			deposit_timers, deposit_transitions, idempotency_keys CASCADE;
	END $$`)
}

// check compares the plans of all statements with hotStatements.
func (h *hotPaths) check(texts map[string][]string, tables string) {
	h.t.Helper()
	got := map[string][]string{}
	for operation, all := range texts {
		reads := map[string]bool{}
		for _, sql := range all {
			for _, access := range accesses(h.t, h.pools[operation], sql) {
				reads[access] = true
			}
		}
		got[operation] = sortedKeys(reads)
	}
	require.Equal(h.t, hotStatements, got, "tables: %s", tables)
}

// checkClaim checks the claim of keys, whose table empties every night.
func (h *hotPaths) checkClaim(texts map[string][]string, tables string) {
	h.t.Helper()
	claims := 0
	for _, sql := range texts["create a deposit in a group"] {
		if strings.Contains(sql, "FROM idempotency_keys") {
			claims++
			require.Equal(h.t, []string{"idempotency_keys_pkey/3"}, accesses(h.t, h.indexed, sql), "tables: %s", tables)
		}
	}
	require.Equal(h.t, 1, claims)
}

// Postgres makes a cached plan anew when autovacuum has counted the table, up to a minute after a table has grown. Here
// autovacuum is off.
func TestCachedPlans_OfATableThatHasGrown_AreMadeAnew(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabaseURL(t)
	admin := storetest.NewPool(t, url, postgres.PoolOptions{StatementTimeout: time.Minute})
	exec(t, admin, withoutAutovacuum)
	exec(t, admin, `VACUUM ANALYZE`)
	pool := storetest.NewPool(t, url, postgres.PoolOptions{MaxConns: 1, Settings: postgres.IndexPlanSettings})
	store := dispatchstore.New(pool, secretstest.NewCipher(t))
	renew := func() []string {
		_, err := store.RenewClaims(t.Context(),
			[]webhookports.Claim{{DeliveryID: portstest.NewID(), SubscriptionID: portstest.NewID()}}, time.Minute)
		require.NoError(t, err)
		conn, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		var name string
		require.NoError(t, conn.QueryRow(t.Context(),
			`SELECT name FROM pg_prepared_statements WHERE statement LIKE '%SET seq = d.seq + 1%'`).Scan(&name))
		return explained(t, conn.Conn(), name)
	}
	const own = "deliveries_pkey/2"
	require.NotContains(t, renew(), own, "all plans cost the same on an empty table")
	storetest.CreateDepositOrigin(t, storetest.NewStoreOverPool(t, admin, postgres.Options{}))
	// at some thousands, the few leased deliveries cost as little as a look into the primary key
	grow(t, admin, 20_000, "webhook_subscriptions", "deliveries")
	require.Eventually(t, func() bool { return slices.Contains(renew(), own) }, 30*time.Second, 100*time.Millisecond)
}

func creation(d *deposit.Deposit) ports.GroupCommitChange {
	now := d.CreatedAt
	return ports.GroupCommitChange{
		Needs: ports.RowsToRead{Key: newKey(d), Now: now, Link: ports.LinkLookupKey{PartnerID: d.PartnerID,
			AccountID: d.AccountID}},
		Decide: func(ports.FoundRows) (ports.RowsToWrite, error) {
			return ports.RowsToWrite{Insert: &ports.NewDeposit{Deposit: d, CheckoutToken: secret.Text(d.ID.Encode())},
				Response: response(now)}, nil
		},
	}
}

func activation(d *deposit.Deposit) ports.GroupCommitChange {
	now := d.CreatedAt
	return ports.GroupCommitChange{Needs: ports.RowsToRead{Key: newKey(d), Now: now, Deposit: d.ID},
		Decide: func(found ports.FoundRows) (ports.RowsToWrite, error) {
			step, err := found.Deposit.ApplyTrigger(deposit.TriggerSecured, deposit.DefaultTimerDurations(), now)
			event := storetest.NewDepositCancelledEvent(d.PartnerID, d.ID)
			return ports.RowsToWrite{Transition: &ports.DepositTransition{Deposit: found.Deposit, Transition: step},
				Event:    &event,
				Response: response(now)}, err
		}}
}

func newKey(d *deposit.Deposit) *ports.IdempotencyKey {
	return &ports.IdempotencyKey{Owner: d.PartnerID, Route: "POST /api/partner/v1/deposits", Key: uuid.New()}
}

func response(now time.Time) *ports.StoredResponse {
	return &ports.StoredResponse{Code: 201, Body: []byte("{}"), CreatedAt: now}
}

func subscribeTo(t testing.TB, store *postgres.Store, partnerID id.ID) webhook.Subscription {
	t.Helper()
	sub := webhook.Subscription{ID: portstest.NewID(), PartnerID: partnerID, URL: "https://example.com",
		Events: webhook.EventNames, Enabled: true, CreatedAt: time.Now()}
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, sub, "svc_whsec_k")
	})
	return sub
}

func unless(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// A month of an account reads the collections of the month, and neither the fees nor the deposits of the account, of
// which there may be a million.
func TestStatements_OfAnAccountWithManyDeposits_ReadAMonthByItsIndexes(t *testing.T) {
	t.Parallel()
	seen := &statements{}
	pool := storetest.NewPool(t, grown(t), postgres.PoolOptions{Tracer: seen})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	var account id.ID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT account_id FROM deposits LIMIT 1`).Scan(&account))
	seen.take()

	month := ports.TimeSpan{From: time.Now().AddDate(0, -1, 0), To: time.Now().Add(time.Hour)}
	_, err := store.Books.TotalsOfAccount(t.Context(), account, month)
	require.NoError(t, err)
	for _, after := range []ports.Cursor{{}, {At: time.Now(), ID: id.ID(portstest.NewID())}} {
		_, err := store.Books.DebtMovements(t.Context(), account, month, ports.Page{Limit: 50, Cursor: after})
		require.NoError(t, err)
	}
	texts := seen.take()
	require.Len(t, texts, 3)
	for i, sql := range texts {
		want := []string{"deposits_pkey/1", "disputes_in_order/2", "payments_collected/2", "payments_pkey/1",
			"refunds_settled/2"}
		if i == 2 { // the page begins at its cursor
			want[2] = "payments_collected/3"
		}
		if i == 0 {
			want = append(want, "accounts_pkey/1")
		} else {
			want = append(want, "clients_pkey/1", "collections_pkey/1", "disputes_of_deposit/1", "refunds_of_payment/1")
		}
		require.ElementsMatch(t, want, accesses(t, pool, sql), sql)
	}
}

// Jobs look for work every few seconds, also in tables that grow for ever.
func TestStatements_OfScheduledJobs_ReadTablesThatGrowByTheirIndexes(t *testing.T) {
	t.Parallel()
	seen := &statements{}
	pool := storetest.NewPool(t, grown(t), postgres.PoolOptions{Tracer: seen})
	store, now := storetest.NewStoreOverPool(t, pool, postgres.Options{}), time.Now()
	_, err := store.Due.IdleCheckouts(t.Context(), now, 100)
	require.NoError(t, err)
	_, err = store.Due.ExpiredCheckouts(t.Context(), now, 100)
	require.NoError(t, err)
	_, err = store.Due.ElapsedCovers(t.Context(), now, 100)
	require.NoError(t, err)
	_, err = store.Payments.PaymentsToCheck(t.Context(), now, 100)
	require.NoError(t, err)
	_, err = store.Refunds.RefundsToCheck(t.Context(), now, 100)
	require.NoError(t, err)
	texts := seen.take()
	require.Len(t, texts, 6)
	// Postgres plans this statement with its values each time, since its small limit makes that plan cheaper.
	texts[0] = strings.NewReplacer("$1", "'checkout'", "$2", "now()", "$3", "100").Replace(texts[0])
	timers := []string{"deposit_timers_pkey/2", "deposits_pkey/1"}
	for i, want := range [][]string{
		{"deposit_timers_pkey/2", "deposit_timers_pkey/3", "deposits_pkey/1"}, timers, timers, timers,
		{"payments_pkey/1", "payments_to_reconcile/1"}, {"refunds_pkey/1", "refunds_to_reconcile/1"},
	} {
		require.Equal(t, want, accesses(t, pool, texts[i]), texts[i])
	}
}
