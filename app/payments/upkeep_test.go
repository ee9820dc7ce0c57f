//go:build !unit

package payments_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

// slow answers each call after the time that a provider takes, and says that everything is paid.
type slow struct {
	paymentports.PaymentProvider
	takes time.Duration
	away  bool
}

func (s *slow) LookupPayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	return s.ChargeStoredCard(ctx, paymentports.CollectRequest{PaymentID: paymentID})
}

func (*slow) LeastCharge() money.Cents { return 50 }

func (s *slow) ChargeStoredCard(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment,
	error) {
	if s.away {
		return paymentports.ProviderPayment{}, context.DeadlineExceeded
	}
	timer := time.NewTimer(s.takes)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return paymentports.ProviderPayment{}, ctx.Err()
	case <-timer.C:
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentSucceeded, Ref: r.PaymentID.Encode()}, nil
	}
}

// After an outage every payment that waited is settled at the pace of the workers: 5,000 within 5 minutes, at a
// provider that takes a second. The test has a tenth of both, and a tenth of the time.
func TestReconcile_ManyPaymentsAfterAnOutage_AreSettledInTime(t *testing.T) {
	const waiting = 500
	b := setup(t)
	depositID, _ := b.captured()
	now := b.Clock.Now()
	b.exec(`WITH made AS (
			INSERT INTO deposits SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'reference',
			'D-' || n, 'checkout_token_hash', '\x' || encode(sha256(n::text::bytea), 'hex'),
				'url_generation', false))).* FROM deposits d, generate_series(1, $2) n WHERE d.id = $1 RETURNING id),
		paid AS (INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at, settled_at)
			SELECT gen_random_uuid(), id, 'fee', 100, 'succeeded', $3::timestamptz, $3, $3 FROM made)
		INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
		SELECT gen_random_uuid(), id, 'collection', 100, 'processing', $3, $3 FROM made`,
		depositID, waiting-1, now)
	provider := &slow{takes: 100 * time.Millisecond, away: true}
	service := b.BuildServices(func(p *servicetest.Deps) { p.Provider = provider }).Payments
	for range 60 { // rounds of an outage of ten minutes
		n, err := service.CheckDuePayments(b.Ctx())
		require.NoError(t, err)
		require.Zero(t, n)
		b.Clock.Add(10 * time.Second)
	}
	require.Zero(t, b.Count("payments", "attempts > 0"), "an outage is no attempt")
	provider.away = false
	back, begun := b.Clock.Now(), time.Now()
	for b.Count("payments", "status = 'processing'") > 0 {
		require.LessOrEqual(t, b.Clock.Now().Sub(back), 90*time.Second, "every payment is due soon after the outage")
		_, err := service.CheckDuePayments(b.Ctx())
		require.NoError(t, err)
		b.Clock.Add(10 * time.Second)
	}
	require.Less(t, time.Since(begun), 30*time.Second)
	require.Equal(t, waiting, b.Count("collections", "state = 'paid' AND attempt = 1"))
	require.Equal(t, deposit.CollectionPaid, b.debt(depositID).State)
}

// A dispatcher of an older version knows payments alone. Its answers end collections too.
func TestCollections_SettledByAnOlderProcess_EndWithTheirPayments(t *testing.T) {
	for status, want := range map[string]deposit.CollectionState{"succeeded": deposit.CollectionPaid,
		"failed": deposit.CollectionFailed} {
		t.Run(status, func(t *testing.T) {
			b := setup(t)
			depositID, collectionID := b.captured()
			b.exec(`UPDATE payments SET attempts = 3, check_at = $2 WHERE id = $1`, collectionID, b.Clock.Now().Add(day))
			require.Equal(t, deposit.CollectionScheduled, b.debt(depositID).State, "the older process is trying")
			b.exec(`UPDATE payments SET status = $2, settled_at = $3, attempts = 4, failure = 'card_declined' WHERE id = $1`,
				collectionID, status, b.Clock.Now())
			got := b.debt(depositID)
			require.Equal(t, []any{want, 4, true, b.Clock.Now()}, []any{got.State, got.Attempt, got.Answered, got.EndedAt})
			b.RequireJobCount(0, b.Payments.CheckDuePayments)
		})
	}
}

