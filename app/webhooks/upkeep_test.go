//go:build !unit

package webhooks_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// setAside puts an event on the outbox and aside, as a dispatcher does.
func setAside(t *testing.T, kit *servicetest.Kit, partnerID id.ID) ports.Event {
	t.Helper()
	e := ports.Event{ID: servicetest.NewID(), PartnerID: partnerID, Name: webhook.EventDepositExpired,
		DepositID: servicetest.NewID(), Data: []byte(`{"a":1}`), CreatedAt: time.Now()}
	kit.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Outbox.Append(ctx, e) })
	moved, err := kit.NewDispatchStore().SetEventAside(t.Context(), e.ID, "no such name\x00")
	require.NoError(t, err)
	require.True(t, moved)
	return e
}

// audited gives the action and detail of the only audit entry about an event.
func audited(t *testing.T, kit *servicetest.Kit, eventID string) (action string, detail map[string]string) {
	t.Helper()
	var raw []byte
	require.NoError(t, kit.Pool.QueryRow(t.Context(),
		`SELECT action, detail FROM audit_log WHERE subject = $1 AND actor = 'admin'`, eventID).Scan(&action, &raw))
	require.NoError(t, json.Unmarshal(raw, &detail))
	return action, detail
}

func TestRetrySetAside_PutsTheEventBackOnTheOutbox_AndTheAuditLogKeepsIt(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	p := kit.CreatePartner("acme")
	e, other := setAside(t, kit, p.ID), setAside(t, kit, p.ID)
	listed, err := kit.Webhooks.ListSetAsideEvents(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 2)
	require.Equal(t, []id.ID{e.ID, other.ID}, []id.ID{listed[0].ID, listed[1].ID}, "the oldest first")
	require.Equal(t, "no such name�", listed[0].Reason)

	eventID := id.Event.Of(e.ID)
	_, err = kit.Webhooks.RetrySetAsideEvent(t.Context(), eventID)
	require.NoError(t, err)
	var got []ports.Event
	_, _, err = kit.NewDispatchStore().Relay(t.Context(), 10, time.Minute,
		func(events []ports.Event, _ []webhookports.Subscription) []webhookports.Delivery {
			got = events
			return nil
		})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, e.Data, got[0].Data)
	require.Equal(t, e.ID, got[0].ID)
	action, detail := audited(t, kit, eventID)
	require.Equal(t, "outbox.retry", action)
	require.Equal(t, id.Deposit.Of(e.DepositID), detail["depositId"])
	require.Equal(t, "deposit.expired", detail["event"])

	_, err = kit.Webhooks.RetrySetAsideEvent(t.Context(), eventID)
	require.ErrorIs(t, err, webhookports.ErrEventNotSetAside, "an event is put back once")
}

func TestMaintenance_EveryJobRunsOnTheRealTables(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	store, pool := kit.Postgres, kit.Pool
	_, err := pool.Exec(t.Context(), `
		INSERT INTO operators (id, email, email_key, password_hash, created_at)
		VALUES ($1, 'a@example.com', 'a@example.com', 'x', now())`,
		id.ID{1})
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `
		INSERT INTO sessions (token_hash, operator_id, created_at, last_seen_at, expires_at)
		SELECT sha256(n::text::bytea), $1, now(), now(), now() + CASE WHEN n <= 1500 THEN interval '-1 minute'
		ELSE interval '1 hour' END
		FROM generate_series(1, 1503) n`, id.ID{1})
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `
		INSERT INTO idempotency_keys (partner_id, route, key, fingerprint, status, response, created_at)
		SELECT $1, 'POST /x', gen_random_uuid(), sha256('x'), 201, '\x00', now() - n * interval '1 hour'
		FROM generate_series(1, 30) n`,
		id.ID{1})
	require.NoError(t, err)

	_, err = pool.Exec(t.Context(), `
		INSERT INTO deliveries (id, subscription_id, event_id, event, state, body, event_at)
		SELECT uuid_floor(now() - n * interval '1 day' - interval '1 hour'), $1, gen_random_uuid(), 'deposit.activated', 0,
		'{}', now() FROM generate_series(20, 39) n`,
		id.ID{7})
	require.NoError(t, err)
	var log strings.Builder
	counted := finished{counts: map[string]int{}}
	retention := webhooks.RetentionJobs{
		Tables: store.Retention, Replays: store.Replays, UnitOfWork: store, Metrics: counted, Clock: kit.Clock,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	files := deposits.UnconfirmedFileRemover{Files: store.Files, Contents: store.Contents, UnitOfWork: store,
		Clock: kit.Clock}
	jobs := append(slices.Concat(retention.ScheduledJobs(), kit.Operators.ScheduledJobs(time.Second)),
		kit.Idempotent.KeyCleaningJob(kit.Clock), kit.Clients.ErasedAddressCleaningJob(), files.ScheduledJob(),
		mails.MailCleaningJob(store.Mails, kit.Clock))
	for _, job := range jobs {
		rounds := 0
		for more := true; more; rounds++ {
			more, err = job.Run(t.Context())
			require.NoError(t, err, job.Name)
			require.Less(t, rounds, 5, job.Name)
		}
	}
	require.Equal(t, 3, kit.Count("sessions", ""), "expired ones are gone, in as many rounds as it takes")
	require.Equal(t, 20, kit.Count("deliveries", ""))
	require.Equal(t, 10, kit.Count("deliveries", "state = 0"), "deliveries that were parked for 30 days ended")
	require.Contains(t, log.String(), "subscription="+id.Subscription.Of(id.ID{7})+" deliveries=10")
	require.Equal(t, map[string]int{"deposit.activated failed": 10}, counted.counts)
	require.Equal(t, 23, kit.Count("idempotency_keys", ""), "those of the last 24 hours stay")
}

// finished counts deliveries that ended, by event and outcome.
type finished struct {
	webhookports.DispatchMetrics
	counts map[string]int
}

func (f finished) CountFinished(event webhook.EventName, outcome webhook.DeliveryStatus, _ time.Duration, _ string) {
	f.counts[string(event)+" "+string(outcome)]++
}

func (f finished) ObserveHealthyLatency(time.Duration, string) { f.counts["healthy"]++ }
