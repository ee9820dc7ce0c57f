//go:build !unit

package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

// lastDay makes a deposit whose stay ends in half an hour, and whose checkout ends in 24 hours. Its tenant is on the
// provider's page.
func (b bench) lastDay() (*deposit.Deposit, secret.Text) {
	b.T.Helper()
	now := b.Clock.Now()
	d, token := b.CreateDeposit(b.T, func(d *deposit.Deposit) {
		d.ContractStartAt, d.ContractEndAt = now.Add(-7*day), now.Add(30*time.Minute)
		d.CheckoutExpiresAt = deposit.CheckoutExpiry(d.ContractEndAt, now)
	})
	b.SubmitCheckoutForm(token, grace)
	return d, token
}

// check runs the job that asks about payments.
func (b bench) check() {
	b.T.Helper()
	_, err := b.Payments.CheckDuePayments(b.Ctx())
	require.NoError(b.T, err)
}

// requireGivenBack requires that a fee paid after the stay is refunded whole and once, and that the deposit stays
// pending until its checkout expires.
func (b bench) requireGivenBack(d *deposit.Deposit, token secret.Text) {
	b.T.Helper()
	b.RequireStatus(d.ID, deposit.Pending, "")
	require.Equal(b.T, []string{"payment.orphaned"}, b.AuditActions(b.T, d.ID))
	require.Equal(b.T, deposit.PaymentSucceeded, b.LoadFeePayment(d.ID).Status)
	b.check()
	require.Equal(b.T, 1, b.Count("refunds", "deposit_id = $1", d.ID))
	require.Equal(b.T, 1, b.Count("refunds", "deposit_id = $1 AND status = 'succeeded' AND amount_cents = 1750", d.ID))
	require.Contains(b.T, b.mailTenants(), "We refunded €17.50")
	require.Empty(b.T, b.EventNames(b.T, d.ID))
	next := b.SubmitCheckoutForm(token, grace)
	require.Equal(b.T, []any{"", false, true}, []any{next.PageURL, next.View.Open, next.View.StayOver},
		"nobody pays twice")
	b.Clock.Set(d.CheckoutExpiresAt)
	_, err := b.Timers.ExpireCheckouts(b.Ctx())
	require.NoError(b.T, err)
	b.RequireStatus(d.ID, deposit.Cancelled, "checkout_expired")
	require.Equal(b.T, []string{"deposit.cancelled"}, b.EventNames(b.T, d.ID))
	require.Equal(b.T, 1, b.Count("refunds", "deposit_id = $1", d.ID))
}

func TestStayOver_AFeeCountsFromWhenItWasPaid_NotFromWhenItIsHeardOf(t *testing.T) {
	b := setup(t)
	comesBack := func(known bool) func(*deposit.Deposit, secret.Text) {
		return func(_ *deposit.Deposit, token secret.Text) {
			_, err := b.Checkout.HandleReturn(b.Ctx(), token, known)
			require.NoError(t, err)
		}
	}
	for name, hear := range map[string]func(*deposit.Deposit, secret.Text){
		"the tenant comes back":         comesBack(true),
		"somebody follows the way back": comesBack(false),
		"the dispatcher asks":           func(*deposit.Deposit, secret.Text) { b.check() },
		"the dispatcher asks a day later": func(*deposit.Deposit, secret.Text) {
			b.Clock.Add(22 * time.Hour)
			b.check()
		},
		"the provider was away": func(*deposit.Deposit, secret.Text) {
			b.Provider.SetUnreachable(true)
			b.check()
			b.Provider.SetUnreachable(false)
			b.Clock.Add(2 * time.Minute)
			b.check()
		},
		"the answer was lost": func(*deposit.Deposit, secret.Text) {
			b.Provider.SetAnswersLost(true)
			b.check()
			b.Provider.SetAnswersLost(false)
			b.Clock.Add(2 * time.Minute)
			b.check()
		},
		"another process asks": func(*deposit.Deposit, secret.Text) {
			_, err := b.BuildServices(func(*servicetest.Deps) {}).Payments.CheckDuePayments(b.Ctx())
			require.NoError(t, err)
		},
	} {
		for paid, inTime := range map[time.Duration]bool{
			-29 * time.Minute: true, -time.Microsecond: true, 0: false, time.Microsecond: false, 10 * time.Minute: false,
		} {
			t.Run(name+", paid at "+paid.String(), func(t *testing.T) {
				b := bench{checkouttest.Steps{Fixture: b.Fixture, T: t}}
				d, token := b.lastDay()
				b.Clock.Set(d.ContractEndAt.Add(paid))
				b.PayOnPaymentPage(d.ID, true)
				b.Clock.Set(d.ContractEndAt.Add(10 * time.Minute))
				hear(d, token)
				if !inTime {
					b.requireGivenBack(d, token)
					return
				}
				b.RequireStatus(d.ID, deposit.Active, "")
				require.Equal(t, []string{"deposit.activated"}, b.EventNames(t, d.ID))
				require.Zero(t, b.Count("refunds", "deposit_id = $1", d.ID))
			})
		}
	}
}

