package stripe

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/ports/platform/failpoint"
)

// Kinds and states of the objects (pages and intents) that the adapter makes at Stripe.
const (
	page   = "page"
	intent = "intent"

	live = "live"
	dead = "dead"
	paid = "paid"
)

// ObjectKinds and ObjectStates list the values in the table stripe_objects.
var (
	ObjectKinds  = []string{page, intent}
	ObjectStates = []string{live, dead, paid}
)

const uniqueViolation = "23505"

var (
	// errTaken is the error for a payment that is closed or got another page or intent; the caller reads it again.
	errTaken = errors.New("stripe: another object of the payment is live")
	// errKeyReused is the error for a payment that was requested again with another amount.
	errKeyReused = errors.New("stripe: the id of a payment was used with another amount")
)

// record is a payment as the adapter's tables hold it, with its pages and intents at Stripe.
type record struct {
	id        id.ID
	kind      deposit.PaymentKind
	depositID id.ID
	amount    money.Cents
	createdAt time.Time
	closed    bool
	paidRef   string
	// When a fee was paid, as Stripe has just reported it; not stored.
	paidAt   time.Time
	customer string
	method   string
	objects  []item // Payment pages and intents at Stripe, in the order in which they were made.
}

// item is a payment page or a PaymentIntent at Stripe, as stored in the table stripe_objects.
type item struct {
	kind            string
	number          int
	request         string
	ref             string
	state           string
	firstAt, lastAt time.Time
	// The error with which Stripe has just refused for good to make this page or intent.
	refusal *responseError
}

// nameOf returns the name of a page or intent in its metadata at Stripe, such as page:1.
func nameOf(kind string, number int) string { return kind + ":" + strconv.Itoa(number) }

func (r *record) next(kind string) int {
	n := 1
	for _, o := range r.objects {
		if o.kind == kind {
			n = max(n, o.number+1)
		}
	}
	return n
}

// current returns the payment's page or intent that is not dead; nil if none.
func (r *record) current() *item {
	for i := range r.objects {
		if r.objects[i].state != dead {
			return &r.objects[i]
		}
	}
	return nil
}

// lastPage returns the newest payment page that was made at Stripe; nil if none.
func (r *record) lastPage() *item {
	for i := len(r.objects) - 1; i >= 0; i-- {
		if r.objects[i].kind == page && r.objects[i].ref != "" {
			return &r.objects[i]
		}
	}
	return nil
}

// ref returns Stripe's id of the object that was paid, or else of the payment's newest page or intent.
func (r *record) ref() string {
	if r.paidRef != "" {
		return r.paidRef
	}
	for i := len(r.objects) - 1; i >= 0; i-- {
		if r.objects[i].ref != "" {
			return r.objects[i].ref
		}
	}
	return ""
}

// store reads and writes the adapter's tables. Every statement is a short transaction; no request to Stripe is sent
// inside.
type store struct{ pool *pgxpool.Pool }

// load returns a payment with its pages and intents; nil if unknown. One statement reads both tables, or a
// payment might seem unpaid.
func (s store) load(ctx context.Context, paymentID id.ID) (*record, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT coalesce(p.kind, ''), p.deposit_id, p.amount_cents, p.created_at, p.closed_at IS NOT NULL, p.paid_ref,
			p.customer, p.method, coalesce(o.kind, ''), coalesce(o.number, 0), coalesce(o.request, ''),
			coalesce(o.ref, ''), coalesce(o.state, ''),
			coalesce(o.first_at, p.created_at), coalesce(o.last_at, p.created_at)
		FROM stripe_payments p LEFT JOIN stripe_objects o ON o.payment_id = p.id
		WHERE p.id = $1 ORDER BY o.first_at, o.state <> 'dead', o.kind, o.number`, [16]byte(paymentID))
	if err != nil {
		return nil, unavailable(err)
	}
	var (
		found *record
		r     = record{id: paymentID}
		o     item
	)
	_, err = pgx.ForEachRow(rows, []any{
		(*string)(&r.kind), (*[16]byte)(&r.depositID), (*int64)(&r.amount), &r.createdAt, &r.closed, &r.paidRef,
		&r.customer, &r.method, &o.kind, &o.number, &o.request, &o.ref, &o.state, &o.firstAt, &o.lastAt,
	}, func() error {
		if found = &r; o.kind != "" {
			r.objects = append(r.objects, o)
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return found, nil
}

// begin stores a payment unless it is stored, and returns the stored record.
func (s store) begin(ctx context.Context, r record) (*record, error) {
	_, err := s.pool.Exec(ctx, `
		INSERT INTO stripe_payments (id, kind, deposit_id, amount_cents, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO NOTHING`,
		[16]byte(r.id), string(r.kind), [16]byte(r.depositID), int64(r.amount), r.createdAt)
	if err != nil {
		return nil, unavailable(err)
	}
	return s.load(ctx, r.id)
}

// shut marks a payment as closed, also an unknown one, for a request that arrives later.
func (s store) shut(ctx context.Context, paymentID id.ID, now time.Time) error {
	_, err := s.pool.Exec(ctx, `
		INSERT INTO stripe_payments AS p (id, kind, deposit_id, amount_cents, created_at, closed_at)
		VALUES ($1, NULL, $2, 0, $3, $3)
		ON CONFLICT (id) DO UPDATE SET closed_at = coalesce(p.closed_at, excluded.closed_at)`,
		[16]byte(paymentID), [16]byte(id.ID{}), now)
	if err != nil {
		return unavailable(err)
	}
	failpoint.Hit("payment.closed.committed")
	return nil
}

// add stores a page or intent before its request is sent to Stripe. Returns errTaken if the payment is closed
// or has one that is not dead.
func (s store) add(ctx context.Context, paymentID id.ID, kind string, number int, request string, now time.Time) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		closed := false
		if err := tx.QueryRow(ctx, `SELECT closed_at IS NOT NULL FROM stripe_payments WHERE id = $1 FOR UPDATE`,
			[16]byte(paymentID)).Scan(&closed); err != nil {
			return err
		}
		if closed {
			return errTaken
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO stripe_objects (payment_id, kind, number, request, state, first_at, last_at)
			VALUES ($1, $2, $3, $4, 'live', $5, $5)`,
			[16]byte(paymentID), kind, number, request, now)
		return err
	})
	var failed *pgconn.PgError
	switch {
	case errors.Is(err, errTaken), errors.As(err, &failed) && failed.Code == uniqueViolation:
		return errTaken
	case err != nil:
		return unavailable(err)
	}
	failpoint.Hit("payment." + kind + ".committed")
	return nil
}

