package stripe_test

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

// A page ends with the stay where Stripe can do so, and as soon as Stripe can where not.
func TestOpen_WithAnEnd_AsksStripeToEndThePageThen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for left, life := range map[time.Duration]time.Duration{
		-time.Hour: 31 * time.Minute, 0: 31 * time.Minute, 29 * time.Minute: 31 * time.Minute,
		31 * time.Minute: 31 * time.Minute, 32 * time.Minute: 32 * time.Minute, 5 * time.Hour: 5 * time.Hour,
		23 * time.Hour: 23 * time.Hour, 90 * 24 * time.Hour: 23 * time.Hour,
	} {
		r, now := feeRequest(), b.fake.Now()
		r.EndsAt = now.Add(left)
		b.open(r)
		all := b.sent("POST", sessions)
		ends, err := strconv.ParseInt(all[len(all)-1].Params.Get("expires_at"), 10, 64)
		require.NoError(t, err)
		require.InDelta(t, life.Seconds(), time.Unix(ends, 0).Sub(now).Seconds(), 5, left)
	}
}

// The stored request of a page is repeated when its answer was lost. By then the page may live too short for Stripe.
func TestOpen_ARepeatedRequestWhosePageWouldLiveTooShort_IsMadeAnew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for kind, pages := range map[stripetest.FaultKind]int{stripetest.FaultLostBeforeEffect: 2,
		stripetest.FaultLostAfterEffect: 1} {
		r := feeRequest()
		r.EndsAt = b.fake.Now().Add(40 * time.Minute)
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: sessions})
		_, err := b.provider.OpenPage(t.Context(), r)
		require.ErrorIs(t, err, fault.ErrUnavailable, kind)
		b.fake.AdvanceClock(20 * time.Minute)
		page := b.open(r)
		require.Equal(t, page, b.open(r), kind)
		var made int
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT count(*) FROM stripe_objects WHERE payment_id = $1`,
			[16]byte(r.PaymentID)).Scan(&made))
		require.Equal(t, pages, made, kind)
		b.fake.PayOnPaymentPage(t, page.URL, "4242424242424242")
		b.charged(r.PaymentID, 1)
		require.NotZero(t, b.lookup(r.PaymentID).PaidAt, kind)
	}
}

// Another process, or one that died before it could use the answer, has recorded the payment already.
func TestPaidAt_OfAPaymentThatIsKnownAsPaid_IsAskedForAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	page := b.open(r)
	b.fake.PayOnPaymentPage(t, page.URL, "4000000000009995") // refused: the intent is older than the payment
	b.fake.AdvanceClock(7 * time.Minute)
	paidAt := b.fake.Now().Unix()
	b.fake.PayOnPaymentPage(t, page.URL, "4242424242424242")
	b.fake.AdvanceClock(time.Hour)
	first := b.lookup(r.PaymentID)
	require.InDelta(t, paidAt, first.PaidAt.Unix(), 2)
	require.Equal(t, first, b.lookup(r.PaymentID))
	require.Equal(t, first, b.close(r.PaymentID))
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultUnavailable, Path: sessions})
	_, err := b.provider.ClosePayment(t.Context(), r.PaymentID)
	require.ErrorIs(t, err, fault.ErrUnavailable, "nothing is decided without the time")
	require.Equal(t, first, b.lookup(r.PaymentID))
}

func TestPaidAt_IsBelievedOnlyOfTheChargeOfThePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	// about changes the charge in an answer about a paid page.
	about := func(lie func(charge map[string]any)) func(map[string]any) {
		return func(answer map[string]any) {
			if made, ok := answer["payment_intent"].(map[string]any); ok {
				made = maps.Clone(made)
				charge := maps.Clone(made["latest_charge"].(map[string]any))
				lie(charge)
				made["latest_charge"], answer["payment_intent"] = charge, made
			}
		}
	}
	for name, lie := range lies() {
		if name == "an id of another" { // nobody knows the id of a charge that is made on a page
			continue
		}
		r := feeRequest()
		b.fake.PayOnPaymentPage(t, b.open(r).URL, "4242424242424242")
		b.doubts(name, about(lie), func(p *stripe.Provider) error {
			_, err := p.LookupPayment(t.Context(), r.PaymentID)
			return err
		})
		require.NotZero(t, b.lookup(r.PaymentID).PaidAt, name)
	}
	r := feeRequest()
	b.fake.PayOnPaymentPage(t, b.open(r).URL, "4242424242424242")
	for name, silence := range map[string]func(map[string]any){
		"the charge has no time": about(func(charge map[string]any) { delete(charge, "created") }),
		"no charge is told": func(answer map[string]any) {
			if made, ok := answer["payment_intent"].(map[string]any); ok {
				delete(made, "latest_charge")
			}
		},
	} {
		got, err := b.with(tampered{silence}).LookupPayment(t.Context(), r.PaymentID)
		require.NoError(t, err, name)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, got.Status, name)
		require.Zero(t, got.PaidAt, "%s: no time is made up", name)
	}
}

func TestCollect_AnAnswerThatComesLater_IsOpenUntilThen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for outcome, want := range map[stripetest.ChargeOutcome]paymentports.ProviderPaymentStatus{
		{}: paymentports.ProviderPaymentSucceeded, noFunds: paymentports.ProviderPaymentFailed} {
		r := b.owing("4242424242424242")
		b.fake.SetOffSessionOutcomes(id.Deposit.Of(r.DepositID), stripetest.ChargeOutcome{Processing: true})
		require.Equal(t, paymentports.ProviderPaymentOpen, b.collect(r).Status)
		require.Equal(t, paymentports.ProviderPaymentOpen, b.collect(r).Status)
		_, err := b.provider.OpenPage(t.Context(), pageOf(r))
		require.ErrorIs(t, err, fault.ErrUnavailable, "the charge cannot be stopped")
		require.True(t, b.fake.SettleCharge(id.Payment.Of(r.PaymentID), outcome))
		require.Equal(t, want, b.lookup(r.PaymentID).Status)
		require.Equal(t, want, b.collect(r).Status)
	}
}
