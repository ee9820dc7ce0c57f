package deposits

import (
	"context"
	"time"

	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// CaptureRequest is a request to capture a deposit after damage.
type CaptureRequest struct {
	DepositID   id.ID
	Amount      *money.Cents // nil: the deposit's whole amount
	Reason      string
	Description string
}

// Capture captures an active deposit. The status changes at once. The collection from the tenant is a payment that the
// dispatcher makes afterwards (api.md §3).
//
// Returns deposit_not_found, deposit_access_denied, account_revoked, deposit_not_capturable, capture_exceeds_amount,
// invalid_field for an amount that is not positive, and the errors of idempotent.Executor.Run.
func (s *Service) Capture(ctx context.Context, by partner.Caller, in CaptureRequest, call idempotent.Call[View]) (idempotent.Response, error) {
	now := s.deps.Clock.Now()
	eventID := s.deps.Entropy.NewID()
	var step deposit.Transition
	response, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: call.Key,
		Now: now,
		Effect: func(ctx context.Context, repos ports.Repositories) (_ idempotent.Response, err error) {
			d, err := lock(ctx, repos, by, in.DepositID)
			if err != nil {
				return idempotent.Response{}, err
			}
			link, err := repos.Links.OfPartner(ctx, by.Partner.ID, d.AccountID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := activeLink(&link); err != nil {
				return idempotent.Response{}, err
			}
			if step, err = d.Capture(in.Amount, s.deps.Timers, now); err != nil {
				return idempotent.Response{}, err
			}
			act := partnerAct(by, map[string]string{"amount": d.CapturedAmount.String(), "reason": in.Reason, "description": in.Description})
			if err := lifecycle.Record(ctx, repos, d, step, act, eventID); err != nil {
				return idempotent.Response{}, err
			}
			if err := repos.Payments.Insert(ctx, s.newCollection(d, now)); err != nil {
				return idempotent.Response{}, err
			}
			return call.Encode(s.view(d, now))
		},
	})
	if err == nil && !response.Replayed {
		s.deps.Metrics.Transitioned(step.From, step.To, byPartner)
	}
	return response, err
}

// newCollection is the payment that collects the captured amount. The payment is due at once for the dispatcher.
func (s *Service) newCollection(d *deposit.Deposit, now time.Time) deposit.Payment {
	return deposit.Payment{
		ID: s.deps.Entropy.NewID(), DepositID: d.ID, Kind: deposit.Collection, Amount: d.CapturedAmount,
		Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: now,
	}
}
