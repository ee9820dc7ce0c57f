package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

const MaxListedCollections = 1000

type ListedCollection struct {
	deposit.Debt
	Deposit *deposit.Deposit
}

type CollectionView struct {
	ListedCollection
	Payment deposit.Payment
	History []deposit.CollectionTransition
	Refunds []deposit.Refund // The refunds of all payments of the collection's deposit.
}

// ListCollections returns up to MaxListedCollections collections in a state, oldest capture first; "" selects all
// but paid.
func (s *Service) ListCollections(ctx context.Context, state deposit.CollectionState) ([]ListedCollection, error) {
	found, err := s.deps.Collections.ListCollections(ctx, paymentports.CollectionFilter{State: state,
		Limit: MaxListedCollections})
	if err != nil {
		return nil, err
	}
	all := make([]ListedCollection, len(found))
	for i, debt := range found {
		d, err := s.deps.Deposits.Deposit(ctx, debt.DepositID)
		if err != nil {
			return nil, err
		}
		all[i] = ListedCollection{Debt: debt, Deposit: d}
	}
	return all, nil
}

// ShowCollection returns a deposit's collection, or deposit_not_found or deposit.ErrNoCollection.
func (s *Service) ShowCollection(ctx context.Context, depositID id.ID) (shown CollectionView, err error) {
	if shown.Deposit, err = s.deps.Deposits.Deposit(ctx, depositID); err != nil {
		return shown, err
	}
	debt, err := s.FindDebt(ctx, depositID)
	if err != nil {
		return shown, err
	}
	if debt == nil {
		return shown, deposit.ErrNoCollection.WithMessage("Deposit %s has no collection: it is %s.", shown.Deposit.Reference,
			shown.Deposit.Status)
	}
	shown.Debt = *debt
	all, err := s.deps.Payments.Payments(ctx, depositID)
	if err != nil {
		return shown, err
	}
	for _, p := range all {
		if p.ID == debt.PaymentID {
			shown.Payment = p
		}
	}
	if shown.History, err = s.deps.Collections.CollectionHistory(ctx, debt.PaymentID); err != nil {
		return shown, err
	}
	shown.Refunds, err = s.deps.Refunds.Refunds(ctx, depositID)
	return shown, err
}

// RetryCollection charges a collection's card again at once, or leaves it to the dispatcher while the provider is
// unreachable.
//
// Returns the errors of ShowCollection, deposit.ErrCollectionOver and ErrCollectionNotRetryable.
func (s *Service) RetryCollection(ctx context.Context, depositID id.ID) (CollectionView, error) {
	return s.act(ctx, depositID, audit.CollectionRetry,
		func(ctx context.Context, debt *deposit.Debt, now time.Time) error {
			step, err := debt.ScheduleRetry(actor.Staff, now)
			if err != nil {
				return err
			}
			return s.deps.Collections.Save(ctx, *debt, step)
		})
}

// CancelCollection ends a collection after the provider ensures that nothing can be paid; a payment before then
// counts. The dispatcher completes the end if the provider is unreachable.
//
// Returns the errors of ShowCollection, and deposit.ErrCollectionOver.
func (s *Service) CancelCollection(ctx context.Context, depositID id.ID) (CollectionView, error) {
	return s.act(ctx, depositID, audit.CollectionCancel,
		func(ctx context.Context, debt *deposit.Debt, now time.Time) error {
			if debt.CancelAt.IsZero() {
				debt.CancelAt, debt.CancelBy = now, actor.Staff
			}
			return s.deps.Collections.Save(ctx, *debt)
		})
}

// act commits a decision of staff about a collection with its audit entry, and then makes the due step.
func (s *Service) act(ctx context.Context, depositID id.ID, verb audit.Action,
	decide func(context.Context, *deposit.Debt, time.Time) error,
) (CollectionView, error) {
	shown, err := s.ShowCollection(ctx, depositID)
	if err != nil {
		return shown, err
	}
	now := s.deps.Clock.Now()
	var due deposit.Payment
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		due, err = s.decided(ctx, decision{depositID, actor.Staff, verb, decide, now})
		return err
	})
	if errors.Is(err, errNoCollectionInFlight) {
		err = deposit.ErrCollectionOver.WithMessage("The collection is %s.", shown.State)
	}
	if err != nil {
		return shown, err
	}
	s.carryOut(ctx, due, now)
	return s.ShowCollection(ctx, depositID)
}

// decision is one of staff or an operator about a collection.
type decision struct {
	depositID id.ID
	by        actor.Actor
	verb      audit.Action
	decide    func(context.Context, *deposit.Debt, time.Time) error
	now       time.Time
}

// The error for a deposit with no collection, or one that is over.
var errNoCollectionInFlight = deposit.ErrCollectionOver.WithCause(errors.New("no collection is in flight"))

// decided applies a decision about a collection with its audit entry, and returns the payment whose step is due.
//
// Returns errNoCollectionInFlight, which is a deposit.ErrCollectionOver, and the errors of decide.
func (s *Service) decided(ctx context.Context, made decision) (due deposit.Payment, err error) {
	current, err := s.deps.Payments.LockProcessing(ctx, made.depositID, deposit.PaymentKindCollection)
	if err != nil {
		return due, err
	}
	if current == nil {
		return due, errNoCollectionInFlight
	}
	debt, err := s.deps.Collections.LockDebt(ctx, current.ID)
	if err != nil {
		return due, err
	}
	if err := made.decide(ctx, &debt, made.now); err != nil {
		return due, err
	}
	current.CheckAt = made.now
	entry := audit.NewEntry(s.deps.Entropy, made.now, made.by, made.verb, id.Deposit.Of(made.depositID), map[string]string{
		"payment": id.Payment.Of(current.ID), "amountCents": cents(current.Amount), "state": string(debt.State),
	})
	return *current, errors.Join(s.deps.Payments.Update(ctx, *current), s.deps.Audit.Append(ctx, entry))
}

// carryOut makes a collection's due step, or leaves it to the dispatcher while the provider is unreachable.
func (s *Service) carryOut(ctx context.Context, due deposit.Payment, now time.Time) {
	failpoint.Hit("payment.decision.committed")
	if _, err := s.checkCollection(ctx, due, now); err != nil {
		s.deps.Log.InfoContext(ctx, "collection left to the dispatcher", "payment", id.Payment.Of(due.ID), "error", err)
	}
}

// FindPaymentToRefund finds a payment by its id, or a collection by the id or reference of its deposit.
//
// Returns deposit_not_found and deposit.ErrNoCollection.
func (s *Service) FindPaymentToRefund(ctx context.Context, name string,
	find func(context.Context, string) (id.ID, error)) (id.ID, error) {
	if paymentID, ok := id.Payment.Parse(name); ok {
		return paymentID, nil
	}
	depositID, err := find(ctx, name)
	if err != nil {
		return id.ID{}, err
	}
	shown, err := s.ShowCollection(ctx, depositID)
	return shown.PaymentID, err
}
