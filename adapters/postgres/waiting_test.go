package postgres_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

// waitingWork is a kind of work: a field of ports.Waiting.
type waitingWork struct {
	// insert makes work that is due at $1, of the deposit $2 or the subscription $3; it may begin with a further CTE
	insert string
	always bool // the work waits at once
	// take finds the work, as its job does, and gives how much there is
	take func(ctx context.Context, s *postgres.Store, now time.Time) (int, error)
}

func howMany[T any](found []T, err error) (int, error) { return len(found), err }

var waitingKinds = map[string]waitingWork{
	"IdleCheckouts": {
		insert: `, started AS (UPDATE deposits SET checkout_started_at = $1 WHERE id = $2)
			INSERT INTO deposit_timers (kind, due_at, deposit_id) VALUES ('idle', $1, $2)`,
		take: func(ctx context.Context, s *postgres.Store, now time.Time) (int, error) {
			return howMany(s.Due.IdleCheckouts(ctx, now, 10))
		},
	},
	"ExpiredCheckouts": {
		insert: ` INSERT INTO deposit_timers (kind, due_at, deposit_id) VALUES ('checkout', $1, $2)`,
		take: func(ctx context.Context, s *postgres.Store, now time.Time) (int, error) {
			return howMany(s.Due.ExpiredCheckouts(ctx, now, 10))
		},
	},
	"ElapsedCoverages": {
		insert: `, activated AS (UPDATE deposits SET status = 'active', activated_at = $1, expires_at = $1 WHERE id = $2)
			INSERT INTO deposit_timers (kind, due_at, deposit_id) VALUES ('coverage', $1, $2)`,
		take: func(ctx context.Context, s *postgres.Store, now time.Time) (int, error) {
			return howMany(s.Due.ElapsedCovers(ctx, now, 10))
		},
	},
	"SecuredNotices": {
		always: true,
		insert: ` INSERT INTO secured_notices (secured_at, deposit_id) VALUES ($1, $2)`,
		take: func(ctx context.Context, s *postgres.Store, _ time.Time) (int, error) {
			return howMany(s.OperatorNotices.DueSecuredNotices(ctx, 10))
		},
	},
	"TenantNotices": {
		always: true,
		insert: ` INSERT INTO tenant_notices (subject_id, kind, deposit_id, at) VALUES ($2, 'captured', $2, $1)`,
		take: func(ctx context.Context, s *postgres.Store, _ time.Time) (int, error) {
			return howMany(s.TenantNotices.TenantNoticesDue(ctx, 10))
		},
	},
	"PaymentQuestions": {
		insert: ` INSERT INTO payment_questions (id, provider_ref, dispute, raised_at, due_at)
			VALUES ($2, 'r', true, now(), $1)`,
		take: func(ctx context.Context, s *postgres.Store, now time.Time) (int, error) {
			return howMany(s.Questions.DueQueries(ctx, now, []time.Duration{time.Hour}, 10))
		},
	},
	"Payments": {
		insert: ` INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
			VALUES ($2, $2, 'fee', 100, 'processing', now(), $1)`,
		take: func(ctx context.Context, s *postgres.Store, now time.Time) (int, error) {
			return howMany(s.Payments.PaymentsToCheck(ctx, now, 10))
		},
	},
	"Refunds": {
		insert: `, paid AS (INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at,
				settled_at) VALUES ($2, $2, 'fee', 100, 'succeeded', now(), now(), now()) RETURNING id)
			INSERT INTO refunds (id, payment_id, deposit_id, amount_cents, reason, status, actor, created_at, check_at)
			SELECT $2, id, $2, 100, 'orphaned', 'pending', 'clock', now(), $1 FROM paid`,
		take: func(ctx context.Context, s *postgres.Store, now time.Time) (int, error) {
			return howMany(s.Refunds.RefundsToCheck(ctx, now, 10))
		},
	},
	"PasswordRequests": {
		always: true,
		insert: ` INSERT INTO password_requests (id, email, locale, created_at) VALUES ($2, 'a@b.example', '', $1)`,
		take: func(ctx context.Context, s *postgres.Store, _ time.Time) (n int, err error) {
			err = s.WithinTx(ctx, func(ctx context.Context) (err error) {
				n, err = howMany(s.Tokens.TakePasswordResetRequests(ctx, 10))
				return err
			})
			return n, err
		},
	},
	"Mails": {
		insert: ` INSERT INTO mails (id, recipient, subject, body, created_at, due_at)
			VALUES ($2, 'a@b.example', 's', 'b', now(), $1)`,
		take: func(ctx context.Context, s *postgres.Store, _ time.Time) (int, error) {
			return howMany(s.Mails.ClaimDue(ctx, 10, time.Minute))
		},
	},
	"EndpointNotices": {
		insert: ` INSERT INTO webhook_notices (subscription_id, kind, at, mail_at) VALUES ($3, 'failing', now(), $1)`,
		take: func(ctx context.Context, s *postgres.Store, _ time.Time) (int, error) {
			return howMany(s.Notices.DueNotices(ctx, 10))
		},
	},
	"Replays": {
		insert: ` INSERT INTO webhook_replays (id, subscription_id, range_from, range_to, status, per_second, matched,
				created_at, next_at) VALUES ($3, $3, now(), now(), 'pending', 1, 1, now(), $1)`,
		take: func(ctx context.Context, s *postgres.Store, now time.Time) (n int, err error) {
			err = s.WithinTx(ctx, func(ctx context.Context) error {
				_, found, err := s.Replays.LockNext(ctx, now)
				if found {
					n = 1
				}
				return err
			})
			return n, err
		},
	},
}

