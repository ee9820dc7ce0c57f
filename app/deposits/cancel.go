package deposits

import (
	"context"
	"errors"

	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// errFeeUnderWay rolls a cancellation back until the tenant's payment is settled.
var errFeeUnderWay = errors.New("deposits: a fee payment is under way")

// settleTries is how often a tenant may open a new payment page while we close the last one.
const settleTries = 3

// Cancellation is a request to void a deposit.
type Cancellation struct {
	DepositID id.ID
	Reason    string
	Comment   string
}

// Cancel voids a deposit that is not secured yet. It works on a revoked link too. A fee payment under way is settled
// first: where the tenant was quicker, the deposit is active and stays so.
//
// Returns deposit_not_found, deposit_access_denied, deposit_not_cancellable, service_unavailable where the payment
// could not be settled, and what idempotent.Keys.Do returns.
func (s *Service) Cancel(ctx context.Context, by partner.Caller, in Cancellation, call idempotent.Call[View]) (idempotent.Response, error) {
	for range settleTries {
		response, err := s.cancelOnce(ctx, by, in, call)
		if !errors.Is(err, errFeeUnderWay) {
			return response, err
		}
		if err := s.d.Settler.SettleFee(ctx, in.DepositID); err != nil {
			return idempotent.Response{}, err
		}
	}
	return idempotent.Response{}, fault.ErrUnavailable.Because(errFeeUnderWay)
}

func (s *Service) cancelOnce(ctx context.Context, by partner.Caller, in Cancellation, call idempotent.Call[View]) (idempotent.Response, error) {
	now := s.d.Clock.Now()
	eventID := s.d.Entropy.NewID()
	var step deposit.Transition
	response, err := s.d.Keys.Do(ctx, idempotent.Job{
		Key:     call.Key,
		Now:     now,
		Grouped: true,
		Effect: func(ctx context.Context, repos ports.Repositories) (_ idempotent.Response, err error) {
			d, err := s.lock(ctx, repos, by, in.DepositID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := feeSettled(ctx, repos, d); err != nil {
				return idempotent.Response{}, err
			}
			said := saying(by, map[string]string{"reason": in.Reason, "comment": in.Comment})
			if step, err = lifecycle.Move(ctx, repos, d, deposit.CancelledByPartner, s.d.Timers, said, eventID, now); err != nil {
				return idempotent.Response{}, err
			}
			return call.Encode(s.view(d, now))
		},
	})
	if err == nil && !response.Replayed {
		s.d.Metrics.Transitioned(step.From, step.To, byPartner)
	}
	return response, err
}

const byPartner = "partner"

// lock gives a deposit that the caller may act on.
func (s *Service) lock(ctx context.Context, repos ports.Repositories, by partner.Caller, depositID id.ID) (*deposit.Deposit, error) {
	d, err := repos.Deposits.ForUpdate(ctx, depositID)
	if err != nil {
		return nil, err
	}
	return d, changeable(d, by.Partner.ID)
}

// feeSettled makes sure that no page is open on which the tenant could still pay. Only a deposit whose checkout was
// begun can have one.
func feeSettled(ctx context.Context, repos ports.Repositories, d *deposit.Deposit) error {
	if d.CheckoutStartedAt.IsZero() || !d.Status.InCheckout() {
		return nil
	}
	payment, err := repos.Payments.UnderWay(ctx, d.ID, deposit.FeePayment)
	if err != nil {
		return err
	}
	if payment != nil {
		return errFeeUnderWay
	}
	return nil
}
