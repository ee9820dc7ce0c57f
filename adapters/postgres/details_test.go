package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func exec(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func addKey(t testing.TB, store *postgres.Store, plain string) partner.APIKey {
	t.Helper()
	k := partner.APIKey{ID: portstest.NewID(), PartnerID: storetest.Origin(t, store).PartnerID, Name: "k",
		Prefix: "svc_pk_test_", Last4: "abcd", CreatedAt: time.Now()}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Keys.InsertKey(ctx, k, partner.HashKey(plain))
	})
	return k
}

func TestKeyByHash_WithinTheTimeKeysAreKept_DoesNotAskAgain(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{KeysKeptFor: time.Hour})
	k := addKey(t, store, "remembered")
	for range 2 {
		got, _, err := store.Keys.KeyByHash(t.Context(), partner.HashKey("remembered"))
		require.NoError(t, err)
		require.False(t, got.Revoked())
		exec(t, pool, `UPDATE api_keys SET revoked_at = now() WHERE id = $1`, k.ID)
	}
	fresh := storetest.Over(t, pool, postgres.Options{})
	got, _, err := fresh.Keys.KeyByHash(t.Context(), partner.HashKey("remembered"))
	require.NoError(t, err)
	require.True(t, got.Revoked())
}

func TestRecordKeyUse_WithinAMinute_IsWrittenOnce_AndCloseWritesAtOnce(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	k, now := addKey(t, store, "used"), time.Now().UTC().Truncate(time.Microsecond)
	lastUsed := func() (at time.Time) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT last_used_at FROM api_keys WHERE id = $1`, k.ID).Scan(&at))
		return at
	}
	store.Keys.RecordKeyUse(t.Context(), k.ID, now)
	store.Keys.RecordKeyUse(t.Context(), k.ID, now.Add(59*time.Second))
	require.Zero(t, lastUsed(), "the use is written in the background")
	store.Close(t.Context())
	require.Equal(t, now, lastUsed())
	store.Keys.RecordKeyUse(t.Context(), k.ID, now.Add(time.Hour)) // after Close: dropped, as the port allows
	store.Close(t.Context())
	require.Equal(t, now, lastUsed())
}

// Two processes that record the uses of the same keys in different orders would wait for each other.
func TestRecordKeyUse_OfAKeyThatIsBeingWritten_WaitsForNobody(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	busy, free, now := addKey(t, store, "busy"), addKey(t, store, "free"), time.Now().UTC().Truncate(time.Microsecond)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE api_keys SET name = name WHERE id = $1`, busy.ID)
	require.NoError(t, err)
	store.Keys.RecordKeyUse(t.Context(), busy.ID, now)
	store.Keys.RecordKeyUse(t.Context(), free.ID, now)
	store.Close(t.Context())
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM api_keys WHERE id = $1 AND last_used_at = $2`, free.ID, now))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM api_keys WHERE id = $1 AND last_used_at IS NULL`, busy.ID))
}

func TestRecordKeyUse_OlderThanTheWrittenUse_ChangesNothing(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	k, now := addKey(t, store, "used"), time.Now().UTC().Truncate(time.Microsecond)
	exec(t, pool, `UPDATE api_keys SET last_used_at = $2 WHERE id = $1`, k.ID, now)
	store.Keys.RecordKeyUse(t.Context(), k.ID, now.Add(-time.Hour))
	store.Close(t.Context())
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM api_keys WHERE id = $1 AND last_used_at = $2`, k.ID, now))
}

func TestOperatorBySession_MovesLastSeenNowAndThen(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	now := time.Now().UTC().Truncate(time.Microsecond)
	o := connect.Operator{ID: portstest.NewID(), Email: "ann@rentals.example", PasswordHash: "h", CreatedAt: now}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		require.NoError(t, r.Operators.Insert(ctx, o,
			connect.Account{ID: portstest.NewID(), OperatorID: o.ID, CompanyName: "C", CreatedAt: now}))
		return r.Sessions.InsertSession(ctx, accountports.Session{TokenHash: [32]byte{1}, OperatorID: o.ID, CreatedAt: now,
			LastSeenAt: now, ExpiresAt: now.Add(24 * time.Hour)})
	})
	for later, want := range map[time.Duration]time.Duration{4 * time.Minute: 0, 6 * time.Minute: 6 * time.Minute} {
		exec(t, pool, `UPDATE sessions SET last_seen_at = $1`, now)
		_, _, err := store.Sessions.OperatorBySession(t.Context(), [32]byte{1}, now.Add(later), 12*time.Hour)
		require.NoError(t, err)
		require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM sessions WHERE last_seen_at = $1`, now.Add(want)))
	}
}

