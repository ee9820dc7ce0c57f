//go:build !unit

package webhooks_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	webhookports "partnerdeposits/ports/webhooks"
)

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
	retention := webhooks.Retention{
		Tables: store.Retention, Replays: store.Replays, UnitOfWork: store, Metrics: counted, Clock: kit.Clock,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	files := deposits.WaitingFiles{Files: store.Files, Contents: store.Contents, UnitOfWork: store, Clock: kit.Clock}
	jobs := append(slices.Concat(retention.Jobs(), kit.Operators.Jobs(time.Second)),
		kit.Idempotent.CleanJob(kit.Clock), kit.Clients.AddressJob(), files.Job(), mails.CleanJob(store.Mails, kit.Clock))
	for _, job := range jobs {
		rounds := 0
		for more := true; more; rounds++ {
			more, err = job.Run(t.Context())
			require.NoError(t, err, job.Name)
			require.Less(t, rounds, 5, job.Name)
		}
	}
	count := func(table string) (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		return n
	}
	require.Equal(t, 3, count("sessions"), "expired ones are gone, in as many rounds as it takes")
	require.Equal(t, 20, count("deliveries"))
	require.Equal(t, 10, count("deliveries WHERE state = 0"), "deliveries that were parked for 30 days ended")
	require.Contains(t, log.String(), "subscription="+id.Subscription.Of(id.ID{7})+" deliveries=10")
	require.Equal(t, map[string]int{"deposit.activated failed": 10}, counted.counts)
	require.Equal(t, 23, count("idempotency_keys"), "those of the last 24 hours stay")
}

// finished counts deliveries that ended, by event and outcome.
type finished struct {
	webhookports.DispatchMetrics
	counts map[string]int
}

func (f finished) Finished(event webhook.EventName, outcome webhook.Status, _ time.Duration, _ string) {
	f.counts[string(event)+" "+string(outcome)]++
}

func (f finished) ReachedHealthy(time.Duration, string) { f.counts["healthy"]++ }
