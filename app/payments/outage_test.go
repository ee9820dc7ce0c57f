//go:build !unit

package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

// slow answers each call after the time that a provider takes, and says that everything is paid.
type slow struct {
	paymentports.PaymentProvider
	takes time.Duration
	away  bool
}

func (s *slow) Lookup(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	return s.Collect(ctx, paymentports.CollectRequest{PaymentID: paymentID})
}

func (*slow) LeastCharge() money.Cents { return 50 }

func (s *slow) Collect(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
	if s.away {
		return paymentports.ProviderPayment{}, context.DeadlineExceeded
	}
	timer := time.NewTimer(s.takes)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return paymentports.ProviderPayment{}, ctx.Err()
	case <-timer.C:
		return paymentports.ProviderPayment{Status: paymentports.ProviderSucceeded, Ref: r.PaymentID.Encode()}, nil
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
	service := b.Build(func(p *servicetest.Parts) { p.Provider = provider }).Payments
	for range 60 { // rounds of an outage of ten minutes
		n, err := service.CheckDue(b.Ctx())
		require.NoError(t, err)
		require.Zero(t, n)
		b.Clock.Add(10 * time.Second)
	}
	require.Zero(t, b.Count("payments", "attempts > 0"), "an outage is no attempt")
	provider.away = false
	back, begun := b.Clock.Now(), time.Now()
	for b.Count("payments", "status = 'processing'") > 0 {
		require.LessOrEqual(t, b.Clock.Now().Sub(back), 90*time.Second, "every payment is due soon after the outage")
		_, err := service.CheckDue(b.Ctx())
		require.NoError(t, err)
		b.Clock.Add(10 * time.Second)
	}
	require.Less(t, time.Since(begun), 30*time.Second)
	require.Equal(t, waiting, b.Count("collections", "state = 'paid' AND attempt = 1"))
	require.Equal(t, deposit.CollectionPaid, b.debt(depositID).State)
}