func TestDeposit_OfAnErasedClient_HasNoClient(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.Origin(t, store)
	c := insertClient(t, store, from)
	depositID, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	exec(t, pool, `UPDATE deposits SET client_id = $1`, c.ID)
	exec(t, pool, `UPDATE clients SET email = '', first_name = '', last_name = '', erased_at = now()`)
	d, err := store.Deposits.Deposit(t.Context(), depositID)
	require.NoError(t, err)
	require.Equal(t, c.ID, d.ClientID)
	require.Nil(t, d.Client)
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		d, err := r.Deposits.ForUpdate(ctx, depositID)
		require.NoError(t, err)
		require.Nil(t, d.Client)
		_, err = r.Clients.OfAccount(ctx, from.AccountID, c.ID)
		require.Error(t, err)
		return nil
	})
}

func TestTransition_KeepsTheHistory(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	depositID, err := create(t.Context(), store, storetest.Origin(t, store), time.Now())
	require.NoError(t, err)
	require.NoError(t, cancel(t.Context(), store, depositID, time.Now()))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM deposit_transitions
		WHERE deposit_id = $1 AND version = 2 AND from_status = 'pending' AND to_status = 'cancelled'
		AND trigger = 'by_partner'`,
		depositID))
	require.Equal(t, 2, count(t, pool, `SELECT count(*) FROM audit_log`))
	_, err = pool.Exec(t.Context(), `DELETE FROM deposit_transitions`)
	require.ErrorContains(t, err, "append-only")
}

func subscribe(t testing.TB, store *postgres.Store) webhook.Subscription {
	t.Helper()
	s := webhook.Subscription{ID: portstest.NewID(), PartnerID: storetest.Origin(t, store).PartnerID,
		URL: "https://pms.example", Events: webhook.EventNames, Enabled: true, CreatedAt: time.Now()}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, s, "svc_whsec_a")
	})
	return s
}

// addBacklog adds n deliveries in a state; due is the SQL expression of due_at, NULL for parked deliveries.
func addBacklog(t testing.TB, pool *pgxpool.Pool, subscriptionID id.ID, n, state int, due string) {
	t.Helper()
	exec(t, pool, `INSERT INTO deliveries (id, subscription_id, event_id, event, state, due_at, body, event_at)
		SELECT gen_random_uuid(), $1, gen_random_uuid(), 'deposit.activated', $3, `+due+
		`, '{}', now() FROM generate_series(1, $2)`, subscriptionID, n, state)
}

func setEnabled(t testing.TB, store *postgres.Store, s webhook.Subscription, enabled bool) {
	t.Helper()
	s.Enabled, s.DisabledReason = enabled, ""
	if !enabled {
		s.DisabledReason = webhook.DisabledByPartner
	}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Update(ctx, s, webhook.ReleasePerSecond)
	})
}

func TestSubscription_Enabled_EndsItsFailureHistoryAndSpreadsParkedDeliveries(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s := subscribe(t, store)
	addBacklog(t, pool, s.ID, 400, 0, "now()")
	addBacklog(t, pool, s.ID, 1, 1, "now() + interval '1 minute'")
	exec(t, pool,
		`UPDATE webhook_subscriptions SET failures = 7, failing_since = now(), slow = true, quick = 1, holds = 2,
			held_until = now(), ramp = 3`)
	const sick = `SELECT count(*) FROM webhook_subscriptions WHERE failures = 7 AND failing_since IS NOT NULL AND slow
		AND quick = 1 AND holds = 2 AND held_until IS NOT NULL AND ramp = 3`
	setEnabled(t, store, s, true) // already enabled, as in a change of the URL
	require.Equal(t, 1, count(t, pool, sick))
	setEnabled(t, store, s, false)
	require.Equal(t, 1, count(t, pool, sick))
	require.Equal(t, 400, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0 AND due_at IS NULL`))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 1 AND due_at IS NOT NULL`),
		"a dispatched delivery is not parked")
	setEnabled(t, store, s, true)
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM webhook_subscriptions
		WHERE failures = 0 AND failing_since IS NULL AND NOT slow AND quick = 0 AND holds = 0 AND held_until IS NULL
		AND ramp = 0`))
	var spread time.Duration
	require.NoError(t,
		pool.QueryRow(t.Context(), `SELECT max(due_at) - min(due_at) FROM deliveries WHERE state = 0`).Scan(&spread))
	require.Equal(t, 399*time.Second/200, spread)
}

func TestSubscription_Deleted_CancelsDispatchedDeliveriesToo(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s, other := subscribe(t, store), subscribe(t, store)
	for _, subscriptionID := range []id.ID{s.ID, other.ID} {
		addBacklog(t, pool, subscriptionID, 1, 0, "now()")
		addBacklog(t, pool, subscriptionID, 1, 0, "NULL")
		addBacklog(t, pool, subscriptionID, 1, 1, "now()")
	}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Delete(ctx, s.ID, time.Now())
	})
	require.Equal(t, 3,
		count(t, pool,
			`SELECT count(*) FROM deliveries WHERE state = 4 AND finished_at IS NOT NULL AND due_at IS NULL
				AND subscription_id = $1`,
			s.ID))
	require.Equal(t, 3, count(t, pool, `SELECT count(*) FROM deliveries WHERE state < 2`))
}

