package payments

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/payments/internal/sqlc"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

func (r CollectionStore) LockDebt(ctx context.Context, paymentID id.ID) (deposit.Debt, error) {
	row, err := queries.LockDebt(ctx, pg.In(ctx), paymentID)
	return toDebt(row), pg.ReplaceErrNoRows(err, deposit.ErrNoCollection)
}

func toDebt(row sqlc.Collection) deposit.Debt { return deposit.Debt(row) }

// Save stores a collection and its history, whose primary key refuses a second entry with the same number.
func (r CollectionStore) Save(ctx context.Context, d deposit.Debt, steps ...deposit.CollectionTransition) error {
	err := queries.SaveDebt(ctx, pg.In(ctx).QueueingTx(), sqlc.SaveDebtParams{
		PaymentID: d.PaymentID, State: d.State, Transitions: d.Transitions, Attempt: d.Attempt, Answered: d.Answered,
		AttemptedAt: d.AttemptedAt, NextAttemptAt: d.NextAttemptAt, PageAt: d.PageAt, EndedAt: d.EndedAt,
		Failure: d.Failure, Barred: d.Barred, CancelAt: d.CancelAt, CancelBy: cancelBy(d.CancelBy),
		CancelAs: d.CancelAs, AskedAt: d.AskedAt,
	})
	for _, s := range steps {
		if err == nil {
			err = queries.InsertCollectionStep(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertCollectionStepParams(s))
		}
	}
	return err
}

// cancelBy returns the stored text for who ended a collection; the clock keeps its former text for older
// dispatchers.
func cancelBy(a actor.Actor) string {
	if a == actor.Clock {
		return actor.LegacyClockName
	}
	return a.String()
}

func (r CollectionStore) Debts(ctx context.Context, depositIDs []id.ID) (map[id.ID]deposit.Debt, error) {
	found := map[id.ID]deposit.Debt{}
	if len(depositIDs) == 0 {
		return found, nil
	}
	all, err := queries.DebtsOf(ctx, r.DB, depositIDs)
	// Collections come oldest first, so a deposit's newest one replaces its earlier ones.
	for _, d := range all {
		found[d.DepositID] = toDebt(d)
	}
	return found, err
}

func (r CollectionStore) ListCollections(ctx context.Context, f paymentports.CollectionFilter) ([]deposit.Debt, error) {
	if f.State == deposit.CollectionPaid {
		paid, err := queries.PaidDebts(ctx, r.DB, f.Limit)
		return pg.ConvertEach(paid, toDebt), err
	}
	states := deposit.CollectionStates
	if f.State != "" {
		states = []deposit.CollectionState{f.State}
	}
	var all []deposit.Debt
	for _, state := range states {
		if state == deposit.CollectionPaid {
			continue
		}
		some, err := queries.UnpaidDebts(ctx, r.DB, state, f.Limit)
		if err != nil {
			return nil, err
		}
		all = append(all, pg.ConvertEach(some, toDebt)...)
	}
	slices.SortStableFunc(all, func(a, b deposit.Debt) int { return a.CapturedAt.Compare(b.CapturedAt) })
	return all[:min(len(all), f.Limit)], nil
}

func (r CollectionStore) CollectionHistory(ctx context.Context, paymentID id.ID) ([]deposit.CollectionTransition,
	error) {
	rows, err := queries.CollectionHistory(ctx, r.DB, paymentID)
	return pg.ConvertEach(rows, func(row sqlc.CollectionStep) deposit.CollectionTransition {
		return deposit.CollectionTransition(row)
	}), err
}

// LockPayment locks and returns a payment with its earlier refunds, so that refunds are made one after the
// other.
func (r RefundStore) LockPayment(ctx context.Context,
	paymentID id.ID) (p deposit.Payment, earlier []deposit.Refund, err error) {
	row, err := queries.LockPayment(ctx, pg.In(ctx), paymentID)
	if err != nil {
		return p, nil, pg.ReplaceErrNoRows(err, deposit.ErrNoCollection)
	}
	refunds, err := queries.RefundsOfPayment(ctx, pg.In(ctx), paymentID)
	return toPayment(row), pg.ConvertEach(refunds, toRefund), err
}

func toRefund(row sqlc.Refund) deposit.Refund { return deposit.Refund(row) }

func (r RefundStore) Insert(ctx context.Context, f deposit.Refund) error {
	return queries.InsertRefund(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertRefundParams(f))
}

func (r RefundStore) Settle(ctx context.Context, f deposit.Refund) (ok bool, err error) {
	n, err := queries.SettleRefund(ctx, pg.In(ctx), sqlc.SettleRefundParams{
		ID: f.ID, Status: f.Status, ProviderRef: f.ProviderRef, Failure: f.Failure,
		CheckAt: f.CheckAt, SettledAt: f.SettledAt,
	})
	return n == 1, err
}

func (r RefundStore) Refunds(ctx context.Context, depositID id.ID) ([]deposit.Refund, error) {
	rows, err := queries.RefundsOfDeposit(ctx, r.DB, depositID)
	return pg.ConvertEach(rows, toRefund), err
}

func (r RefundStore) RefundsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Refund, error) {
	rows, err := queries.RefundsToCheck(ctx, r.DB, at.Add(checkPause), at, limit)
	slices.SortFunc(rows, func(a, b sqlc.Refund) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return pg.ConvertEach(rows, toRefund), err
}

func (r TenantNoticeStore) Add(ctx context.Context, n paymentports.TenantMailNotice) error {
	return queries.InsertTenantNotice(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertTenantNoticeParams(n))
}

// Take deletes a notice to a tenant and reports whether it was there, so that its mail is sent once.
func (r TenantNoticeStore) Take(ctx context.Context, n paymentports.TenantMailNotice) (ok bool, err error) {
	_, err = queries.TakeTenantNotice(ctx, pg.In(ctx), n.SubjectID, n.Kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (r TenantNoticeStore) TenantNoticesDue(ctx context.Context, limit int) ([]paymentports.TenantMailNotice, error) {
	rows, err := queries.TenantNoticesDue(ctx, r.DB, limit)
	return pg.ConvertEach(rows, func(row sqlc.TenantNotice) paymentports.TenantMailNotice {
		return paymentports.TenantMailNotice(row)
	}), err
}
