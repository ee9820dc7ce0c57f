//go:build !unit

package payments_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

func TestReconcile_TenantPaidAndLeft_SecuresTheDeposit(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	b.Clock.Add(30 * time.Second)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.RequireStatus(d.ID, deposit.Active, "")
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
}

func TestReconcile_OpenPage_IsLeftToTheTenant(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	for range 20 { // the waits grow up to five minutes
		b.Clock.Add(5 * time.Minute)
		b.RequireJobCount(0, b.Payments.CheckDuePayments)
	}
	require.Equal(t, 20, b.LoadFeePayment(d.ID).Attempts)
	b.PayOnPaymentPage(d.ID, true)
	b.Clock.Add(5 * time.Minute)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.RequireStatus(d.ID, deposit.Active, "")
}

// The process died, or the request was lost, after the commit of the payment and before the provider received the
// request.
func TestReconcile_ProviderNeverHeardOfThePayment_VoidsItAfterAGrace(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.Provider.SetUnreachable(true)
	_, err := b.Checkout.Submit(b.Ctx(), token, grace, checkouttest.TenantAgreement)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	b.Provider.SetUnreachable(false)

	b.Clock.Add(time.Minute)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.Equal(t, deposit.PaymentProcessing, b.LoadFeePayment(d.ID).Status, "it may still be on its way")
	b.Clock.Add(2 * time.Minute)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, deposit.PaymentVoided, b.LoadFeePayment(d.ID).Status)
	b.RequireStatus(d.ID, deposit.Pending, "")

	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	b.ReturnFromPayment(token)
	b.RequireStatus(d.ID, deposit.Active, "")
}

// The provider opened the page, and the response was lost.
func TestReconcile_AnswerWasLost_FindsThePaymentAgain(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.Provider.SetAnswersLost(true)
	_, err := b.Checkout.Submit(b.Ctx(), token, grace, checkouttest.TenantAgreement)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	b.Provider.SetAnswersLost(false)
	b.PayOnPaymentPage(d.ID, true) // the page exists at the provider
	b.Clock.Add(time.Minute)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.RequireStatus(d.ID, deposit.Active, "")
	require.NotEmpty(t, b.LoadFeePayment(d.ID).ProviderRef)
}

func TestReconcile_ProviderAway_AsksAgainLater(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	b.Provider.SetUnreachable(true)
	var waits []time.Duration
	for range 6 {
		b.Clock.Add(b.LoadFeePayment(d.ID).CheckAt.Sub(b.Clock.Now()))
		b.RequireJobCount(0, b.Payments.CheckDuePayments)
		waits = append(waits, b.LoadFeePayment(d.ID).CheckAt.Sub(b.Clock.Now()))
	}
	require.Equal(t, slices.Repeat([]time.Duration{time.Minute}, 6), waits,
		"whenever the provider comes back, the payment is soon due")
	require.Zero(t, b.LoadFeePayment(d.ID).Attempts, "nobody answered")
	require.Contains(t, b.Log.String(), id.Payment.Of(b.LoadFeePayment(d.ID).ID))
	b.Provider.SetUnreachable(false)
	b.Clock.Add(5 * time.Minute)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.RequireStatus(d.ID, deposit.Active, "")
}

func TestReconcile_Collection_ChargesTheCardThatPaidTheFee(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	var asked paymentports.CollectRequest
	b.Provider.OnChargeStoredCard(func(r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
		asked = r
		return b.Sandbox.ChargeStoredCard(b.Ctx(), r)
	})
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, paymentports.CollectRequest{
		PaymentID: collectionID, FeePaymentID: b.LoadFeePayment(depositID).ID, DepositID: depositID, Attempt: 1,
		Amount:      50_000,
		Description: "Claim of Les Gîtes d’Ada on the deposit, 16 Jun – 23 Jun 2026",
	}, asked)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
	require.Empty(t, b.AuditActions(t, depositID))
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
}

func TestReconcile_CollectionWhileTheProviderIsAway_IsNeverGivenUp(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.SetUnreachable(true)
	for range 30 {
		b.RequireJobCount(0, b.Payments.CheckDuePayments)
		b.Clock.Add(5 * time.Minute)
	}
	require.Zero(t, b.collection(depositID).Attempts, "nobody refused anything")
	b.Provider.SetUnreachable(false)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
}

func TestReconcile_CollectionAnswerWasLost_ChargesOnce(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	b.Provider.SetAnswersLost(true)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	charged, err := b.Sandbox.LookupPayment(b.Ctx(), collectionID)
	require.NoError(t, err)
	b.Provider.SetAnswersLost(false)
	b.Clock.Add(5 * time.Minute)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, charged.Ref, b.collection(depositID).ProviderRef)
}

// panicky panics when asked about the payment.
type panicky struct {
	paymentports.PaymentProvider
	about id.ID
}

