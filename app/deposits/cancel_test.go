//go:build !unit

package deposits_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/services"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// fixture is a kit with a deposit whose tenant has a payment page open. fixture settles instead of the payments, and
// implements the metrics.
type fixture struct {
	*servicetest.Kit
	services.PaymentService
	t       *testing.T
	by      partner.Caller
	deposit id.ID
	settle  func() error
	settled int
	steps   []string
}

func (b *fixture) SettleFee(context.Context, id.ID) error {
	b.settled++
	return b.settle()
}

func (b *fixture) CountTransition(from, to deposit.Status, by actor.Kind) {
	b.steps = append(b.steps, string(from)+">"+string(to)+" by "+string(by))
}

func (b *fixture) CountCreated(by string) { b.steps = append(b.steps, "created by "+by) }

func setup(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{t: t}
	b.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Redis = redistest.NewClientAsCloser(t)
		s.Parts = func(p *servicetest.Deps) {
			p.DepositMetrics = b
			p.AroundPayments = func(all services.PaymentService) services.PaymentService {
				b.PaymentService = all
				return b
			}
		}
	})
	now := b.Clock.Now()
	b.by, _ = b.CreateCaller("acme")
	accountID := b.CreateAccount("Hotel").ID
	b.LinkAccount(b.by.Partner.ID, accountID, "h")
	d, _ := b.CreateDeposit(
		deposit.Origin{AccountID: accountID, PartnerID: b.by.Partner.ID, ByPartnerAPI: true, ExternalID: "h"},
		deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now},
		func(d *deposit.Deposit) { d.CheckoutStartedAt = now })
	b.deposit = d.ID
	fee := deposit.Payment{ID: servicetest.NewID(), DepositID: d.ID, Kind: deposit.PaymentKindFee, Amount: 1750,
		Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: now}
	b.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error { return repos.Payments.Insert(ctx, fee) })
	return b
}

// payment settles the fee payment, as the settler does.
func (b *fixture) payment(status deposit.PaymentStatus) error {
	return b.Postgres.WithinTx(b.t.Context(), func(ctx context.Context) error {
		p, err := b.Postgres.Payments.LockProcessing(ctx, b.deposit, deposit.PaymentKindFee)
		if err != nil {
			return err
		}
		p.Status, p.SettledAt = status, p.CreatedAt.Add(time.Second)
		return b.Postgres.Payments.Update(ctx, *p)
	})
}

func (b *fixture) cancel() error {
	key := &ports.IdempotencyKey{Owner: b.by.Partner.ID, Route: "cancel", Key: [16]byte{1}}
	_, err := b.Deposits.Cancel(b.t.Context(), b.by, deposits.Cancellation{DepositID: b.deposit},
		idempotent.KeyAndEncoder[deposits.PartnerView]{
			Key: key, Encode: func(v deposits.PartnerView) (idempotent.Response, error) {
				return idempotent.Response{Code: 200, Body: []byte(v.Status)}, nil
			},
		})
	return err
}

func (b *fixture) status() deposit.Status {
	d, err := b.Postgres.Deposits.Deposit(b.t.Context(), b.deposit)
	require.NoError(b.t, err)
	return d.Status
}

func TestCreate_IsCountedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.Clock.Now()
	key := &ports.IdempotencyKey{Owner: b.by.Partner.ID, Route: "create", Key: [16]byte{2}}
	d, err := b.Postgres.Deposits.Deposit(t.Context(), b.deposit)
	require.NoError(t, err)
	in := deposits.NewDeposit{AccountID: d.AccountID,
		Draft: deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(time.Hour)}}
	for _, replayed := range []bool{false, true} {
		response, err := b.Deposits.Create(t.Context(), b.by, in, idempotent.KeyAndEncoder[deposits.PartnerView]{
			Key: key, Encode: func(v deposits.PartnerView) (idempotent.Response, error) {
				return idempotent.Response{Code: 201, Body: []byte(v.Status)}, nil
			},
		})
		require.NoError(t, err)
		require.Equal(t, replayed, response.Replayed)
		require.Equal(t, []string{"created by partner"}, b.steps)
	}
	in.Amount = 1
	_, err = b.Deposits.Create(t.Context(), b.by, in, idempotent.KeyAndEncoder[deposits.PartnerView]{})
	require.Error(t, err)
	require.Len(t, b.steps, 1)
}

func TestCancel_SettlesThePaymentFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.settle = func() error {
		require.Equal(t, deposit.Pending, b.status(), "nothing is cancelled while the tenant may still pay")
		return b.payment(deposit.PaymentVoided)
	}
	require.NoError(t, b.cancel())
	require.Equal(t, deposit.Cancelled, b.status())
	require.Equal(t, 1, b.settled)
	require.Equal(t, []string{"pending>cancelled by partner"}, b.steps)
	require.NoError(t, b.cancel(), "a replay")
	require.Len(t, b.steps, 1)
}

func TestCancelByOperator_SettlesThePaymentFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d, err := b.Postgres.Deposits.Deposit(t.Context(), b.deposit)
	require.NoError(t, err)
	account, operator, err := b.Postgres.Operators.AccountByID(t.Context(), d.AccountID)
	require.NoError(t, err)
	operator.VerifiedAt = b.Clock.Now()
	b.settle = func() error {
		require.Equal(t, deposit.Pending, b.status(), "nothing is cancelled while the tenant may still pay")
		return b.payment(deposit.PaymentVoided)
	}
	by := deposits.OperatorCaller{Operator: operator, Account: account}
	form := deposits.ActForm{DepositID: b.deposit, Version: d.Version, Key: [16]byte{3}}
	require.NoError(t, b.Deposits.CancelByOperator(t.Context(), by, form, ""))
	require.Equal(t, deposit.Cancelled, b.status())
	require.Equal(t, 1, b.settled)
}

func TestCancel_PaymentThatCannotBeSettled_IsAskedAgainLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.settle = func() error { return fault.ErrUnavailable }
	require.ErrorIs(t, b.cancel(), fault.ErrUnavailable)
	require.Equal(t, 1, b.settled)

	b.settle = func() error { return nil } // the tenant has opened another page each time
	require.ErrorIs(t, b.cancel(), fault.ErrUnavailable)
	require.Equal(t, 4, b.settled)
	require.Equal(t, deposit.Pending, b.status())
	require.Empty(t, b.steps)
}

func TestCancel_TenantWasQuicker_StaysActive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.settle = func() error {
		if err := b.payment(deposit.PaymentSucceeded); err != nil {
			return err
		}
		return b.Postgres.WithinTx(t.Context(), func(ctx context.Context) error {
			d, err := b.Postgres.Deposits.LockRow(ctx, b.deposit)
			if err != nil {
				return err
			}
			step, err := d.ApplyTrigger(deposit.TriggerSecured, deposit.DefaultTimerDurations(), b.Clock.Now())
			if err != nil {
				return err
			}
			return b.Postgres.Deposits.StoreTransition(ctx, d, step)
		})
	}
	require.ErrorIs(t, b.cancel(), deposit.ErrNotCancellable)
	require.Equal(t, deposit.Active, b.status())
}
