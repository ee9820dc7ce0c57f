package payments

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

var debtEnds = map[deposit.CollectionTrigger]audit.Action{
	deposit.CollectionTriggerSettledElsewhere: audit.CollectionSettledElsewhere,
	deposit.CollectionTriggerWithdrawn:        audit.CollectionWithdraw,
}

// RequestDebtEnd records, in a transaction, that an operator wants to end a collection; FinishDebtEnd must follow.
//
// Returns deposit.ErrCollectionOver, also for a deposit without a collection, or deposit.ErrCollectionEnding.
func (s *Service) RequestDebtEnd(ctx context.Context, depositID id.ID, as deposit.CollectionTrigger, by actor.Actor,
	now time.Time) error {
	_, err := s.decided(ctx, decision{depositID, by, debtEnds[as],
		func(ctx context.Context, debt *deposit.Debt, now time.Time) error {
			if err := debt.RequestEnd(as, by, now); err != nil {
				return err
			}
			return s.deps.Collections.Save(ctx, *debt)
		}, now})
	return err
}

// FinishDebtEnd closes a collection's payment at the provider and returns the debt, which the tenant may have paid
// meanwhile. Where the provider cannot be reached, the dispatcher completes the end.
//
// Returns deposit.ErrNoCollection.
func (s *Service) FinishDebtEnd(ctx context.Context, depositID id.ID) (deposit.Debt, error) {
	debt, err := s.FindDebt(ctx, depositID)
	switch {
	case err != nil:
		return deposit.Debt{}, err
	case debt == nil:
		return deposit.Debt{}, deposit.ErrNoCollection
	case debt.State.Final() || debt.CancelAt.IsZero():
		return *debt, nil
	}
	due := deposit.Payment{ID: debt.PaymentID, DepositID: depositID, Kind: deposit.PaymentKindCollection}
	s.carryOut(ctx, due, s.deps.Clock.Now())
	if debt, err = s.FindDebt(ctx, depositID); err != nil {
		return deposit.Debt{}, err
	}
	return *debt, nil
}

// RecordReminder records that the tenant is reminded, in the transaction that queues the mail.
//
// Returns deposit.ErrCollectionOver, also for a deposit without a collection, and the errors of
// deposit.Debt.RecordReminder.
func (s *Service) RecordReminder(ctx context.Context, depositID id.ID, now time.Time) error {
	current, err := s.deps.Payments.LockProcessing(ctx, depositID, deposit.PaymentKindCollection)
	if err != nil {
		return err
	}
	if current == nil {
		return errNoCollectionInFlight
	}
	debt, err := s.deps.Collections.LockDebt(ctx, current.ID)
	if err != nil {
		return err
	}
	if err := debt.RecordReminder(now); err != nil {
		return err
	}
	return s.deps.Collections.Save(ctx, debt)
}
