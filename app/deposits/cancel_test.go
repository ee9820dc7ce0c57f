//go:build !unit

package deposits_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/redis/redistest"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// fixture is the service with a deposit whose tenant has a payment page open. fixture implements Settler and the metrics.
type fixture struct {
	*deposits.Service
	t       *testing.T
	store   *postgres.Store
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

func (b *fixture) Transitioned(from, to deposit.Status, by string) {
	b.steps = append(b.steps, string(from)+">"+string(to)+" by "+by)
}

func setup(t *testing.T) *fixture {
	t.Helper()
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	e, clock := system.Entropy{}, system.Clock{}
	now := clock.Now()
	pool := pgtest.New(t)
	b := &fixture{t: t, store: postgres.NewStore(pool, cipher, postgres.Options{})}
	t.Cleanup(func() { b.store.Close(context.Background()) })
	client := redistest.New(t)
	breaker := redis.NewBreaker(client)
	t.Cleanup(breaker.Close)
	cache := redis.NewIdempotencyCache(client, breaker, cipher, slog.New(slog.DiscardHandler))
	b.Service = deposits.New(deposits.Deps{
		Idempotent: idempotent.New(idempotent.Deps{
			UnitOfWork: b.store, Changes: groupcommit.New(pool, cipher, groupcommit.Options{}), Cache: cache, Entropy: e, Count: func(idempotent.Result) {},
		}),
		Deposits: b.store, Settler: b, Metrics: b, Clock: clock, Entropy: e,
		Timers: deposit.DefaultTimers(), DashboardURL: "https://dashboard.test",
	})
	b.by = partner.Caller{Partner: partner.Partner{ID: e.NewID(), Slug: "acme", Name: "Acme", CreatedAt: now}, Key: partner.APIKey{ID: e.NewID()}}
	operator := connect.Operator{ID: e.NewID(), Email: "o@example.com", PasswordHash: "-", CreatedAt: now}
	account := connect.Account{ID: e.NewID(), OperatorID: operator.ID, CompanyName: "Hotel", CreatedAt: now}
	d := deposit.New(e.NewID(), "D-TEST-TEST", deposit.Origin{AccountID: account.ID, PartnerID: b.by.Partner.ID, ByPartnerAPI: true, ExternalID: "h"},
		deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now}, nil, now)
	b.deposit = d.ID
	b.within(func(ctx context.Context, repos ports.Repositories) error {
		d.CheckoutStartedAt = now
		return errors.Join(
			repos.Partners.Insert(ctx, b.by.Partner, ""), repos.Operators.Insert(ctx, operator, account),
			repos.Links.Insert(ctx, connect.Link{ID: e.NewID(), PartnerID: b.by.Partner.ID, AccountID: account.ID, ExternalID: "h", LinkedAt: now}),
			repos.Deposits.Insert(ctx, d, "token"),
			repos.Payments.Insert(ctx, deposit.Payment{ID: e.NewID(), DepositID: d.ID, Kind: deposit.FeePayment, Amount: 1750, Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: now}),
		)
	})
	return b
}

func (b *fixture) within(do func(context.Context, ports.Repositories) error) {
	b.t.Helper()
	require.NoError(b.t, b.store.WithinTx(b.t.Context(), do))
}

// payment settles the fee payment, as the settler does.
func (b *fixture) payment(status deposit.PaymentStatus) error {
	return b.store.WithinTx(b.t.Context(), func(ctx context.Context, repos ports.Repositories) error {
		p, err := repos.Payments.Processing(ctx, b.deposit, deposit.FeePayment)
		if err != nil {
			return err
		}
		p.Status, p.SettledAt = status, p.CreatedAt.Add(time.Second)
		return repos.Payments.Update(ctx, *p)
	})
}

func (b *fixture) cancel() error {
	key := &ports.IdempotencyKey{PartnerID: b.by.Partner.ID, Route: "cancel", Key: [16]byte{1}}
	_, err := b.Cancel(b.t.Context(), b.by, deposits.Cancellation{DepositID: b.deposit}, idempotent.Call[deposits.View]{
		Key: key, Encode: func(v deposits.View) (idempotent.Response, error) {
			return idempotent.Response{Status: 200, Body: []byte(v.Status)}, nil
		},
	})
	return err
}

func (b *fixture) status() deposit.Status {
	d, err := b.store.Deposit(b.t.Context(), b.deposit)
	require.NoError(b.t, err)
	return d.Status
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
		return b.store.WithinTx(t.Context(), func(ctx context.Context, repos ports.Repositories) error {
			d, err := repos.Deposits.ForUpdate(ctx, b.deposit)
			if err != nil {
				return err
			}
			step, err := d.Apply(deposit.Secured, deposit.DefaultTimers(), system.Clock{}.Now())
			if err != nil {
				return err
			}
			return repos.Deposits.Transition(ctx, d, step)
		})
	}
	require.ErrorIs(t, b.cancel(), deposit.ErrNotCancellable)
	require.Equal(t, deposit.Active, b.status())
}
