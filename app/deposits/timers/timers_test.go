//go:build !unit

package timers_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

var grace = checkouttest.TenantGraceHopper

func TestMarkIdle_AfterHalfAnHourOfRest_MakesDepositsIncomplete(t *testing.T) {
	b := checkouttest.NewSteps(t)
	untouched, _ := b.CreateDeposit(t)
	rested, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.RequireJobCount(0, b.Timers.MarkIdleCheckouts)
	b.Clock.Add(29 * time.Minute)
	busy, busyToken := b.CreateDeposit(t)
	b.SubmitCheckoutForm(busyToken, grace)
	b.Clock.Add(time.Minute + time.Second)

	b.RequireJobCount(1, b.Timers.MarkIdleCheckouts)
	b.RequireStatus(rested.ID, deposit.Incomplete, "checkout_idle")
	b.RequireStatus(untouched.ID, deposit.Pending, "")
	b.RequireStatus(busy.ID, deposit.Pending, "")
	require.Equal(t, []string{"deposit.status_changed"}, b.EventNames(t, rested.ID))
	require.Equal(t, []string{"pending>incomplete scheduler"}, b.Metrics.Transitions())
	b.RequireJobCount(0, b.Timers.MarkIdleCheckouts)

	b.PayOnPaymentPage(rested.ID, true) // the page stayed open
	b.ReturnFromPayment(token)
	b.RequireStatus(rested.ID, deposit.Active, "")
}

func TestExpireCheckouts_CancelsWhatWasNotSecuredInTime(t *testing.T) {
	b := checkouttest.NewSteps(t)
	early, _ := b.CreateDeposit(t)
	late, _ := b.CreateDeposit(t, func(d *deposit.Deposit) { d.CheckoutExpiresAt = d.CheckoutExpiresAt.Add(time.Hour) })
	secured, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(secured.ID, true)
	b.ReturnFromPayment(token)

	b.Clock.Add(early.CheckoutExpiresAt.Sub(b.Clock.Now()) - time.Microsecond)
	b.RequireJobCount(0, b.Timers.ExpireCheckouts)
	b.Clock.Add(time.Microsecond)
	b.RequireJobCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(early.ID, deposit.Cancelled, "checkout_expired")
	b.RequireStatus(late.ID, deposit.Pending, "")
	b.RequireStatus(secured.ID, deposit.Active, "")
	require.Equal(t, []string{"deposit.cancelled"}, b.EventNames(t, early.ID))
}

func TestExpireCheckouts_WaitsForThePayment(t *testing.T) {
	b := checkouttest.NewSteps(t)
	left, leftToken := b.CreateDeposit(t)
	paid, paidToken := b.CreateDeposit(t)
	other, _ := b.CreateDeposit(t)
	b.SubmitCheckoutForm(leftToken, grace)
	b.SubmitCheckoutForm(paidToken, grace)
	b.PayOnPaymentPage(paid.ID, true)
	b.Clock.Add(left.CheckoutExpiresAt.Sub(b.Clock.Now()))

	b.Provider.SetUnreachable(true)
	b.RequireJobCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(other.ID, deposit.Cancelled, "checkout_expired")
	b.RequireStatus(left.ID, deposit.Pending, "")
	b.RequireStatus(paid.ID, deposit.Pending, "")

	b.Provider.SetUnreachable(false)
	b.RequireJobCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(left.ID, deposit.Cancelled, "checkout_expired")
	require.Equal(t, deposit.PaymentVoided, b.LoadFeePayment(left.ID).Status)
	b.RequireStatus(paid.ID, deposit.Active, "")
}

func TestCloseElapsed_ClosesAtTheEndOfCoverage(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	b.ReturnFromPayment(token)
	active := b.LoadDeposit(t, d.ID)
	b.Clock.Add(active.ExpiresAt.Sub(b.Clock.Now()) - time.Microsecond)
	b.RequireJobCount(0, b.Timers.CloseElapsedDeposits)
	b.Clock.Add(time.Microsecond)
	b.RequireJobCount(1, b.Timers.CloseElapsedDeposits)
	b.RequireStatus(d.ID, deposit.Closed, "coverage_elapsed")
	require.Equal(t, []string{"deposit.activated", "deposit.expired"}, b.EventNames(t, d.ID))
	b.RequireJobCount(0, b.Timers.CloseElapsedDeposits)
}

func TestSchedulers_InTwoDispatchers_MoveEachDepositOnce(t *testing.T) {
	b := checkouttest.NewSteps(t)
	const many = 30
	made := make([]id.ID, many)
	for i := range made {
		d, _ := b.CreateDeposit(t)
		made[i] = d.ID
	}
	b.Clock.Add(30 * 24 * time.Hour)
	counts := make([]int, 4)
	var wg sync.WaitGroup
	for i := range counts {
		wg.Go(func() { counts[i], _ = b.Timers.ExpireCheckouts(b.Ctx()) })
	}
	wg.Wait()
	require.Equal(t, many, counts[0]+counts[1]+counts[2]+counts[3])
	for _, depositID := range made {
		require.Len(t, b.EventNames(t, depositID), 1)
	}
}
