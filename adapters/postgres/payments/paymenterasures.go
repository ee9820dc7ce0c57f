package payments

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// ErasuresDue implements paymentports.PaymentErasures.
func (r Erasures) ErasuresDue(ctx context.Context, now, next time.Time, limit int) (due []paymentports.ForgottenClient, looked int, err error) {
	rows, err := r.DB.Query(ctx, `
		WITH looked AS (
			UPDATE payment_erasures SET due_at = $2
			WHERE client_id IN (SELECT client_id FROM payment_erasures WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
			RETURNING client_id)
		SELECT l.client_id,
			ARRAY(SELECT p.id FROM deposits d JOIN payments p ON p.deposit_id = d.id WHERE d.client_id = l.client_id AND p.kind = 'fee' ORDER BY p.id),
			EXISTS (SELECT FROM deposits d WHERE d.client_id = l.client_id AND (d.status NOT IN ('cancelled', 'close', 'captured')
				OR EXISTS (SELECT FROM payments p WHERE p.deposit_id = d.id AND p.status = 'processing')))
		FROM looked l`, now, next, limit)
	if err != nil {
		return nil, 0, err
	}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var c paymentports.ForgottenClient
		owes := false
		err := row.Scan(&c.ClientID, &c.FeePayments, &owes)
		if looked++; !owes {
			due = append(due, c)
		}
		return struct{}{}, err
	})
	return due, looked, pg.Translate(err)
}

// Forgotten implements paymentports.PaymentErasures.
func (r Erasures) Forgotten(ctx context.Context, clientID id.ID) (bool, error) {
	tag, err := pg.In(ctx).Exec(ctx, `DELETE FROM payment_erasures WHERE client_id = $1`, clientID)
	return tag.RowsAffected() > 0, err
}
