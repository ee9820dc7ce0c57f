package deposits

import (
	"context"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
)

type CaptureRequest struct {
	DepositID   id.ID
	Amount      *money.Cents // The amount to capture; nil for the deposit's whole amount.
	Reason      string
	Description string
	Files       FilesToAdd
}

// MinCapturableAmount returns the smallest capture: one cent, or the least amount that the provider charges.
func (s *Service) MinCapturableAmount() money.Cents { return max(s.deps.LeastCharge, 1) }

// Capture captures an active deposit; the dispatcher charges the tenant afterwards (api.md §3).
//
// Returns deposit_not_found, deposit_access_denied, account_revoked, deposit_not_capturable,
// capture_exceeds_amount, capture_below_minimum, invalid_field for an amount that is not positive, and the errors
// of idempotent.Executor.Run.
func (s *Service) Capture(ctx context.Context, by partner.Caller, in CaptureRequest,
	call idempotent.KeyAndEncoder[PartnerView]) (idempotent.Response, error) {
	return s.endCover(ctx, by, in.DepositID, call,
		func(ctx context.Context, e *ending) (step deposit.Transition, err error) {
			if step, err = e.Capture(in.Amount, s.deps.LeastCharge, s.deps.Timers, e.now); err != nil {
				return step, err
			}
			act := partnerAct(by,
				map[string]string{"amount": e.CapturedAmount.String(), "reason": in.Reason, "description": in.Description})
			if err := s.deps.Journal.RecordTransition(ctx, e.Deposit, step, act, e.eventID); err != nil {
				return step, err
			}
			debt, err := s.deps.Payments.BeginCollection(ctx, e.Deposit, e.now)
			e.debt = &debt
			return step, err
		})
}
