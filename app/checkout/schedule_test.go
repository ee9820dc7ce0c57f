package checkout_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/checkout"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

func requireMoved(t *testing.T, want int, do func(context.Context) (int, error)) {
	t.Helper()
	got, err := do(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestMarkIdle_AfterHalfAnHourOfRest_MakesDepositsIncomplete(t *testing.T) {
	b := setup(t)
	untouched, _ := b.Deposit(t)
	rested, token := b.Deposit(t)
	b.submit(token, grace)
	requireMoved(t, 0, b.Service.MarkIdle)
	b.Clock.Add(29 * time.Minute)
	busy, busyToken := b.Deposit(t)
	b.submit(busyToken, grace)
	b.Clock.Add(time.Minute + time.Second)

	requireMoved(t, 1, b.Service.MarkIdle)
	b.requireStatus(rested.ID, deposit.Incomplete, "checkout_idle")
	b.requireStatus(untouched.ID, deposit.Pending, "")
	b.requireStatus(busy.ID, deposit.Pending, "")
	require.Equal(t, []string{"deposit.status_changed"}, b.Events(t, rested.ID))
	require.Equal(t, []string{"pending>incomplete scheduler"}, b.Metrics.Steps())
	requireMoved(t, 0, b.Service.MarkIdle)

	b.pay(rested.ID, true) // the page stayed open
	b.comeBack(token)
	b.requireStatus(rested.ID, deposit.Active, "")
}

func TestExpireCheckouts_CancelsWhatWasNotSecuredInTime(t *testing.T) {
	b := setup(t)
	early, _ := b.Deposit(t)
	late, _ := b.Deposit(t, func(d *deposit.Deposit) { d.CheckoutExpiresAt = d.CheckoutExpiresAt.Add(time.Hour) })
	secured, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(secured.ID, true)
	b.comeBack(token)

	b.Clock.Add(early.CheckoutExpiresAt.Sub(b.Clock.Now()) - time.Microsecond)
	requireMoved(t, 0, b.Service.ExpireCheckouts)
	b.Clock.Add(time.Microsecond)
	requireMoved(t, 1, b.Service.ExpireCheckouts)
	b.requireStatus(early.ID, deposit.Cancelled, "checkout_expired")
	b.requireStatus(late.ID, deposit.Pending, "")
	b.requireStatus(secured.ID, deposit.Active, "")
	require.Equal(t, []string{"deposit.cancelled"}, b.Events(t, early.ID))
}

func TestExpireCheckouts_WaitsForThePayment(t *testing.T) {
	b := setup(t)
	left, leftToken := b.Deposit(t)
	paid, paidToken := b.Deposit(t)
	other, _ := b.Deposit(t)
	b.submit(leftToken, grace)
	b.submit(paidToken, grace)
	b.pay(paid.ID, true)
	b.Clock.Add(left.CheckoutExpiresAt.Sub(b.Clock.Now()))

	b.Provider.Away(true)
	requireMoved(t, 1, b.Service.ExpireCheckouts)
	b.requireStatus(other.ID, deposit.Cancelled, "checkout_expired")
	b.requireStatus(left.ID, deposit.Pending, "")
	b.requireStatus(paid.ID, deposit.Pending, "")

	b.Provider.Away(false)
	requireMoved(t, 1, b.Service.ExpireCheckouts)
	b.requireStatus(left.ID, deposit.Cancelled, "checkout_expired")
	require.Equal(t, deposit.PaymentVoided, b.fee(left.ID).Status)
	b.requireStatus(paid.ID, deposit.Active, "")
}

func TestCloseElapsed_ClosesAtTheEndOfCoverage(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, true)
	b.comeBack(token)
	active := b.Load(t, d.ID)
	b.Clock.Add(active.ExpiresAt.Sub(b.Clock.Now()) - time.Microsecond)
	requireMoved(t, 0, b.Service.CloseElapsed)
	b.Clock.Add(time.Microsecond)
	requireMoved(t, 1, b.Service.CloseElapsed)
	b.requireStatus(d.ID, deposit.Closed, "coverage_elapsed")
	require.Equal(t, []string{"deposit.activated", "deposit.expired"}, b.Events(t, d.ID))
	requireMoved(t, 0, b.Service.CloseElapsed)
}

func TestSchedulers_InTwoDispatchers_MoveEachDepositOnce(t *testing.T) {
	b := setup(t)
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
		wg.Go(func() { counts[i], _ = b.Service.ExpireCheckouts(b.ctx()) })
	}
	wg.Wait()
	require.Equal(t, many, counts[0]+counts[1]+counts[2]+counts[3])
	for _, depositID := range made {
		require.Len(t, b.Events(t, depositID), 1)
	}
}

// brokenUnit breaks the transactions of chosen deposits.
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
	b := setup(t)
	failing, _ := b.Deposit(t)
	panicking, _ := b.Deposit(t)
	fine, _ := b.Deposit(t)
	deps := b.Deps
	deps.UnitOfWork = brokenUnit{b.Store, func(depositID id.ID) error {
		switch depositID {
		case failing.ID:
			return errors.New("poisoned")
		case panicking.ID:
			panic("poisoned")
		}
		return nil
	}}
	service := checkout.New(b.Config, deps)
	b.Clock.Add(30 * 24 * time.Hour)
	requireMoved(t, 1, service.ExpireCheckouts)
	b.requireStatus(fine.ID, deposit.Cancelled, "checkout_expired")
	require.Contains(t, b.Log.String(), id.Deposit.Of(failing.ID))
	require.Contains(t, b.Log.String(), "panic: poisoned")
}

// due hands out what a test says, as if it were the database.
type due struct{ ids []id.ID }

func (d due) IdleCheckouts(context.Context, time.Time, int) ([]id.ID, error) { return nil, nil }

func (d due) ElapsedCoverages(context.Context, time.Time, int) ([]id.ID, error) {
	return nil, fault.ErrUnavailable
}

func (d due) ExpiredCheckouts(_ context.Context, _ time.Time, limit int) ([]id.ID, error) {
	return d.ids[:min(limit, len(d.ids))], nil
}

func TestSchedulers_MoreTroubleThanABatch_HidesNothingBehindIt(t *testing.T) {
	b := setup(t)
	behind, _ := b.Deposit(t)
	hints := due{}
	for range 450 { // unknown deposits fail each time
		hints.ids = append(hints.ids, b.Deps.Entropy.NewID())
	}
	hints.ids = append(hints.ids, behind.ID)
	deps := b.Deps
	deps.Due = hints
	service := checkout.New(b.Config, deps)
	b.Clock.Add(30 * 24 * time.Hour)
	requireMoved(t, 1, service.ExpireCheckouts)
	b.requireStatus(behind.ID, deposit.Cancelled, "checkout_expired")
}

func TestSchedulers_WithoutTheDatabase_SaySo(t *testing.T) {
	b := setup(t)
	deps := b.Deps
	deps.Due = due{}
	_, err := checkout.New(b.Config, deps).CloseElapsed(b.ctx())
	require.ErrorIs(t, err, fault.ErrUnavailable)
}
