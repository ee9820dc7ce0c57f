//go:build !unit

package timers_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	"partnerdeposits/ports"
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

// brokenUnit makes the lock of chosen deposits fail.
type brokenUnit struct {
	ports.UnitOfWork
	breaks func(depositID id.ID) error
}

type brokenDeposits struct {
	ports.DepositRepository
	breaks func(depositID id.ID) error
}

func (u brokenUnit) WithinTx(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	return u.UnitOfWork.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
		r.Deposits = brokenDeposits{r.Deposits, u.breaks}
		return fn(ctx, r)
	})
}

func (d brokenDeposits) ForUpdate(ctx context.Context, depositID id.ID) (*deposit.Deposit, error) {
	if err := d.breaks(depositID); err != nil {
		return nil, err
	}
	return d.DepositRepository.ForUpdate(ctx, depositID)
}

func TestSchedulers_OneDepositInTrouble_StopsNobodyElse(t *testing.T) {
	b := checkouttest.Start(t)
	failing, _ := b.Deposit(t)
	panicking, _ := b.Deposit(t)
	fine, _ := b.Deposit(t)
	broken := brokenUnit{b.Postgres, func(depositID id.ID) error {
		switch depositID {
		case failing.ID:
			return errors.New("poisoned")
		case panicking.ID:
			panic("poisoned")
		}
		return nil
	}}
	service := b.Build(func(p *servicetest.Parts) { p.UnitOfWork = broken }).Timers
	b.Clock.Add(30 * 24 * time.Hour)
	b.RequireCount(1, service.ExpireCheckouts)
	b.RequireStatus(fine.ID, deposit.Cancelled, "checkout_expired")
	require.Contains(t, b.Log.String(), id.Deposit.Of(failing.ID))
	require.Contains(t, b.Log.String(), "panic: poisoned")
}

// due gives the expired checkouts that a test chooses, in place of Postgres.
type due struct{ ids []id.ID }

func (d due) IdleCheckouts(context.Context, time.Time, int) ([]id.ID, error) { return nil, nil }

func (d due) ElapsedCoverages(context.Context, time.Time, int) ([]id.ID, error) {
	return nil, fault.ErrUnavailable
}

func (d due) ExpiredCheckouts(_ context.Context, _ time.Time, limit int) ([]id.ID, error) {
	return d.ids[:min(limit, len(d.ids))], nil
}

func TestSchedulers_MoreTroubleThanABatch_HidesNothingBehindIt(t *testing.T) {
	b := checkouttest.Start(t)
	behind, _ := b.Deposit(t)
	hints := due{}
	for range 450 { // unknown deposits fail each time
		hints.ids = append(hints.ids, servicetest.NewID())
	}
	hints.ids = append(hints.ids, behind.ID)
	service := b.Build(func(p *servicetest.Parts) { p.Due = hints }).Timers
	b.Clock.Add(30 * 24 * time.Hour)
	b.RequireCount(1, service.ExpireCheckouts)
	b.RequireStatus(behind.ID, deposit.Cancelled, "checkout_expired")
}

func TestSchedulers_WithoutTheDatabase_SaySo(t *testing.T) {
	b := checkouttest.Start(t)
	service := b.Build(func(p *servicetest.Parts) { p.Due = due{} }).Timers
	_, err := service.CloseElapsed(b.Ctx())
	require.ErrorIs(t, err, fault.ErrUnavailable)
}
