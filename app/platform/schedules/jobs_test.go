//go:build !unit

package schedules_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	"partnerdeposits/ports"
)

// postman accepts every mail except those to bad@example.com.
type postman struct {
	mu   sync.Mutex
	took []string
}

func (p *postman) Send(_ context.Context, m ports.Mail) error {
	if m.To == "bad@example.com" {
		return errors.New("550 no such user")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took = append(p.took, m.Subject)
	return nil
}

// tally counts attempts to send a mail.
type tally struct{ sent, failed atomic.Int32 }

func (t *tally) Attempted(sent bool) {
	if sent {
		t.sent.Add(1)
	} else {
		t.failed.Add(1)
	}
}

func TestMails_OneThatCannotBeSentHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	store, pool := kit.Postgres, kit.Pool
	now := time.Now()
	for i, to := range []string{"a@example.com", "bad@example.com", "c@example.com"} {
		require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context, repos ports.Repositories) error {
			return repos.Mails.Enqueue(ctx, ports.Mail{ID: id.ID{byte(i + 1)}, To: to, Subject: "to " + to, Body: "b", CreatedAt: now.Add(time.Duration(i) * time.Millisecond)})
		}))
	}
	post, counted := &postman{}, &tally{}
	job := schedules.Mails(store, post, counted, time.Second)
	more, err := job.Run(t.Context())
	require.False(t, more)
	require.ErrorContains(t, err, "550 no such user")
	require.ElementsMatch(t, []string{"to a@example.com", "to c@example.com"}, post.took)

	more, err = job.Run(t.Context())
	require.NoError(t, err, "the bad one waits for its time")
	require.False(t, more)
	require.Len(t, post.took, 2, "what was sent is not sent again")
	require.Equal(t, int32(2), counted.sent.Load())
	require.Equal(t, int32(1), counted.failed.Load(), "a mail that waits for its time is no attempt")
	makeDue(t, kit)
	_, err = job.Run(t.Context())
	require.Error(t, err)
	require.Equal(t, int32(2), counted.sent.Load())
	require.Equal(t, int32(2), counted.failed.Load(), "each attempt counts")
	var sent, failed int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(sent_at), count(failed_at) FROM mails`).Scan(&sent, &failed))
	require.Equal(t, 2, sent)
	require.Zero(t, failed, "it is tried again")
}

func TestMaintenance_EveryJobRunsOnTheRealTables(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	store, pool := kit.Postgres, kit.Pool
	_, err := pool.Exec(t.Context(), `
		INSERT INTO operators (id, email, email_key, password_hash, created_at) VALUES ($1, 'a@example.com', 'a@example.com', 'x', now())`, id.ID{1})
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `
		INSERT INTO sessions (token_hash, operator_id, created_at, last_seen_at, expires_at)
		SELECT sha256(n::text::bytea), $1, now(), now(), now() + CASE WHEN n <= 1500 THEN interval '-1 minute' ELSE interval '1 hour' END
		FROM generate_series(1, 1503) n`, id.ID{1})
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `
		INSERT INTO idempotency_keys (partner_id, route, key, fingerprint, status, response, created_at)
		SELECT $1, 'POST /x', gen_random_uuid(), sha256('x'), 201, '\x00', now() - n * interval '1 hour' FROM generate_series(1, 30) n`, id.ID{1})
	require.NoError(t, err)

	_, err = pool.Exec(t.Context(), `
		INSERT INTO deliveries (id, subscription_id, event_id, event, state, body, event_at)
		SELECT uuid_floor(now() - n * interval '1 day' - interval '1 hour'), $1, gen_random_uuid(), 'deposit.activated', 0, '{}', now() FROM generate_series(20, 39) n`, id.ID{7})
	require.NoError(t, err)
	var log strings.Builder
	counted := finished{}
	maintenance := schedules.Maintenance{Tables: store, Addresses: store, Files: store, Contents: postgres.NewFileContents(store), UnitOfWork: store, Metrics: counted, Clock: kit.Clock, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for _, job := range maintenance.Jobs() {
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
	require.Equal(t, finished{"deposit.activated failed": 10}, counted)
	require.Equal(t, 23, count("idempotency_keys"), "those of the last 24 hours stay")
}

// finished counts deliveries that ended, by event and outcome.
type finished map[string]int

func (f finished) Finished(event webhook.EventName, outcome webhook.Status, _ time.Duration) {
	f[string(event)+" "+string(outcome)]++
}

func (f finished) ReachedHealthy(time.Duration) { f["healthy"]++ }
