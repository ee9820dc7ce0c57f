package checkout_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

const (
	racers = 50
	rounds = 6
)

// partnerCancel is the partner API's cancel over the same database.
func (b bench) partnerCancel() func(depositID id.ID) error {
	service := deposits.New(deposits.Deps{
		Keys: idempotent.New(b.Store, nil, system.Entropy{}, func(idempotent.Result) {}), Deposits: b.Store, Settler: b.Service,
		Metrics: b.Metrics, Clock: b.Clock, Entropy: system.Entropy{}, Timers: deposit.DefaultTimers(), DashboardURL: "http://dash.test",
	})
	return func(depositID id.ID) error {
		_, err := service.Cancel(b.ctx(), partner.Caller{Partner: partner.Partner{ID: b.PartnerID}}, deposits.Cancellation{DepositID: depositID},
			idempotent.Call[deposits.View]{Encode: func(deposits.View) (idempotent.Response, error) { return idempotent.Response{}, nil }})
		return err
	}
}

// race starts every deed at once, racers in all and one of them paying, and lets none fail but for being late or in the way.
func (b bench) race(pay func() error, deeds ...func() error) {
	b.t.Helper()
	start := make(chan struct{})
	errs := make([]error, racers)
	payer := rand.N(racers)
	var wg sync.WaitGroup
	for i := range racers {
		deed := deeds[rand.N(len(deeds))]
		if i == payer {
			deed = pay
		}
		wg.Go(func() {
			<-start
			errs[i] = deed()
		})
	}
	close(start)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			require.Contains(b.t, []string{deposit.ErrNotCancellable.Code, fault.ErrUnavailable.Code}, fault.Of(err).Code, "%v", err)
		}
	}
}

// requireConsistent compares the deposit, our payments and the provider's books.
func (b bench) requireConsistent(depositID id.ID) deposit.Status {
	b.t.Helper()
	d := b.Load(b.t, depositID)
	paid := 0
	for _, p := range b.Payments(b.t, depositID, deposit.FeePayment) {
		said, err := b.Sandbox.Lookup(b.ctx(), p.ID)
		require.NoError(b.t, err)
		if said.Status == ports.ProviderSucceeded {
			paid++
		}
		require.NotEqual(b.t, deposit.PaymentProcessing, p.Status)
		require.Equal(b.t, said.Status == ports.ProviderSucceeded, p.Status == deposit.PaymentSucceeded, "ours %s, theirs %s", p.Status, said.Status)
	}
	switch d.Status {
	case deposit.Active:
		require.Equal(b.t, 1, paid)
		require.Equal(b.t, []string{"deposit.activated"}, b.Events(b.t, depositID))
	case deposit.Cancelled:
		require.Zero(b.t, paid, "nobody pays for a cancelled deposit")
		require.Equal(b.t, []string{"deposit.cancelled"}, b.Events(b.t, depositID))
	default:
		require.Zero(b.t, paid)
		require.Empty(b.t, b.Events(b.t, depositID))
	}
	require.Empty(b.t, b.orphans(depositID))
	return d.Status
}

// orphans gives the payments that met a deposit out of checkout: there must never be one.
func (b bench) orphans(depositID id.ID) []string {
	b.t.Helper()
	var out []string
	for _, action := range b.Audit(b.t, depositID) {
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
		d, token := b.Deposit(t)
		b.submit(token, grace)
		b.race(
			func() error { return b.payLatest(d.ID) },
			func() error { _, err := b.Service.Return(b.ctx(), token); return err },
			func() error { _, err := b.Service.Submit(b.ctx(), token, grace); return err },
			func() error { return cancel(d.ID) },
			func() error { _, err := b.Service.Abandon(b.ctx(), token); return err },
			func() error { _, err := b.Service.Submit(b.ctx(), token, declined); return err },
		)
		b.comeBack(token) // whoever was last
		seen[b.requireConsistent(d.ID)]++
	}
	t.Log("outcomes:", seen)
}

func TestPaying_RacingExpiryAndReconcilers_HasOneOutcome(t *testing.T) {
	b := setup(t)
	cancel := b.partnerCancel()
	seen := map[deposit.Status]int{}
	for range rounds {
		d, token := b.Deposit(t, func(d *deposit.Deposit) { d.CheckoutExpiresAt = b.Clock.Now().Add(time.Hour) })
		b.submit(token, grace)
		b.Clock.Add(time.Hour)
		b.race(
			func() error { return b.payLatest(d.ID) },
			func() error { _, err := b.Service.Return(b.ctx(), token); return err },
			func() error { _, err := b.Service.ExpireCheckouts(b.ctx()); return err },
			func() error { _, err := b.Service.ReconcilePayments(b.ctx()); return err },
			func() error { return cancel(d.ID) },
		)
		_, err := b.Service.ExpireCheckouts(b.ctx())
		require.NoError(t, err)
		status := b.requireConsistent(d.ID)
		require.NotEqual(t, deposit.Pending, status)
		seen[status]++
	}
	t.Log("outcomes:", seen)
}

// Between the closing of one page and the end of the checkout another tab may begin the next payment.
func TestEnding_WhileAnotherPaymentBegins_WaitsForThatOneToo(t *testing.T) {
	b := setup(t)
	cancel := b.partnerCancel()
	ends := map[string]struct {
		end  func(token secret.Text, depositID id.ID) error
		late error
	}{
		"abandon": {func(token secret.Text, _ id.ID) error { _, err := b.Service.Abandon(b.ctx(), token); return err }, nil},
		"refusal": {func(token secret.Text, _ id.ID) error {
			_, err := b.Service.Submit(b.ctx(), token, declined)
			return err
		}, nil},
		"expiry": {func(_ secret.Text, depositID id.ID) error {
			_, err := b.Service.Simulate(b.ctx(), b.PartnerID, depositID, "expire")
			return err
		}, deposit.ErrNotCancellable},
		"cancel": {func(_ secret.Text, depositID id.ID) error { return cancel(depositID) }, deposit.ErrNotCancellable},
	}
	for name, way := range ends {
		d, token := b.Deposit(t)
		b.submit(token, grace)
		b.Provider.OnceClosed(func() {
			b.comeBack(token)
			b.submit(token, grace)
			b.pay(d.ID, true)
		})
		require.ErrorIs(t, way.end(token, d.ID), way.late, name)
		require.Equal(t, deposit.Active, b.requireConsistent(d.ID), name)
		require.Equal(t, []deposit.PaymentStatus{deposit.PaymentVoided, deposit.PaymentSucceeded}, b.statuses(d.ID), name)
	}
}

// payLatest is a tenant paying on whichever page was opened last.
func (b bench) payLatest(depositID id.ID) error {
	all, err := b.Store.Payments(context.WithoutCancel(b.t.Context()), depositID)
	if err != nil {
		return err
	}
	return b.Sandbox.SimulatePayment(b.ctx(), all[len(all)-1].ID, true)
}
