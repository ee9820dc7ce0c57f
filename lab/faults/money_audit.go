package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
)

// moneyTally is what the audit counted.
type moneyTally struct {
	stays, fees, secured, captured, collected, awaiting, refunded int
	doubles, unsecured, missing                                   int
}

func (t moneyTally) String() string {
	return fmt.Sprintf("%d deposits, %d fees charged, %d secured, %d captured, %d collected, "+
		"%d await the tenant, %d refunds; "+
		"%d charged twice, %d paid for nothing, %d captures without a collection",
		t.stays, t.fees, t.secured, t.captured, t.collected, t.awaiting, t.refunded, t.doubles, t.unsecured, t.missing)
}

// settle cancels what is still in checkout, and waits until no payment is under way but collections that wait for the
// tenant, and no refund.
func (r *moneyRun) settle(ctx context.Context) error {
	const patience = 5 * time.Minute
	left := []int{0, 0}
	ended, err := poll(ctx, 500*ms, patience, func() (bool, error) {
		fees, err := query(ctx, r.suite, pgx.RowTo[id.ID],
			`SELECT deposit_id FROM payments WHERE status = 'processing' AND kind = 'fee'`)
		if err != nil {
			return false, err
		}
		for _, one := range fees {
			s := &stay{run: r, number: r.next.Add(1), owner: r.suite.partners[0], deposit: one}
			if err := s.cancel(ctx); err != nil {
				return false, err
			}
		}
		left, err = query(ctx, r.suite, pgx.RowTo[int], `
			SELECT count(*)::int FROM payments WHERE status = 'processing' AND (kind = 'fee' OR `+automatic+`)
			UNION ALL SELECT count(*)::int FROM refunds WHERE status = 'pending'`)
		return err == nil && left[0]+left[1] == 0, err
	})
	if err == nil && !ended {
		r.suite.receipts.violate("money", "%d payments and %d refunds are still under way after %v", left[0], left[1],
			patience)
	}
	return err
}

// theirs is a charge in the books of the provider.
type theirs struct {
	ID             string
	Status         string
	Amount         int64
	AmountRefunded int64 `json:"amount_refunded"`
	PaymentIntent  struct {
		ID       string
		Metadata map[string]string
	} `json:"payment_intent"`
}

// charges reads the charges that succeeded, by the id of our payment.
func (r *moneyRun) charges(ctx context.Context) (map[string][]theirs, error) {
	found := map[string][]theirs{}
	for after := ""; ; {
		address := r.fake.URL() + "/v1/charges?limit=100&expand[]=data.payment_intent"
		if after != "" {
			address += "&starting_after=" + after
		}
		var page struct {
			Data    []theirs
			HasMore bool `json:"has_more"`
		}
		if err := askProvider(ctx, http.MethodGet, address, nil, &page); err != nil {
			return nil, err
		}
		for _, c := range page.Data {
			after = c.ID
			if c.Status == "succeeded" {
				payment := c.PaymentIntent.Metadata[stripetest.PaymentKey]
				found[payment] = append(found[payment], c)
			}
		}
		if !page.HasMore {
			return found, nil
		}
	}
}

// moneyRow is a payment with its deposit.
type moneyRow struct {
	payment, deposit         id.ID
	kind, status, collection string
	depositStatus            status
	secured                  bool // the deposit was active once
	amount                   int64
}

