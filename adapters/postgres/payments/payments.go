package payments

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/payments/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// checkPause delays the next check of a payment, so that two dispatchers do not query the provider about it at
// once.
const checkPause = time.Minute

func (r PaymentStore) Insert(ctx context.Context, p deposit.Payment) error {
	return pg.RequireRowChanged(paymentports.ErrPaymentExists)(queries.InsertPayment(ctx, pg.In(ctx),
		sqlc.InsertPaymentParams{
			ID: p.ID, DepositID: p.DepositID, Kind: p.Kind, Amount: int64(p.Amount), Status: string(p.Status),
			ProviderRef: p.ProviderRef, Failure: p.Failure, Attempts: p.Attempts,
			CreatedAt: p.CreatedAt, CheckAt: p.CheckAt, SettledAt: p.SettledAt,
		}))
}

func (r PaymentStore) LockProcessing(ctx context.Context, depositID id.ID, kind deposit.PaymentKind) (*deposit.Payment,
	error) {
	row, err := queries.ProcessingPayment(ctx, pg.In(ctx), depositID, kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil // A deposit without a payment in progress is no error; the result is nil.
	}
	if err != nil {
		return nil, err
	}
	p := toPayment(row)
	return &p, nil
}

func (r PaymentStore) Update(ctx context.Context, p deposit.Payment) error {
	return queries.UpdatePayment(ctx, pg.In(ctx).QueueingTx(), sqlc.UpdatePaymentParams{
		Status: p.Status, ProviderRef: p.ProviderRef, Failure: p.Failure, Attempts: p.Attempts,
		CheckAt: p.CheckAt, SettledAt: p.SettledAt, ID: p.ID,
	})
}

func (r PaymentStore) PaymentsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Payment, error) {
	rows, err := queries.PaymentsToCheck(ctx, r.DB, at.Add(checkPause), at, limit)
	slices.SortFunc(rows, func(a, b sqlc.Payment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return pg.ConvertEach(rows, toPayment), err
}

func (r PaymentStore) Payments(ctx context.Context, depositID id.ID) ([]deposit.Payment, error) {
	rows, err := queries.Payments(ctx, r.DB, depositID)
	return pg.ConvertEach(rows, toPayment), err
}

func toPayment(row sqlc.Payment) deposit.Payment { return deposit.Payment(row) }
