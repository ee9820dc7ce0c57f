package deposits

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// errFeeInFlight rolls a cancellation back because a fee payment is in flight; it is tried again once the payment
// is settled.
var errFeeInFlight = errors.New("deposits: a fee payment is in flight")

// settleTries limits how often a cancellation settles a fee payment while the tenant opens new payment pages.
const settleTries = 3

type Cancellation struct {
	DepositID id.ID
	Reason    string
	Comment   string
}

// Cancel cancels a deposit that is not secured yet, also on a revoked link. A fee payment in flight is settled
// first; if it succeeded, the deposit stays active.
//
// Returns deposit_not_found, deposit_access_denied, deposit_not_cancellable, service_unavailable if the payment
// could not be settled, and the errors of idempotent.Executor.Run.
func (s *Service) Cancel(ctx context.Context, by partner.Caller, in Cancellation,
	call idempotent.KeyAndEncoder[PartnerView]) (idempotent.Response, error) {
	for range settleTries {
		c := &cancelling{Service: s, by: by, in: in, call: call, now: s.deps.Clock.Now(), eventID: s.deps.Entropy.NewID()}
		response, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
			Key: call.Key, Now: c.now, Needs: ports.RowsToRead{Deposit: in.DepositID}, Decide: c.decide, Effect: c.effect,
		})
		if err == nil && !response.Replayed {
			s.deps.Metrics.CountTransition(c.step.From, c.step.To, actor.KindPartner)
		}
		if !errors.Is(err, errFeeInFlight) {
			return response, err
		}
		if err := s.deps.Payments.SettleFee(ctx, in.DepositID); err != nil {
			return idempotent.Response{}, err
		}
	}
	return idempotent.Response{}, fault.ErrUnavailable.WithCause(errFeeInFlight)
}

type cancelling struct {
	*Service
	by      partner.Caller
	in      Cancellation
	call    idempotent.KeyAndEncoder[PartnerView]
	now     time.Time
	eventID id.ID
	step    deposit.Transition
}

// decide cancels a deposit whose checkout has not begun, and returns an error for any other, which needs a
// transaction.
func (c *cancelling) decide(found ports.FoundRows) (writes ports.RowsToWrite, response idempotent.Response,
	err error) {
	d := found.Deposit
	if err := changeable(d, c.by.Partner.ID); err != nil {
		return writes, response, err
	}
	if d.MayBePaying() {
		return writes, response, ports.ErrNeedsMoreRows
	}
	return c.cancel(d)
}

// effect cancels a deposit, unless a fee payment is in flight.
func (c *cancelling) effect(ctx context.Context) (response idempotent.Response, err error) {
	d, err := c.lock(ctx, c.by, c.in.DepositID)
	if err != nil {
		return response, err
	}
	if err := c.noFeeInFlight(ctx, d); err != nil {
		return response, err
	}
	writes, response, err := c.cancel(d)
	if err != nil {
		return response, err
	}
	return response, c.deps.Journal.WriteTransitionRows(ctx, writes)
}

func (c *cancelling) cancel(d *deposit.Deposit) (writes ports.RowsToWrite, response idempotent.Response, err error) {
	if c.step, err = d.ApplyTrigger(deposit.TriggerCancelledByPartner, c.deps.Timers, c.now); err != nil {
		return writes, response, err
	}
	by := partnerAct(c.by, map[string]string{"reason": c.in.Reason, "comment": c.in.Comment})
	writes = lifecycle.BuildTransitionWrites(d, c.step, by, c.eventID)
	response, err = c.call.Encode(c.view(d, c.now))
	return writes, response, err
}

func (s *Service) noFeeInFlight(ctx context.Context, d *deposit.Deposit) error {
	if !d.MayBePaying() {
		return nil
	}
	payment, err := s.deps.Payments.LockFeeInFlight(ctx, d.ID)
	if err == nil && payment != nil {
		err = errFeeInFlight
	}
	return err
}

// lock locks a deposit of the partner, or returns deposit_not_found or deposit_access_denied.
func (s *Service) lock(ctx context.Context, by partner.Caller, depositID id.ID) (*deposit.Deposit, error) {
	d, err := s.deps.Deposits.LockRow(ctx, depositID)
	if err != nil {
		return nil, err
	}
	return d, changeable(d, by.Partner.ID)
}
