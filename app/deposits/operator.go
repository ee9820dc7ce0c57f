package deposits

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// TwoFactorProof confirms an operator's act: a two-factor code, and the browser's network.
type TwoFactorProof struct{ Code, Network string }

// CaptureByOperator captures an active deposit of the operator's account, whichever partner created it. It uses up
// a code if two-factor codes are on.
//
// Returns connect.ErrEmailUnverified, deposit_not_found, ErrChanged, deposit_not_capturable,
// capture_exceeds_amount, capture_below_minimum, invalid_field for an amount that is not positive,
// twofactor.ErrWrongCode, ErrTooManyCodes, and the errors of idempotent.Executor.Run.
func (s *Service) CaptureByOperator(ctx context.Context, by OperatorCaller, form ActForm, in CaptureRequest,
	proof TwoFactorProof) error {
	if err := s.verified(by, ActCapture); err != nil {
		return err
	}
	on, err := s.deps.Codes.Enabled(ctx, by.Operator.ID)
	if err != nil {
		return err
	}
	// The transaction checks again whether two-factor codes are on.
	if !on {
		return s.capture(ctx, by, form, in, proof)
	}
	return s.deps.Codes.LimitTries(ctx, by.Operator, signin.Browser{Network: proof.Network}, s.deps.Clock.Now(),
		func() error {
			return s.capture(ctx, by, form, in, proof)
		})
}

func (s *Service) capture(ctx context.Context, by OperatorCaller, form ActForm, in CaptureRequest,
	proof TwoFactorProof) error {
	amount := ""
	if in.Amount != nil {
		amount = in.Amount.String()
	}
	return s.transitionByOperator(ctx, by, form,
		append([]string{string(ActCapture), amount, in.Reason, in.Description}, fileNames(in.Files.IDs)...),
		func(ctx context.Context, d *deposit.Deposit, now time.Time) (deposit.Transition, error) {
			step, err := d.Capture(in.Amount, s.deps.LeastCharge, s.deps.Timers, now)
			if err != nil {
				return step, err
			}
			if _, err := s.deps.Codes.Accept(ctx, by.Operator, proof.Code, now); err != nil {
				return step, err
			}
			act := by.act(
				map[string]string{"amount": d.CapturedAmount.String(), "reason": in.Reason, "description": in.Description})
			if err := s.deps.Journal.RecordTransition(ctx, d, step, act, s.deps.Entropy.NewID()); err != nil {
				return step, err
			}
			if err := s.addFiles(ctx, by, d, in.Files, now); err != nil {
				return step, err
			}
			_, err = s.deps.Payments.BeginCollection(ctx, d, now)
			return step, err
		})
}

// ReleaseByOperator closes an active deposit of the operator's account without a claim.
//
// Returns deposit_not_found, ErrChanged, deposit_not_releasable, and the errors of idempotent.Executor.Run.
func (s *Service) ReleaseByOperator(ctx context.Context, by OperatorCaller, form ActForm, comment string) error {
	return s.transitionByOperator(ctx, by, form, []string{string(ActRelease), comment},
		func(ctx context.Context, d *deposit.Deposit, now time.Time) (deposit.Transition, error) {
			return s.deps.Journal.ApplyTrigger(ctx, d, deposit.TriggerReleased, s.deps.Timers,
				by.act(map[string]string{"comment": comment}),
				s.deps.Entropy.NewID(), now)
		})
}

// CancelByOperator cancels a deposit of the account that is not secured yet. A fee payment in flight is settled
// first; if it succeeded, nothing is cancelled.
//
// Returns deposit_not_found, ErrChanged, deposit_not_cancellable, service_unavailable if the payment could not be
// settled, and the errors of idempotent.Executor.Run.
func (s *Service) CancelByOperator(ctx context.Context, by OperatorCaller, form ActForm, comment string) error {
	for range settleTries {
		err := s.transitionByOperator(ctx, by, form, []string{string(ActCancel), comment},
			func(ctx context.Context, d *deposit.Deposit, now time.Time) (deposit.Transition, error) {
				if err := s.noFeeInFlight(ctx, d); err != nil {
					return deposit.Transition{}, err
				}
				act := by.act(map[string]string{"comment": comment})
				return s.deps.Journal.ApplyTrigger(ctx, d, deposit.TriggerCancelledByOperator, s.deps.Timers, act,
					s.deps.Entropy.NewID(), now)
			})
		if !errors.Is(err, errFeeInFlight) {
			return err
		}
		if err := s.deps.Payments.SettleFee(ctx, form.DepositID); err != nil {
			return err
		}
	}
	return fault.ErrUnavailable.WithCause(errFeeInFlight)
}

// transitionByOperator makes a transition of the account's deposit, once for each form. what is the content of the
// form, for its fingerprint.
func (s *Service) transitionByOperator(ctx context.Context, by OperatorCaller, form ActForm, what []string,
	move func(context.Context, *deposit.Deposit, time.Time) (deposit.Transition, error),
) error {
	now := s.deps.Clock.Now()
	var step deposit.Transition
	response, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: formKey(by, form.Key, append([]string{id.Deposit.Of(form.DepositID)}, what...)),
		Now: now,
		Effect: func(ctx context.Context) (_ idempotent.Response, err error) {
			d, err := s.lockOwned(ctx, by, form.DepositID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := form.unchanged(d); err != nil {
				return idempotent.Response{}, err
			}
			if step, err = move(ctx, d, now); err != nil {
				return idempotent.Response{}, err
			}
			return formResponse(d.ID), nil
		},
	})
	if err == nil && !response.Replayed {
		s.deps.Metrics.CountTransition(step.From, step.To, actor.KindOperator)
	}
	return err
}