func (p panicky) LookupPayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	if paymentID == p.about {
		panic("poisoned")
	}
	return p.PaymentProvider.LookupPayment(ctx, paymentID)
}

func TestReconcile_OnePaymentInTrouble_StopsNobodyElse(t *testing.T) {
	b := setup(t)
	bad, badToken := b.CreateDeposit(t)
	good, goodToken := b.CreateDeposit(t, checkouttest.WithClient("grace@example.com", "Grace", "Hopper"))
	b.SubmitCheckoutForm(badToken, grace)
	b.SubmitCheckoutForm(goodToken, grace)
	b.PayOnPaymentPage(bad.ID, true)
	b.PayOnPaymentPage(good.ID, true)
	b.Clock.Add(time.Minute)
	broken := b.BuildServices(func(p *servicetest.Deps) { p.Provider = panicky{b.Provider, b.LoadFeePayment(bad.ID).ID} })
	b.RequireJobCount(1, broken.Payments.CheckDuePayments)
	b.RequireStatus(good.ID, deposit.Active, "")
	b.RequireStatus(bad.ID, deposit.Pending, "")
	b.Clock.Add(time.Minute)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.RequireStatus(bad.ID, deposit.Active, "")
}

const (
	racers = 50
	rounds = 6
)

// partnerCancel gives the partner API's cancel, over the same database.
func (b bench) partnerCancel() func(depositID id.ID) error {
	return func(depositID id.ID) error {
		_, err := b.Deposits.Cancel(b.Ctx(), partner.Caller{Partner: partner.Partner{ID: b.PartnerID}},
			deposits.Cancellation{DepositID: depositID},
			idempotent.KeyAndEncoder[deposits.PartnerView]{
				Encode: func(deposits.PartnerView) (idempotent.Response, error) { return idempotent.Response{}, nil }})
		return err
	}
}

// race runs randomly chosen actions at once, racers of them, one of which is pay. An action may be refused because the
// deposit has left checkout, or answered with service_unavailable.
func (b bench) race(pay func() error, actions ...func() error) {
	b.T.Helper()
	start := make(chan struct{})
	errs := make([]error, racers)
	payer := rand.N(racers)
	var wg sync.WaitGroup
	for i := range racers {
		action := actions[rand.N(len(actions))]
		if i == payer {
			action = pay
		}
		wg.Go(func() {
			<-start
			errs[i] = action()
		})
	}
	close(start)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			require.Contains(b.T, []string{deposit.ErrNotCancellable.Code, fault.ErrUnavailable.Code},
				fault.FromError(err).Code, "%v", err)
		}
	}
}

// requireConsistent compares the deposit, its payments and the provider's records, and gives the deposit's status.
func (b bench) requireConsistent(depositID id.ID) deposit.Status {
	b.T.Helper()
	d := b.LoadDeposit(b.T, depositID)
	paid, late := 0, 0
	for _, p := range b.PaymentsOf(b.T, depositID, deposit.PaymentKindFee) {
		said, err := b.Sandbox.LookupPayment(b.Ctx(), p.ID)
		require.NoError(b.T, err)
		switch {
		case said.Status != paymentports.ProviderPaymentSucceeded:
		case said.PaidAt.Before(d.ContractEndAt):
			paid++
		default:
			late++
		}
		require.NotEqual(b.T, deposit.PaymentProcessing, p.Status)
		require.Equal(b.T, said.Status == paymentports.ProviderPaymentSucceeded, p.Status == deposit.PaymentSucceeded,
			"ours %s, theirs %s", p.Status, said.Status)
	}
	switch d.Status {
	case deposit.Active:
		require.Equal(b.T, 1, paid)
		require.Equal(b.T, []string{"deposit.activated"}, b.EventNames(b.T, depositID))
	case deposit.Cancelled:
		require.Zero(b.T, paid, "nobody pays for a cancelled deposit")
		require.Equal(b.T, []string{"deposit.cancelled"}, b.EventNames(b.T, depositID))
	default:
		require.Zero(b.T, paid)
		require.Empty(b.T, b.EventNames(b.T, depositID))
	}
	require.Len(b.T, b.orphans(depositID), late, "what was paid after the stay goes back")
	require.Equal(b.T, late, b.Count("refunds", "deposit_id = $1 AND amount_cents = 1750", depositID))
	return d.Status
}

// orphans gives the audit entries of payments that came too late to have their effect.
func (b bench) orphans(depositID id.ID) []string {
	b.T.Helper()
	var out []string
	for _, action := range b.AuditActions(b.T, depositID) {
		if action == "payment.orphaned" {
			out = append(out, action)
		}
	}
	return out
}

