package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
)

// settle cancels the deposits in checkout, and waits until no refund or payment is under way, except collections
// that wait for the tenant.
func (r *moneyRun) settle(ctx context.Context) error {
	const patience = 5 * time.Minute
	left := 0
	ended, err := poll(ctx, 500*ms, patience, func() (bool, error) {
		fees, err := query(ctx, r.suite, pgx.RowTo[id.ID],
			`SELECT deposit_id FROM payments WHERE status = 'processing' AND kind = 'fee'`)
		for _, unpaid := range fees {
			s := newStay(r)
			s.deposit = unpaid
			s.ask("/cancel", 1, `{}`)
		}
		if err == nil {
			left, err = value[int](ctx, r.suite, `
				SELECT (SELECT count(*) FROM refunds WHERE status = 'pending') + (SELECT count(*) FROM payments
					WHERE status = 'processing' AND (kind = 'fee' OR EXISTS (SELECT FROM collections c
						WHERE c.payment_id = payments.id AND c.state IN ('scheduled', 'retrying'))))`)
		}
		return left == 0, err
	})
	if err == nil && !ended {
		r.receipts.violate("money", "%d payments and refunds are still under way after %v", left, patience)
	}
	return err
}

// moneyRow is a stored payment with data of its deposit.
type moneyRow struct {
	Payment, Deposit id.ID
	Kind, Status     string
	DepositStatus    status
	Secured          bool // Whether the deposit was ever secured.
	Amount           int
}

// audit records each difference between the fake provider's payments and the database as a violation.
func (r *moneyRun) audit(ctx context.Context) error {
	r.load.stop()
	rows, err := query(ctx, r.suite, pgx.RowToStructByPos[moneyRow], `
		SELECT p.id, p.deposit_id, p.kind, p.status, d.status,
			EXISTS (SELECT FROM deposit_transitions t WHERE t.deposit_id = d.id AND t.to_status = 'active'), p.amount_cents
		FROM payments p JOIN deposits d ON d.id = p.deposit_id`)
	if err != nil {
		return err
	}
	books := r.fake.ChargeTotalsByPayment()
	for _, row := range rows {
		name := id.Payment.Of(row.Payment)
		row.judge(books[name], r.found, r.receipts.violate)
		delete(books, name)
	}
	for name, b := range books {
		r.receipts.violate("money", "the provider charged %d times for %q, which is no payment of ours", b.Charges, name)
	}
	if asked := int(r.refunds.Load()); r.found["refunded"] < asked {
		r.receipts.violate("money", "staff asked for %d refunds, and %d charges have one", asked, r.found["refunded"])
	}
	missing, err := value[int](ctx, r.suite, `
		SELECT count(*) FROM deposits d WHERE status = 'captured' AND NOT EXISTS (
			SELECT FROM payments p WHERE p.deposit_id = d.id AND p.kind = 'collection')`)
	if missing > 0 {
		r.receipts.violate("money", "%d captures have no collection", missing)
	}
	return err
}

// judge checks a payment against the provider's charges for it, and counts it in found.
func (row moneyRow) judge(b stripetest.ChargeTotals, found map[string]int, violate violates) {
	wrong := func(format string, args ...any) {
		violate("money", "%s of %s (%s, %s %s, %d cents): "+format, append([]any{id.Payment.Of(row.Payment),
			id.Deposit.Of(row.Deposit), row.DepositStatus, row.Kind, row.Status, row.Amount}, args...)...)
	}
	fee := row.Kind == "fee"
	switch {
	case b.Charges > 1:
		wrong("it was charged %d times", b.Charges)
	case row.Status == "succeeded" && b.Taken == 0, row.Status != "succeeded" && b.Kept > 0:
		wrong("the provider has charged %d and kept %d", b.Taken, b.Kept)
	case b.Taken > 0 && b.Taken != row.Amount:
		wrong("the provider has charged %d", b.Taken)
	case fee && b.Kept > 0 && !row.Secured:
		wrong("the fee is paid, and neither secures nor is refunded")
	case !fee && b.Kept > 0 && row.DepositStatus != captured:
		wrong("a deposit that is not captured was charged")
	}
	found[row.Kind+" "+row.Status]++
	if b.Kept < b.Taken {
		found["refunded"]++
	}
}