func TestStayOver_ThePageIsClosedAtItsEnd(t *testing.T) {
	b := setup(t)
	d, token := b.lastDay()
	fee := b.LoadFeePayment(d.ID).ID
	b.Clock.Set(d.ContractEndAt.Add(-time.Second))
	b.check()
	require.Equal(t, d.ContractEndAt, b.LoadFeePayment(d.ID).CheckAt)
	b.Clock.Set(d.ContractEndAt)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.PayOnPaymentPage(d.ID, true)
	said, err := b.Sandbox.LookupPayment(b.Ctx(), fee)
	require.NoError(t, err)
	require.Equal(t, paymentports.ProviderPaymentClosed, said.Status)
	require.Equal(t, deposit.PaymentVoided, b.LoadFeePayment(d.ID).Status)
	b.ReturnFromPayment(token)
	b.RequireStatus(d.ID, deposit.Pending, "")
	require.Empty(t, b.AuditActions(t, d.ID))
	b.Clock.Set(d.CheckoutExpiresAt)
	b.RequireJobCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(d.ID, deposit.Cancelled, "checkout_expired")
}

func TestStayOver_ACardRefusedLater_LeavesTheDeposit(t *testing.T) {
	b := setup(t)
	d, token := b.lastDay()
	b.Clock.Set(d.ContractEndAt)
	b.PayOnPaymentPage(d.ID, false)
	b.ReturnFromPayment(token)
	b.RequireStatus(d.ID, deposit.Pending, "")
	require.Equal(t, deposit.PaymentFailed, b.LoadFeePayment(d.ID).Status)
	require.Empty(t, b.AuditActions(t, d.ID))
}

// A partner that cancels after the stay, and a tenant who gives up, meet a fee that was paid too late.
func TestStayOver_EndedByAPerson_GivesBackALateFeeOnce(t *testing.T) {
	b := setup(t)
	cancel := b.partnerCancel()
	d, _ := b.lastDay()
	b.Clock.Set(d.ContractEndAt)
	b.PayOnPaymentPage(d.ID, true)
	require.NoError(t, cancel(d.ID))
	b.RequireStatus(d.ID, deposit.Cancelled, "by_partner")
	b.check()
	require.Equal(t, 1, b.Count("refunds", "deposit_id = $1 AND status = 'succeeded' AND amount_cents = 1750", d.ID))

	inTime, _ := b.lastDay()
	b.PayOnPaymentPage(inTime.ID, true)
	b.Clock.Set(inTime.ContractEndAt)
	require.ErrorIs(t, cancel(inTime.ID), deposit.ErrNotCancellable)
	b.RequireStatus(inTime.ID, deposit.Active, "")
}

func TestStayOver_TheProviderDoesNotTellTheTime_ThatOfHearingCounts(t *testing.T) {
	b := setup(t)
	for left, want := range map[time.Duration]deposit.Status{time.Microsecond: deposit.Active, 0: deposit.Pending} {
		d, token := b.lastDay()
		b.Clock.Set(d.ContractEndAt.Add(-left))
		b.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
			return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentSucceeded, Ref: "pi_1"}
		})
		b.ReturnFromPayment(token)
		b.Provider.OnLookupOrClose(nil)
		b.RequireStatus(d.ID, want, "")
	}
}

// slowSimulator is a provider whose payment ends after the test has moved the clock.
type slowSimulator struct {
	paymentports.PaymentSimulator
	wait func()
}

func (s slowSimulator) SimulatePayment(ctx context.Context, paymentID id.ID, succeeds bool) error {
	s.wait()
	return s.PaymentSimulator.SimulatePayment(ctx, paymentID, succeeds)
}

func TestSimulate_AfterTheStay_PaysNothing(t *testing.T) {
	b := setup(t)
	for outcome, want := range map[payments.SimulatedEvent]deposit.Status{
		"start": "", "activate": "", "fail_payment": "", "decline": deposit.Cancelled, "abandon": deposit.Cancelled,
		"expire": deposit.Cancelled,
	} {
		d, _ := b.lastDay()
		b.Clock.Set(d.ContractEndAt)
		_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, outcome)
		if want == "" {
			require.ErrorIs(t, err, deposit.ErrNotSecurable, outcome)
			want = deposit.Pending
		} else {
			require.NoError(t, err, outcome)
		}
		require.Equal(t, want, b.LoadDeposit(t, d.ID).Status, outcome)
	}
	d, token := b.lastDay()
	slow := b.BuildServices(func(p *servicetest.Deps) {
		p.Simulator = slowSimulator{p.Simulator, func() { b.Clock.Set(d.ContractEndAt) }}
	})
	_, err := slow.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, payments.SimulatedActivation)
	require.ErrorIs(t, err, deposit.ErrNotSecurable, "the stay ends while the payment is simulated")
	b.requireGivenBack(d, token)
}