// sending stores that the request for a page or intent is about to be sent to Stripe.
func (s store) sending(ctx context.Context, paymentID id.ID, o *item, now time.Time) error {
	return s.exec(ctx,
		`UPDATE stripe_objects SET last_at = greatest(last_at, $4) WHERE payment_id = $1 AND kind = $2 AND number = $3`,
		[16]byte(paymentID), o.kind, o.number, now)
}

// made stores Stripe's id of a page or intent, and removes the request, which may contain an e-mail address.
func (s store) made(ctx context.Context, paymentID id.ID, o *item, ref string) error {
	err := s.exec(ctx,
		`UPDATE stripe_objects SET ref = $4, request = '' WHERE payment_id = $1 AND kind = $2 AND number = $3 AND ref = ''`,
		[16]byte(paymentID), o.kind, o.number, ref)
	failpoint.Hit("payment." + o.kind + ".made")
	return err
}

// bury marks a page or intent as dead: it can no longer be paid.
func (s store) bury(ctx context.Context, paymentID id.ID, o *item) error {
	return s.exec(ctx,
		`UPDATE stripe_objects SET state = 'dead', request = '' WHERE payment_id = $1 AND kind = $2 AND number = $3
			AND state = 'live'`,
		[16]byte(paymentID), o.kind, o.number)
}

// pay marks a page or intent as paid, and stores the customer and the card of a fee.
func (s store) pay(ctx context.Context, paymentID id.ID, o *item, ref, customer, method string) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `
			UPDATE stripe_payments SET paid_ref = $2, customer = CASE WHEN forgotten_at IS NULL THEN $3 ELSE '' END,
				method = CASE WHEN forgotten_at IS NULL THEN $4 ELSE '' END
			WHERE id = $1`, [16]byte(paymentID), ref, customer, method); err != nil {
			// Lock the payment's row first, as in add, so that transactions do not deadlock.
			return err
		}
		_, err := tx.Exec(ctx,
			`UPDATE stripe_objects SET state = 'paid', request = '' WHERE payment_id = $1 AND kind = $2 AND number = $3`,
			[16]byte(paymentID), o.kind, o.number)
		return err
	})
	if err != nil {
		return unavailable(err)
	}
	failpoint.Hit("payment.paid.committed")
	return nil
}

// forget removes the customer and the card of a fee for good.
func (s store) forget(ctx context.Context, paymentID id.ID, now time.Time) error {
	return s.exec(ctx,
		`UPDATE stripe_payments SET customer = '', method = '', forgotten_at = coalesce(forgotten_at, $2) WHERE id = $1`,
		[16]byte(paymentID), now)
}

// byRef returns the id of the payment of a page, intent or charge at Stripe; the zero id if there is none.
func (s store) byRef(ctx context.Context, ref string) (found id.ID, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT payment_id FROM stripe_objects WHERE ref = $1 AND ref <> ''
		UNION ALL SELECT id FROM stripe_payments WHERE paid_ref = $1 AND paid_ref <> '' LIMIT 1`,
		ref).Scan((*[16]byte)(&found))
	if errors.Is(err, pgx.ErrNoRows) {
		return id.ID{}, nil
	}
	if err != nil {
		return id.ID{}, unavailable(err)
	}
	return found, nil
}

func (s store) exec(ctx context.Context, statement string, args ...any) error {
	if _, err := s.pool.Exec(ctx, statement, args...); err != nil {
		return unavailable(err)
	}
	return nil
}