func TestBacklog_CountsCollectionsByState(t *testing.T) {
	b := setup(t)
	paid, _ := b.captured()
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.captured()
	b.exec(`UPDATE collections SET captured_at = now() - interval '1 hour' WHERE state = 'scheduled'`)
	counted, err := dispatchstore.NewBacklogReader(b.Pool).Backlog(b.Ctx())
	require.NoError(t, err)
	require.Equal(t, map[deposit.CollectionState]int{deposit.CollectionPaid: 1, deposit.CollectionScheduled: 1},
		counted.Collections.States)
	require.InDelta(t, time.Hour, counted.Collections.OldestAge, float64(5*time.Minute), "of those that are not over")
	require.Equal(t, deposit.CollectionPaid, b.debt(paid).State)
}

// forgetting is a provider that deletes customers.
type forgetting struct {
	away      bool
	forgotten []id.ID
}

func (f *forgetting) EraseCustomer(_ context.Context, feePaymentID id.ID) error {
	if f.away {
		return errors.New("away")
	}
	f.forgotten = append(f.forgotten, feePaymentID)
	return nil
}

func forget(b checkouttest.Steps, provider *forgetting) error {
	jobs := payments.ProviderUpkeep{
		Callbacks: b.Callbacks, Audit: b.Postgres.Audit, Erasures: b.Postgres.Erasures, Eraser: provider,
		UnitOfWork: b.Postgres, Clock: b.Clock, Entropy: entropy{},
	}.ScheduledJobs(time.Second)
	job := jobs[len(jobs)-1]
	require.Equal(b.T, "payment erasures", job.Name)
	_, err := job.Run(b.Ctx())
	return err
}

func TestForget_ErasedClient_OnceNothingIsOwed(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d := secured(b)
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	provider := &forgetting{}
	require.NoError(t, forget(b, provider))
	require.Empty(t, provider.forgotten, "the cover runs: the card may be charged")

	b.Clock.Set(d.ExpiresAt)
	b.RequireJobCount(1, b.Timers.CloseElapsedDeposits)
	provider.away = true
	require.Error(t, forget(b, provider))
	require.Equal(t, 1, b.Count("payment_erasures", ""))

	provider.away = false
	require.NoError(t, forget(b, provider), "the provider is not asked at once")
	require.Empty(t, provider.forgotten)
	b.Clock.Add(6 * time.Hour)
	require.NoError(t, forget(b, provider))
	require.Equal(t, []id.ID{b.LoadFeePayment(d.ID).ID}, provider.forgotten)
	require.Zero(t, b.Count("payment_erasures", ""))
	require.Equal(t, 1, b.Count("audit_log", "action = 'client.forget_card' AND subject = $1", id.Client.Of(d.ClientID)))
	require.NoError(t, forget(b, provider))
	require.Len(t, provider.forgotten, 1)
}

func TestForget_CapturedAmountIsOwed_Waits(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d := secured(b)
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	_, err = b.Pool.Exec(b.Ctx(),
		`UPDATE deposits SET status = 'captured', status_reason = 'claim', captured_cents = 100, captured_at = now(),
			version = version + 1 WHERE id = $1`,
		d.ID)
	require.NoError(t, err)
	_, err = b.Pool.Exec(b.Ctx(),
		`INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
			VALUES ($1, $2, 'collection', 100, 'processing', now(), now())`,
		id.ID{1}, d.ID)
	require.NoError(t, err)
	provider := &forgetting{}
	require.NoError(t, forget(b, provider))
	require.Empty(t, provider.forgotten)

	_, err = b.Pool.Exec(b.Ctx(), `UPDATE payments SET status = $2, settled_at = now() WHERE id = $1`, id.ID{1},
		deposit.PaymentSucceeded)
	require.NoError(t, err)
	b.Clock.Add(6 * time.Hour)
	require.NoError(t, forget(b, provider))
	require.Len(t, provider.forgotten, 1)
}

func TestForget_ClientWithoutAPayment_IsNotQueued(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, _ := b.CreateDeposit(t, checkouttest.WithClient("tina@example.com", "Tina", "Tenant"))
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	require.Zero(t, b.Count("payment_erasures", ""))
}

func secured(b checkouttest.Steps) *deposit.Deposit {
	b.T.Helper()
	d, token := b.CreateDeposit(b.T)
	b.SubmitCheckoutForm(token, checkouttest.TenantGraceHopper)
	b.PayOnPaymentPage(d.ID, true)
	b.ReturnFromPayment(token)
	return b.LoadDeposit(b.T, d.ID)
}
