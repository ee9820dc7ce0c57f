package payments

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// Raise implements paymentports.PaymentQuestions, in a single statement.
func (s Questions) Raise(ctx context.Context, n paymentports.Callback, questionID id.ID, now time.Time) error {
	_, err := s.DB.Exec(ctx, `
		WITH due AS (UPDATE payments SET check_at = $5 WHERE id = $2 AND status = 'processing' AND check_at > $5),
		subject AS (
			SELECT id, '' AS ref FROM payments WHERE id = $2 AND ($4 OR status IN ('failed', 'voided'))
			UNION ALL SELECT NULL, $3 WHERE $2::uuid IS NULL AND $4)
		INSERT INTO payment_questions AS q (id, payment_id, provider_ref, dispute, raised_at, due_at)
		SELECT $1, subject.id, subject.ref, $4, $5, $5 FROM subject
		ON CONFLICT (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), provider_ref, dispute) DO UPDATE SET told = q.told + 1, due_at = $5`,
		questionID, n.PaymentID, n.ProviderRef, n.Dispute, now)
	return err
}

// QuestionsDue implements paymentports.PaymentQuestions.
func (s Questions) QuestionsDue(
	ctx context.Context, now time.Time, waits []time.Duration, limit int,
) ([]paymentports.PaymentQuestion, error) {
	rows, err := s.DB.Query(ctx, `
		UPDATE payment_questions q SET tries = q.tries + 1,
			due_at = $1::timestamptz + ($2::interval[])[least(q.tries + 1, cardinality($2::interval[]))]
		WHERE q.id IN (SELECT id FROM payment_questions WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING q.id, q.payment_id, q.provider_ref, q.dispute, q.told, q.tries - 1`, now, waits, limit)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (q paymentports.PaymentQuestion, err error) {
		return q, row.Scan(&q.ID, &q.PaymentID, &q.ProviderRef, &q.Dispute, &q.Callbacks, &q.Tries)
	})
	return found, pg.Translate(err)
}

// Answered implements paymentports.PaymentQuestions.
func (s Questions) Answered(ctx context.Context, q paymentports.PaymentQuestion) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM payment_questions WHERE id = $1 AND told = $2`, q.ID, q.Callbacks)
	return err
}

// Keep implements paymentports.Disputes. The payment's row is locked, so that two processes do not tell of the same change.
func (r Disputes) Keep(ctx context.Context, d paymentports.Dispute, now time.Time) (before *paymentports.KeptDispute, about paymentports.DisputeSubject, ok bool, err error) {
	err = pg.In(ctx).QueryRow(ctx, `
		SELECT p.kind, o.id, o.email, o.locale, o.verified_at IS NOT NULL, d.id, d.reference, d.rental_contract
		FROM payments p JOIN deposits d ON d.id = p.deposit_id JOIN accounts a ON a.id = d.account_id JOIN operators o ON o.id = a.operator_id
		WHERE p.id = $1 FOR UPDATE OF p`, d.PaymentID).
		Scan(&about.Kind, &about.Operator.ID, &about.Operator.Email, &about.Operator.Locale, &about.Verified,
			&about.Deposit.ID, &about.Deposit.Reference, &about.Deposit.RentalContract)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, about, false, nil
	}
	if err != nil {
		return nil, about, false, err
	}
	kept := paymentports.KeptDispute{DepositID: about.Deposit.ID, Dispute: paymentports.Dispute{Ref: d.Ref, PaymentID: d.PaymentID}}
	err = pg.In(ctx).QueryRow(ctx, `SELECT amount_cents, reason, status, evidence_due_by, created_at FROM disputes WHERE ref = $1`, d.Ref).
		Scan(&kept.Amount, &kept.Reason, &kept.Status, &kept.EvidenceDueBy, &kept.CreatedAt)
	switch {
	case err == nil:
		before = &kept
	case !errors.Is(err, pgx.ErrNoRows):
		return nil, about, false, err
	}
	_, err = pg.In(ctx).Exec(ctx, `
		INSERT INTO disputes (ref, payment_id, deposit_id, amount_cents, reason, status, evidence_due_by, created_at, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (ref) DO UPDATE SET amount_cents = $4, reason = $5, status = $6, evidence_due_by = $7, changed_at = $9
		WHERE (disputes.amount_cents, disputes.status, disputes.evidence_due_by) IS DISTINCT FROM ($4, $6, $7)`,
		d.Ref, d.PaymentID, about.Deposit.ID, int64(d.Amount), d.Reason, d.Status, d.EvidenceDueBy, d.CreatedAt, now)
	return before, about, true, err
}

// DisputesOf implements paymentports.Disputes.
func (r Disputes) DisputesOf(ctx context.Context, depositID id.ID) ([]paymentports.KeptDispute, error) {
	rows, err := r.DB.Query(ctx, `SELECT ref, payment_id, amount_cents, reason, status, evidence_due_by, created_at FROM disputes WHERE deposit_id = $1 ORDER BY created_at, ref`, depositID)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (paymentports.KeptDispute, error) {
		d := paymentports.KeptDispute{DepositID: depositID}
		return d, row.Scan(&d.Ref, &d.PaymentID, &d.Amount, &d.Reason, &d.Status, &d.EvidenceDueBy, &d.CreatedAt)
	})
	return found, pg.Translate(err)
}