// A look that missed work would hold it up for ever.
func TestWaitingWork_IsNamedWheneverItsJobFindsSome(t *testing.T) {
	t.Parallel()
	require.Len(t, waitingKinds, reflect.TypeFor[ports.WaitingWorkFlags]().NumField()-1,
		"each but FailingEndpoints, below")
	for field, kind := range waitingKinds {
		for name, due := range map[string]time.Duration{"due": -time.Hour, "not yet": time.Hour} {
			t.Run(field+", "+name, func(t *testing.T) {
				t.Parallel()
				w := newWaiting(t)
				require.Equal(t, ports.WaitingWorkFlags{}, w.look())
				now := time.Now()
				exec(t, w.pool, `WITH arguments AS (SELECT $1::timestamptz, $2::uuid, $3::uuid)`+kind.insert, now.Add(due),
					w.deposit, w.subscription)
				want, waits := ports.WaitingWorkFlags{}, due < 0 || kind.always
				reflect.ValueOf(&want).Elem().FieldByName(field).SetBool(waits)
				require.Equal(t, want, w.look())
				found, err := kind.take(t.Context(), w.store, now)
				require.NoError(t, err)
				require.Equal(t, waits, found == 1)
			})
		}
	}
}

func TestWaitingWork_NamesFailingEndpoints(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	exec(t, w.pool, `UPDATE webhook_subscriptions SET failing_since = now(), last_failure_at = now()`)
	require.Equal(t, ports.WaitingWorkFlags{FailingEndpoints: true}, w.look())
	endpoints, err := dispatchstore.NewBacklogReader(w.pool).Endpoints(t.Context())
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	exec(t, w.pool, `UPDATE webhook_subscriptions SET deleted_at = now()`)
	require.Equal(t, ports.WaitingWorkFlags{}, w.look())
}

// waiting is a database with a pending deposit and a subscription.
type waiting struct {
	t                     *testing.T
	store                 *postgres.Store
	pool                  *pgxpool.Pool
	work                  platform.WaitingWorkReader
	deposit, subscription id.ID
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	depositID, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	exec(t, pool, `DELETE FROM deposit_timers`)
	return &waiting{t: t, store: store, pool: pool, work: platform.NewWaitingWorkReader(pool), deposit: depositID,
		subscription: subscribeTo(t, store, from.PartnerID).ID}
}

func (w *waiting) look() ports.WaitingWorkFlags {
	now := time.Now()
	found, err := w.work.WaitingWork(w.t.Context(), now, now)
	require.NoError(w.t, err)
	return found
}
