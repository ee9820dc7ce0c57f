package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
)

// settle cancels what is still in checkout, and waits until no payment is under way but collections that wait for the
// tenant, and no refund.
func (r *moneyRun) settle(ctx context.Context) error {
	const patience = 5 * time.Minute
	left := 0
	ended, err := poll(ctx, 500*ms, patience, func() (bool, error) {
		fees, err := query(ctx, r.suite, pgx.RowTo[id.ID],
			`SELECT deposit_id FROM payments WHERE status = 'processing' AND kind = 'fee'`)
		for _, one := range fees {
			s := &stay{moneyRun: r, change: change{number: r.next.Add(1), owner: r.partners[0], deposit: one}}
			s.insist("/cancel", 1, `{}`)
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

// charges reads the charges that succeeded from the books of the provider, by the id of our payment.
func (r *moneyRun) charges(ctx context.Context) (map[string][]*stripe.Charge, error) {
	found, params := map[string][]*stripe.Charge{}, &stripe.ChargeListParams{}
	params.Limit = stripe.Int64(100)
	params.AddExpand("data.payment_intent")
	for c, err := range clientOf(r.fake.URL()).V1Charges.List(ctx, params).All(ctx) {
		if err != nil {
			return nil, err
		}
		if c.Status == stripe.ChargeStatusSucceeded {
			payment := c.PaymentIntent.Metadata[stripetest.PaymentKey]
			found[payment] = append(found[payment], c)
		}
	}
	return found, nil
}

// moneyRow is a payment with its deposit.
type moneyRow struct {
	Payment, Deposit id.ID
	Kind, Status     string
	DepositStatus    status
	Secured          bool // the deposit was active once
	Amount           int64
}

// audit compares the provider's books with the database.
func (r *moneyRun) audit(ctx context.Context) error {
	charged, err := r.charges(ctx)
	if err != nil {
		return err
	}
	rows, err := query(ctx, r.suite, pgx.RowToStructByPos[moneyRow], `
		SELECT p.id, p.deposit_id, p.kind, p.status, d.status,
			EXISTS (SELECT FROM deposit_transitions t WHERE t.deposit_id = d.id AND t.to_status = 'active'), p.amount_cents
		FROM payments p JOIN deposits d ON d.id = p.deposit_id`)
	if err != nil {
		return err
	}
	for _, row := range rows {
		name := id.Payment.Of(row.Payment)
		r.auditPayment(row, charged[name])
		delete(charged, name)
	}
	for name, all := range charged {
		r.receipts.violate("money", "the provider charged %d times for %q, which is no payment of ours", len(all), name)
	}
	r.found["deposits"], err = value[int](ctx, r.suite, `SELECT count(*) FROM deposits`)
	if err != nil {
		return err
	}
	missing, err := value[int](ctx, r.suite, `
		SELECT count(*) FROM deposits d WHERE status = 'captured' AND NOT EXISTS (
			SELECT FROM payments p WHERE p.deposit_id = d.id AND p.kind = 'collection')`)
	if missing > 0 {
		r.receipts.violate("money", "%d captures have no collection", missing)
	}
	if asked := int(r.refunds.Load()); r.found["refunds"] < asked {
		r.receipts.violate("money", "staff asked for %d refunds, and %d charges have one", asked, r.found["refunds"])
	}
	return errors.Join(err, r.auditAttempts(ctx))
}

// auditPayment compares a payment with the charges that succeeded for it.
func (r *moneyRun) auditPayment(row moneyRow, all []*stripe.Charge) {
	var kept, taken int64
	for _, c := range all {
		taken += c.Amount
		kept += c.Amount - c.AmountRefunded
		if c.AmountRefunded > 0 {
			r.found["refunds"]++
		}
	}
	name := fmt.Sprintf("%s of %s (%s, %s %s)", id.Payment.Of(row.Payment), id.Deposit.Of(row.Deposit),
		row.DepositStatus, row.Kind, row.Status)
	if len(all) > 1 {
		r.found["charged twice"]++
		r.receipts.violate("money", "%s was charged %d times", name, len(all))
	}
	switch {
	case (row.Status == "succeeded") != (taken > 0) && kept > 0:
		r.receipts.violate("money", "%s: the provider has charged %d", name, taken)
	case taken > 0 && taken != row.Amount:
		r.receipts.violate("money", "%s of %d cents: the provider has charged %d", name, row.Amount, taken)
	}
	switch row.Kind {
	case "fee":
		if taken > 0 {
			r.found["fees charged"]++
		}
		if row.Secured && taken > 0 {
			r.found["secured"]++
		}
		if kept > 0 && !row.Secured {
			r.found["paid for nothing"]++
			r.receipts.violate("money", "%s: the fee is paid, and neither secures nor is refunded", name)
		}
	case "collection":
		r.found["captured"]++
		switch {
		case taken > 0:
			r.found["collected"]++
		case row.Status == "processing":
			r.found["awaiting the tenant"]++
		}
		if row.DepositStatus != captured && kept > 0 {
			r.receipts.violate("money", "%s: a deposit that is not captured was charged", name)
		}
	}
}

// auditAttempts demands that each refused attempt has a charge of its own: an attempt that is told the refusal of an
// earlier one has charged nothing.
func (r *moneyRun) auditAttempts(ctx context.Context) error {
	repeated, err := query(ctx, r.suite, pgx.RowTo[id.ID], `
		SELECT payment_id FROM stripe_attempts 
		WHERE answered AND charge <> '' GROUP BY payment_id, charge HAVING count(*) > 1`)
	for _, payment := range repeated {
		r.receipts.violate("money", "two attempts of %s have the same refused charge", id.Payment.Of(payment))
	}
	return err
}
