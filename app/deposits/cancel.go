package deposits

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// errFeeInFlight rolls a cancellation back until the tenant's payment is settled.
var errFeeInFlight = errors.New("deposits: a fee payment is in flight")

// settleTries bounds how often a tenant may open a new payment page while we close the last page.
const settleTries = 3

// Cancellation is a request to void a deposit.
type Cancellation struct {
	DepositID id.ID
	Reason    string
	Comment   string
}

// Cancel voids a deposit that is not secured yet, also on a revoked link. A fee payment in flight is settled first: a
// tenant who paid before the payment page was closed has made the deposit active, and it stays active.
//
// Returns deposit_not_found, deposit_access_denied, deposit_not_cancellable, service_unavailable where the payment
// could not be settled, and what idempotent.Executor.Run returns.
func (s *Service) Cancel(ctx context.Context, by partner.Caller, in Cancellation, call idempotent.Call[View]) (idempotent.Response, error) {
	for range settleTries {
		c := &cancelling{Service: s, by: by, in: in, call: call, now: s.deps.Clock.Now(), eventID: s.deps.Entropy.NewID()}
		response, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
			Key: call.Key, Now: c.now, Needs: ports.Needs{Deposit: in.DepositID}, Decide: c.decide, Effect: c.effect,
		})
		if err == nil && !response.Replayed {
			s.deps.Metrics.Transitioned(c.step.From, c.step.To, byPartner)
		}
		if !errors.Is(err, errFeeInFlight) {
			return response, err
		}
		if err := s.deps.Settler.SettleFee(ctx, in.DepositID); err != nil {
			return idempotent.Response{}, err
		}
	}
	return idempotent.Response{}, fault.ErrUnavailable.Because(errFeeInFlight)
}

const byPartner = "partner"

// cancelling is a cancellation on its way.
type cancelling struct {
	*Service
	by      partner.Caller
	in      Cancellation
	call    idempotent.Call[View]
	now     time.Time
	eventID id.ID
	step    deposit.Transition // of the last run
}

// decide cancels a deposit whose checkout has not begun. A begun checkout may have a payment page open, which only a
// transaction can look for.
func (c *cancelling) decide(found ports.Found) (writes ports.Writes, response idempotent.Response, err error) {
	d := found.Deposit
	if err := changeable(d, c.by.Partner.ID); err != nil {
		return writes, response, err
	}
	if mayBePaying(d) {
		return writes, response, ports.ErrNeedsMore
	}
	return c.cancel(d)
}

// effect cancels a deposit, unless a fee payment is in flight.
func (c *cancelling) effect(ctx context.Context, repos ports.Repositories) (response idempotent.Response, err error) {
	d, err := lock(ctx, repos, c.by, c.in.DepositID)
	if err != nil {
		return response, err
	}
	if mayBePaying(d) {
		payment, err := repos.Payments.Processing(ctx, d.ID, deposit.FeePayment)
		if err != nil {
			return response, err
		}
		if payment != nil {
			return response, errFeeInFlight
		}
	}
	writes, response, err := c.cancel(d)
	if err != nil {
		return response, err
	}
	return response, lifecycle.Write(ctx, repos, writes)
}

func (c *cancelling) cancel(d *deposit.Deposit) (writes ports.Writes, response idempotent.Response, err error) {
	if c.step, err = d.Apply(deposit.CancelledByPartner, c.deps.Timers, c.now); err != nil {
		return writes, response, err
	}
	by := partnerAct(c.by, map[string]string{"reason": c.in.Reason, "comment": c.in.Comment})
	writes = lifecycle.Writes(d, c.step, by, c.eventID)
	response, err = c.call.Encode(c.view(d, c.now))
	return writes, response, err
}

// mayBePaying reports whether the tenant of d may have a payment page open: only where the checkout was begun.
func mayBePaying(d *deposit.Deposit) bool {
	return !d.CheckoutStartedAt.IsZero() && d.Status.InCheckout()
}

// lock gives a deposit that the partner may act on.
func lock(ctx context.Context, repos ports.Repositories, by partner.Caller, depositID id.ID) (*deposit.Deposit, error) {
	d, err := repos.Deposits.ForUpdate(ctx, depositID)
	if err != nil {
		return nil, err
	}
	return d, changeable(d, by.Partner.ID)
}
