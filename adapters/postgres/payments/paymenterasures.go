package payments

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

func (r PaymentErasureStore) DueErasures(ctx context.Context, now, next time.Time, limit int) (
	due []paymentports.ErasedClient, looked int, err error,
) {
	rows, err := queries.ErasuresDue(ctx, r.DB, next, now, limit)
	for _, row := range rows {
		if !row.Owes {
			due = append(due, paymentports.ErasedClient{ClientID: row.ClientID, FeePayments: row.FeePayments})
		}
	}
	return due, len(rows), err
}

func (r PaymentErasureStore) DeleteErasure(ctx context.Context, clientID id.ID) (bool, error) {
	n, err := queries.DropErasure(ctx, pg.In(ctx), clientID)
	return n > 0, err
}
