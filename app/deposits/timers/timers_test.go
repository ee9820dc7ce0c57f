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

func TestMain(m *testing.M) { servicetest.Main(m) }

var grace = checkouttest.Grace

func TestMarkIdle_AfterHalfAnHourOfRest_MakesDepositsIncomplete(t *testing.T) {
	b := checkouttest.Start(t)
	untouched, _ := b.Deposit(t)
	rested, token := b.Deposit(t)
	b.Submit(token, grace)
	b.RequireCount(0, b.Timers.MarkIdle)
	b.Clock.Add(29 * time.Minute)
	busy, busyToken := b.Deposit(t)
	b.Submit(busyToken, grace)
	b.Clock.Add(time.Minute + time.Second)

	b.RequireCount(1, b.Timers.MarkIdle)
	b.RequireStatus(rested.ID, deposit.Incomplete, "checkout_idle")
	b.RequireStatus(untouched.ID, deposit.Pending, "")
	b.RequireStatus(busy.ID, deposit.Pending, "")
	require.Equal(t, []string{"deposit.status_changed"}, b.Events(t, rested.ID))
	require.Equal(t, []string{"pending>incomplete scheduler"}, b.Metrics.Steps())
	b.RequireCount(0, b.Timers.MarkIdle)

	b.Pay(rested.ID, true) // the page stayed open
	b.Return(token)
	b.RequireStatus(rested.ID, deposit.Active, "")
}

func TestExpireCheckouts_CancelsWhatWasNotSecuredInTime(t *testing.T) {
	b := checkouttest.Start(t)
	early, _ := b.Deposit(t)
	late, _ := b.Deposit(t, func(d *deposit.Deposit) { d.CheckoutExpiresAt = d.CheckoutExpiresAt.Add(time.Hour) })
	secured, token := b.Deposit(t)
	b.Submit(token, grace)
	b.Pay(secured.ID, true)
	b.Return(token)

	b.Clock.Add(early.CheckoutExpiresAt.Sub(b.Clock.Now()) - time.Microsecond)
	b.RequireCount(0, b.Timers.ExpireCheckouts)
	b.Clock.Add(time.Microsecond)
	b.RequireCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(early.ID, deposit.Cancelled, "checkout_expired")
	b.RequireStatus(late.ID, deposit.Pending, "")
	b.RequireStatus(secured.ID, deposit.Active, "")
	require.Equal(t, []string{"deposit.cancelled"}, b.Events(t, early.ID))
}

func TestExpireCheckouts_WaitsForThePayment(t *testing.T) {
	b := checkouttest.Start(t)
	left, leftToken := b.Deposit(t)
	paid, paidToken := b.Deposit(t)
	other, _ := b.Deposit(t)
	b.Submit(leftToken, grace)
	b.Submit(paidToken, grace)
	b.Pay(paid.ID, true)
	b.Clock.Add(left.CheckoutExpiresAt.Sub(b.Clock.Now()))

	b.Provider.Away(true)
	b.RequireCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(other.ID, deposit.Cancelled, "checkout_expired")
	b.RequireStatus(left.ID, deposit.Pending, "")
	b.RequireStatus(paid.ID, deposit.Pending, "")

	b.Provider.Away(false)
	b.RequireCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(left.ID, deposit.Cancelled, "checkout_expired")
	require.Equal(t, deposit.PaymentVoided, b.Fee(left.ID).Status)
	b.RequireStatus(paid.ID, deposit.Active, "")
}

func TestCloseElapsed_ClosesAtTheEndOfCoverage(t *testing.T) {
	b := checkouttest.Start(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	b.Pay(d.ID, true)
	b.Return(token)
	active := b.Load(t, d.ID)
	b.Clock.Add(active.ExpiresAt.Sub(b.Clock.Now()) - time.Microsecond)
	b.RequireCount(0, b.Timers.CloseElapsed)
	b.Clock.Add(time.Microsecond)
	b.RequireCount(1, b.Timers.CloseElapsed)
	b.RequireStatus(d.ID, deposit.Closed, "coverage_elapsed")
	require.Equal(t, []string{"deposit.activated", "deposit.expired"}, b.Events(t, d.ID))
	b.RequireCount(0, b.Timers.CloseElapsed)
}

func TestSchedulers_InTwoDispatchers_MoveEachDepositOnce(t *testing.T) {
	b := checkouttest.Start(t)
	const many = 30
	made := make([]id.ID, many)
	for i := range made {
		d, _ := b.Deposit(t)
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
		require.Len(t, b.Events(t, depositID), 1)
	}
}
