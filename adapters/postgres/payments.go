package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// checkPause delays the next check of a payment, so that two reconcilers do not ask the provider about it at once.
const checkPause = time.Minute

type payments struct{ unit }

// Insert implements ports.PaymentRepository.
func (r payments) Insert(ctx context.Context, p deposit.Payment) error {
	return changed(ports.ErrPaymentExists)(r.q.InsertPayment(ctx, r.Tx, sqlc.InsertPaymentParams{
		ID: p.ID, DepositID: p.DepositID, Kind: p.Kind, AmountCents: int64(p.Amount), Status: string(p.Status), ProviderRef: p.ProviderRef,
		Failure: p.Failure, Attempts: int32(p.Attempts), CreatedAt: p.CreatedAt, CheckAt: p.CheckAt, SettledAt: p.SettledAt,
	}))
}

func (r payments) Processing(ctx context.Context, depositID id.ID, kind deposit.PaymentKind) (*deposit.Payment, error) {
	row, err := r.q.ProcessingPayment(ctx, r.Tx, depositID, kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil // the port wants nil where no payment is processing
	}
	if err != nil {
		return nil, err
	}
	p := toPayment(row)
	return &p, nil
}

func (r payments) Update(ctx context.Context, p deposit.Payment) error {
	return r.q.UpdatePayment(ctx, r.Deferred(), sqlc.UpdatePaymentParams{
		Status: p.Status, ProviderRef: p.ProviderRef, Failure: p.Failure, Attempts: int32(p.Attempts),
		CheckAt: p.CheckAt, SettledAt: p.SettledAt, ID: p.ID,
	})
}

// PaymentsToCheck implements ports.PaymentReader.
func (s *Store) PaymentsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Payment, error) {
	rows, err := s.q.PaymentsToCheck(ctx, s.db, at.Add(checkPause), at, int32(limit))
	slices.SortFunc(rows, func(a, b sqlc.Payment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return each(rows, toPayment), err
}

// Payments implements ports.PaymentReader.
func (s *Store) Payments(ctx context.Context, depositID id.ID) ([]deposit.Payment, error) {
	rows, err := s.q.Payments(ctx, s.db, depositID)
	return each(rows, toPayment), err
}

func toPayment(row sqlc.Payment) deposit.Payment {
	return deposit.Payment{
		ID: row.ID, DepositID: row.DepositID, Kind: row.Kind, Amount: row.AmountCents, Status: row.Status, ProviderRef: row.ProviderRef,
		Failure: row.Failure, Attempts: int(row.Attempts), CreatedAt: row.CreatedAt, CheckAt: row.CheckAt, SettledAt: row.SettledAt,
	}
}