func TestTidyDeliveries_GoesOnWithLongBacklogs(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	released, cancelled, parked := subscribe(t, store), subscribe(t, store), subscribe(t, store)
	addBacklog(t, pool, parked.ID, 5, 0, "now()")
	setEnabled(t, store, parked, false)
	addBacklog(t, pool, released.ID, 12_000, 0, "NULL")
	addBacklog(t, pool, cancelled.ID, 12_000, 0, "now()")
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Delete(ctx, cancelled.ID, time.Now())
	})
	require.Equal(t, 2_000,
		count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0 AND subscription_id = $1`, cancelled.ID))
	for _, want := range []int{12_000, 2_000, 0} {
		moved, err := store.Retention.TidyDeliveries(t.Context(), webhook.ReleasePerSecond)
		require.NoError(t, err)
		require.Equal(t, want, moved)
	}
	require.Equal(t, 12_000, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 4`))
	require.Equal(t, 12_000, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0 AND due_at IS NOT NULL`))
	require.Equal(t, 5, count(t, pool, `SELECT count(*) FROM deliveries WHERE due_at IS NULL AND state = 0`))
}

func TestDeliveries_TellStatusAndAttempts(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s := subscribe(t, store)
	ids := map[webhook.Status]id.ID{}
	for status, row := range map[webhook.Status]string{
		webhook.StatusPending: "0, 0, now(), NULL, NULL", webhook.StatusRetrying: "1, 2, now(), NULL, NULL",
		webhook.StatusSucceeded: "2, 3, NULL, now(), now()", webhook.StatusFailed: "3, 2, NULL, now(), NULL",
	} {
		ids[status] = portstest.NewID()
		exec(t, pool,
			`INSERT INTO deliveries (id, subscription_id, event_id, event, body, event_at, state, attempts, due_at, finished_at,
				taken_at)
			VALUES ($1, $2, gen_random_uuid(), 'deposit.activated', '{}', now(), `+row+`)`, ids[status], s.ID)
		exec(t, pool,
			`INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, result, response_status, snippet,
				detail)
			SELECT id, n, now(), 12, CASE WHEN n = 1 THEN 'non_2xx' ELSE 'timeout' END, CASE
			WHEN n = 1 THEN 500 END, 'oops', 'why' FROM deliveries, generate_series(attempts - (state = 2)::int, 1, -1) n
			WHERE id = $1`,
			ids[status])
	}
	for status, deliveryID := range ids {
		list, err := store.Deliveries.Deliveries(t.Context(), s.ID, webhookports.DeliveryFilter{Status: status},
			ports.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, list.Items, 1)
		d := list.Items[0]
		require.Equal(t, deliveryID, d.ID)
		require.Equal(t, status, webhook.StatusOf(d.State, d.Attempts))
		require.Len(t, d.AttemptLog, d.Attempts)
		require.Equal(t, status == webhook.StatusPending, !d.DueAt.IsZero(), "the end of a lease is no next attempt")
		require.Equal(t, status == webhook.StatusSucceeded, !d.DeliveredAt.IsZero())
		one, err := store.Deliveries.Delivery(t.Context(), s.ID, deliveryID)
		require.NoError(t, err)
		require.Equal(t, d.AttemptLog, one.AttemptLog)
		if status == webhook.StatusSucceeded {
			require.True(t, one.AttemptLog[2].OK())
			require.Equal(t, 3, one.AttemptLog[2].Number)
		}
		if d.Attempts >= 2 {
			first, second := one.AttemptLog[0], one.AttemptLog[1]
			require.Equal(t, webhook.Attempt{Number: 1, StartedAt: first.StartedAt, Duration: 12 * time.Millisecond,
				Result:         webhook.ResultNon2xx,
				ResponseStatus: 500, Snippet: "oops", Detail: "why"}, first)
			require.Equal(t, 2, second.Number)
			require.Zero(t, second.ResponseStatus)
		}
	}
}

func TestMails_AreTriedSixTimesThenGivenUp(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	m := ports.Mail{ID: portstest.NewID(), To: "a@b.example", Subject: "s", Body: "b", CreatedAt: time.Now()}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error { return r.Mails.Enqueue(ctx, m) })
	waits := []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}
	for _, wait := range append(slices.Clone(waits), 0) {
		exec(t, pool, `UPDATE mails SET due_at = now()`)
		claimed, err := store.Mails.Claim(t.Context(), 1, time.Minute)
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		require.NoError(t, store.Mails.Failed(t.Context(), claimed[0], waits))
		if wait > 0 {
			var due time.Duration
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT due_at - now() FROM mails WHERE failed_at IS NULL`).Scan(&due))
			require.InDelta(t, wait.Seconds(), due.Seconds(), 5)
		}
	}
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM mails WHERE failed_at IS NOT NULL`))
	exec(t, pool, `UPDATE mails SET due_at = now()`)
	claimed, err := store.Mails.Claim(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	require.Empty(t, claimed)
}