func TestPaying_RacingEveryWayToEnd_HasOneOutcome(t *testing.T) {
	b := setup(t)
	cancel := b.partnerCancel()
	seen := map[deposit.Status]int{}
	for range rounds {
		d, token := b.CreateDeposit(t)
		b.SubmitCheckoutForm(token, grace)
		b.race(
			func() error { return b.payLatest(d.ID) },
			func() error { _, err := b.Checkout.HandleReturn(b.Ctx(), token, true); return err },
			func() error {
				_, err := b.Checkout.Submit(b.Ctx(), token, grace, checkouttest.TenantAgreement)
				return err
			},
			func() error { return cancel(d.ID) },
			func() error { _, err := b.Checkout.Abandon(b.Ctx(), token); return err },
			func() error {
				_, err := b.Checkout.Submit(b.Ctx(), token, declined, checkouttest.TenantAgreement)
				return err
			},
		)
		b.ReturnFromPayment(token) // settles a payment that is still in flight
		seen[b.requireConsistent(d.ID)]++
	}
	t.Log("outcomes:", seen)
}

// The stay, and with it perhaps the checkout, ends while the tenant pays.
func TestPaying_RacingTheEndOfTheStayAndReconcilers_HasOneOutcome(t *testing.T) {
	b := setup(t)
	cancel := b.partnerCancel()
	for name, after := range map[string]time.Duration{"with the checkout": 0, "before the checkout": 23 * time.Hour} {
		seen := map[string]int{}
		for round := range rounds {
			d, token := b.CreateDeposit(t, func(d *deposit.Deposit) {
				d.ContractStartAt, d.ContractEndAt = b.Clock.Now(), b.Clock.Now().Add(time.Hour)
				d.CheckoutExpiresAt = d.ContractEndAt.Add(after)
			})
			b.SubmitCheckoutForm(token, grace)
			b.Clock.Set(d.ContractEndAt.Add(-time.Microsecond))
			b.race(
				func() error { return b.payLatest(d.ID) },
				func() error {
					if round%2 == 0 { // the tenant is mostly quicker; else the end is
						_, _ = b.Checkout.CheckoutView(b.Ctx(), token)
					}
					b.Clock.Set(d.ContractEndAt)
					return nil
				},
				func() error { _, err := b.Checkout.HandleReturn(b.Ctx(), token, true); return err },
				func() error { _, err := b.Timers.ExpireCheckouts(b.Ctx()); return err },
				func() error { _, err := b.Payments.CheckDuePayments(b.Ctx()); return err },
				func() error { return cancel(d.ID) },
			)
			b.Clock.Set(d.CheckoutExpiresAt)
			_, err := b.Timers.ExpireCheckouts(b.Ctx())
			require.NoError(t, err)
			status := b.requireConsistent(d.ID)
			require.NotEqual(t, deposit.Pending, status)
			seen[string(status)+strings.Join(b.orphans(d.ID), "")]++
		}
		t.Log("the stay ends", name, "- outcomes:", seen)
	}
}

// Another tab may begin the next payment between the close of a page and the end of the checkout.
func TestEnding_WhileAnotherPaymentBegins_WaitsForThatOneToo(t *testing.T) {
	b := setup(t)
	cancel := b.partnerCancel()
	ends := map[string]struct {
		end  func(token secret.Text, depositID id.ID) error
		late error
	}{
		"abandon": {func(token secret.Text, _ id.ID) error { _, err := b.Checkout.Abandon(b.Ctx(), token); return err }, nil},
		"refusal": {func(token secret.Text, _ id.ID) error {
			_, err := b.Checkout.Submit(b.Ctx(), token, declined, checkouttest.TenantAgreement)
			return err
		}, nil},
		"expiry": {func(_ secret.Text, depositID id.ID) error {
			_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, depositID, "expire")
			return err
		}, deposit.ErrNotCancellable},
		"cancel": {func(_ secret.Text, depositID id.ID) error { return cancel(depositID) }, deposit.ErrNotCancellable},
	}
	for name, way := range ends {
		d, token := b.CreateDeposit(t)
		b.SubmitCheckoutForm(token, grace)
		b.Provider.OnNextClose(func() {
			b.ReturnFromPayment(token)
			b.SubmitCheckoutForm(token, grace)
			b.PayOnPaymentPage(d.ID, true)
		})
		require.ErrorIs(t, way.end(token, d.ID), way.late, name)
		require.Equal(t, deposit.Active, b.requireConsistent(d.ID), name)
		require.Equal(t, []deposit.PaymentStatus{deposit.PaymentVoided, deposit.PaymentSucceeded}, b.FeeStatuses(d.ID), name)
	}
}

// payLatest pays on the page that was opened last.
func (b bench) payLatest(depositID id.ID) error {
	all, err := b.Postgres.Payments.Payments(context.WithoutCancel(b.T.Context()), depositID)
	if err != nil {
		return err
	}
	return b.Sandbox.SimulatePayment(b.Ctx(), all[len(all)-1].ID, true)
}
