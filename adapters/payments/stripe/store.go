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

// Kinds and states of objects.
const (
	page   = "page"
	intent = "intent"

	live = "live"
	dead = "dead"
	paid = "paid"
)

// ObjectKinds and ObjectStates list the kinds and the states of the rows of stripe_objects.
var (
	ObjectKinds  = []string{page, intent}
	ObjectStates = []string{live, dead, paid}
)

const uniqueViolation = "23505"

var (
	// errTaken: another process has made an object of the payment, or closed it. The caller looks again.
	errTaken = errors.New("stripe: another object of the payment is live")
	// errKeyReused: a payment was requested again with another amount. Nobody can know which amount is meant.
	errKeyReused = errors.New("stripe: the id of a payment was used with another amount")
)

// record is the adapter's knowledge of a payment.
type record struct {
	id        id.ID
	kind      deposit.PaymentKind
	depositID id.ID
	amount    money.Cents
	createdAt time.Time
	closed    bool
	paidRef   string
	paidAt    time.Time // of a fee, once Stripe was asked; not stored
	customer  string
	method    string
	objects   []item // in the order of their making
}

// item is a page or an intent.
type item struct {
	kind            string
	number          int
	request         string
	ref             string
	state           string
	firstAt, lastAt time.Time
	refusal         *refused // of a request that Stripe has just refused for good; not stored
}

// nameOf names an object of a payment in its metadata.
func nameOf(kind string, number int) string { return kind + ":" + strconv.Itoa(number) }

// next is the number of the next object of that kind.
func (r *record) next(kind string) int {
	n := 1
	for _, o := range r.objects {
		if o.kind == kind {
			n = max(n, o.number+1)
		}
	}
	return n
}

// current is the object that is not dead, nil for none.
func (r *record) current() *item {
	for i := range r.objects {
		if r.objects[i].state != dead {
			return &r.objects[i]
		}
	}
	return nil
}

// lastPage is the newest page that Stripe has made, nil for none.
func (r *record) lastPage() *item {
	for i := len(r.objects) - 1; i >= 0; i-- {
		if r.objects[i].kind == page && r.objects[i].ref != "" {
			return &r.objects[i]
		}
	}
	return nil
}

// ref is the id of Stripe that stands for the payment: of the charge, else of the newest object.
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

// store keeps the adapter's tables. Every statement is a short transaction; no request is sent inside.
type store struct{ pool *pgxpool.Pool }

// load gives a payment with its objects, nil for an unknown payment. A single statement reads stripe_payments and
// stripe_objects: between two statements another process may record the payment as paid, and it would look unpaid.
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

// begin enters a payment, unless it is known, and gives its record.
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

// shut marks a payment as closed. An unknown payment is entered as closed, so that a request that arrives later finds
// the payment closed.
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

// add enters an object before its request is sent. Returns errTaken where the payment is closed or has an object that
// is not dead.
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

// sending notes that the request of an object is about to be sent.
func (s store) sending(ctx context.Context, paymentID id.ID, o *item, now time.Time) error {
	return s.exec(ctx,
		`UPDATE stripe_objects SET last_at = greatest(last_at, $4) WHERE payment_id = $1 AND kind = $2 AND number = $3`,
		[16]byte(paymentID), o.kind, o.number, now)
}

// made stores Stripe's id of an object, and drops the request, which may hold an address.
func (s store) made(ctx context.Context, paymentID id.ID, o *item, ref string) error {
	err := s.exec(ctx,
		`UPDATE stripe_objects SET ref = $4, request = '' WHERE payment_id = $1 AND kind = $2 AND number = $3 AND ref = ''`,
		[16]byte(paymentID), o.kind, o.number, ref)
	failpoint.Hit("payment." + o.kind + ".made")
	return err
}

// bury marks an object as dead.
func (s store) bury(ctx context.Context, paymentID id.ID, o *item) error {
	return s.exec(ctx,
		`UPDATE stripe_objects SET state = 'dead', request = '' WHERE payment_id = $1 AND kind = $2 AND number = $3
			AND state = 'live'`,
		[16]byte(paymentID), o.kind, o.number)
}

// pay marks an object as paid, and keeps the customer and the card of a fee.
func (s store) pay(ctx context.Context, paymentID id.ID, o *item, ref, customer, method string) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `
			UPDATE stripe_payments SET paid_ref = $2, customer = CASE WHEN forgotten_at IS NULL THEN $3 ELSE '' END,
				method = CASE WHEN forgotten_at IS NULL THEN $4 ELSE '' END
			WHERE id = $1`, [16]byte(paymentID), ref, customer, method); err != nil {
			// first the payment, as in add: no deadlock
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

// forget drops the customer and the card of a fee, for good.
func (s store) forget(ctx context.Context, paymentID id.ID, now time.Time) error {
	return s.exec(ctx,
		`UPDATE stripe_payments SET customer = '', method = '', forgotten_at = coalesce(forgotten_at, $2) WHERE id = $1`,
		[16]byte(paymentID), now)
}

// byRef finds the payment of an object or a charge of Stripe; the zero id for none.
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