// audit compares the provider's books with the database, and asks the fake for the moments at which two objects were
// payable.
func (r *moneyRun) audit(ctx context.Context) (t moneyTally, err error) {
	charged, err := r.charges(ctx)
	if err != nil {
		return t, err
	}
	rows, err := query(ctx, r.suite, func(row pgx.CollectableRow) (m moneyRow, err error) {
		err = row.Scan(&m.payment, &m.deposit, &m.kind, &m.status, &m.collection, &m.depositStatus, &m.secured,
			&m.amount)
		return m, err
	}, moneyRows)
	if err != nil {
		return t, err
	}
	for _, row := range rows {
		name := id.Payment.Of(row.payment)
		r.auditPayment(row, charged[name], &t)
		delete(charged, name)
	}
	for name, all := range charged {
		r.suite.receipts.violate("money", "the provider charged %v for %q, which is no payment of ours", all, name)
	}
	deposits, err := query(ctx, r.suite, func(row pgx.CollectableRow) (n [2]int, err error) {
		err = row.Scan(&n[0], &n[1])
		return n, err
	}, `
		SELECT count(*)::int, (count(*) FILTER (WHERE status = 'captured' AND NOT EXISTS (
			SELECT FROM payments p WHERE p.deposit_id = d.id AND p.kind = 'collection')))::int FROM deposits d`)
	if err != nil {
		return t, err
	}
	if t.stays, t.missing = deposits[0][0], deposits[0][1]; t.missing > 0 {
		r.suite.receipts.violate("money", "%d captures have no collection", t.missing)
	}
	if asked := int(r.refunds.Load()); t.refunded < asked {
		r.suite.receipts.violate("money", "staff asked for %d refunds, and %d charges have one", asked, t.refunded)
	}
	if err := r.auditAttempts(ctx); err != nil {
		return t, err
	}
	for _, step := range r.fake.Violations() {
		r.suite.receipts.violate("two payable", "%s", step)
	}
	return t, nil
}

// auditPayment compares a payment with the charges that succeeded for it.
func (r *moneyRun) auditPayment(row moneyRow, all []theirs, t *moneyTally) {
	var kept, taken int64
	for _, c := range all {
		taken += c.Amount
		kept += c.Amount - c.AmountRefunded
		if c.AmountRefunded > 0 {
			t.refunded++
		}
	}
	name := fmt.Sprintf("%s of %s (%s, %s %s)", id.Payment.Of(row.payment), id.Deposit.Of(row.deposit),
		row.depositStatus, row.kind, row.status)
	if len(all) > 1 {
		t.doubles++
		r.suite.receipts.violate("money", "%s was charged %d times", name, len(all))
	}
	switch {
	case (row.status == "succeeded") != (taken > 0) && kept > 0:
		r.suite.receipts.violate("money", "%s: the provider has charged %d", name, taken)
	case taken > 0 && taken != row.amount:
		r.suite.receipts.violate("money", "%s of %d cents: the provider has charged %d", name, row.amount, taken)
	}
	switch row.kind {
	case "fee":
		if taken > 0 {
			t.fees++
		}
		if row.secured && taken > 0 {
			t.secured++
		}
		if kept > 0 && !row.secured {
			t.unsecured++
			r.suite.receipts.violate("money", "%s: the fee is paid, and neither secures nor is refunded", name)
		}
	case "collection":
		t.captured++
		switch {
		case taken > 0:
			t.collected++
		case row.status == "processing":
			t.awaiting++
		}
		if row.depositStatus != captured && kept > 0 {
			r.suite.receipts.violate("money", "%s: a deposit that is not captured was charged", name)
		}
	}
}

// automatic selects the collections that the dispatcher goes on with by itself.
const automatic = `EXISTS (
	SELECT FROM collections c WHERE c.payment_id = payments.id AND c.state IN ('scheduled', 'retrying'))`

const moneyRows = `
	SELECT p.id, p.deposit_id, p.kind, p.status, coalesce(c.state, ''), d.status,
		EXISTS (SELECT FROM deposit_transitions t WHERE t.deposit_id = d.id AND t.to_status = 'active'), p.amount_cents
	FROM payments p JOIN deposits d ON d.id = p.deposit_id LEFT JOIN collections c ON c.payment_id = p.id`

// auditAttempts demands that each refused attempt has a charge of its own: an attempt that is told the refusal of an
// earlier one has charged nothing.
func (r *moneyRun) auditAttempts(ctx context.Context) error {
	repeated, err := query(ctx, r.suite, pgx.RowTo[id.ID], `
		SELECT payment_id FROM stripe_attempts 
		WHERE answered AND charge <> '' GROUP BY payment_id, charge HAVING count(*) > 1`)
	for _, payment := range repeated {
		r.suite.receipts.violate("money", "two attempts of %s have the same refused charge", id.Payment.Of(payment))
	}
	return err
}
