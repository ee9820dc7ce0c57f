package payments

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// moved is the SQL of the amounts paid, refunded or disputed from $1 to before $2. OFFSET 0 makes Postgres look
// payments up by key instead of joining whole tables.
const moved = `WITH moved AS (
	SELECT p.id, p.deposit_id, p.settled_at, p.amount_cents AS collected, 0::bigint AS refunded, 0::bigint AS disputed
	FROM payments p
	WHERE p.kind = 'collection' AND p.status = 'succeeded' AND p.settled_at >= $1 AND p.settled_at < $2
	UNION ALL
	SELECT p.id, p.deposit_id, p.settled_at, 0, r.amount_cents, 0
	FROM refunds r, LATERAL (SELECT * FROM payments p WHERE p.id = r.payment_id OFFSET 0) p
	WHERE p.kind = 'collection' AND p.status = 'succeeded' AND r.status = 'succeeded' AND r.settled_at >= $1
		AND r.settled_at < $2
	UNION ALL
	SELECT p.id, p.deposit_id, p.settled_at, 0, 0, x.amount_cents
	FROM disputes x, LATERAL (SELECT * FROM payments p WHERE p.id = x.payment_id OFFSET 0) p
	WHERE p.kind = 'collection' AND p.status = 'succeeded' AND x.created_at >= $1 AND x.created_at < $2)
`

// ofAccount is the SQL condition that a row of moved belongs to the account $3. It looks each deposit up by
// key, since an account may have a million.
const ofAccount = `(SELECT d.account_id FROM deposits d WHERE d.id = m.deposit_id) = $3`

func (s BooksStore) TotalsByAccount(ctx context.Context, from, to time.Time) ([]paymentports.AccountTotals, error) {
	rows, err := s.DB.Query(ctx, moved+`
		SELECT a.id, a.company_name, sum(m.collected)::bigint, sum(m.refunded)::bigint, sum(m.disputed)::bigint
		FROM moved m JOIN deposits d ON d.id = m.deposit_id JOIN accounts a ON a.id = d.account_id
		GROUP BY a.id, a.company_name HAVING sum(m.collected + m.refunded) > 0 ORDER BY a.company_name, a.id`, from, to)
	if err != nil {
		return nil, err
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[paymentports.AccountTotals])
	return due, pg.Translate(err)
}

func (s BooksStore) TotalsOfAccount(ctx context.Context, accountID id.ID,
	span ports.TimeSpan) (paymentports.AccountTotals,
	error) {
	due := paymentports.AccountTotals{AccountID: accountID}
	err := s.DB.QueryRow(ctx, moved+`
		SELECT a.company_name, m.collected, m.refunded, m.disputed
		FROM accounts a, (SELECT coalesce(sum(m.collected), 0)::bigint AS collected,
			coalesce(sum(m.refunded), 0)::bigint AS refunded, coalesce(sum(m.disputed), 0)::bigint AS disputed
			FROM moved m WHERE `+ofAccount+`) m
		WHERE a.id = $3`, span.From, span.To, accountID).Scan(&due.CompanyName, &due.Collected, &due.Refunded, &due.Disputed)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return due, err
}

func (s BooksStore) DebtMovements(ctx context.Context, accountID id.ID, span ports.TimeSpan,
	page ports.Page) (ports.ListPage[paymentports.DebtMovement], error) {
	args, after := []any{span.From, span.To, accountID}, ""
	if !page.Cursor.IsZero() {
		args, after = append(args, page.Cursor.At, page.Cursor.ID), ` AND (m.settled_at, m.id) < ($4, $5)`
	}
	rows, err := s.DB.Query(ctx, moved+`, mine AS (
			SELECT m.id, m.deposit_id, m.settled_at, sum(m.collected)::bigint AS collected,
				sum(m.refunded)::bigint AS refunded, sum(m.disputed)::bigint AS disputed
			FROM moved m WHERE `+ofAccount+after+`
			GROUP BY m.id, m.deposit_id, m.settled_at ORDER BY m.settled_at DESC, m.id DESC LIMIT `+
		strconv.Itoa(page.Limit+1)+`)
		SELECT m.id, m.deposit_id, d.reference, trim(coalesce(c.first_name || ' ' || c.last_name, '')),
			coalesce(k.captured_at, d.captured_at), k.attempted_at, m.settled_at, m.collected, m.refunded, m.disputed,
			(SELECT max(r.settled_at) FROM refunds r WHERE r.payment_id = m.id AND r.status = 'succeeded'
				AND r.settled_at >= $1 AND r.settled_at < $2),
			(SELECT coalesce(sum(r.amount_cents), 0)::bigint FROM refunds r WHERE r.payment_id = m.id
				AND r.status = 'succeeded'),
			coalesce((SELECT x.status FROM disputes x WHERE x.deposit_id = m.deposit_id AND x.payment_id = m.id
				ORDER BY x.created_at DESC, x.ref DESC LIMIT 1), '')
		FROM mine m JOIN deposits d ON d.id = m.deposit_id LEFT JOIN collections k ON k.payment_id = m.id
			LEFT JOIN clients c ON c.id = d.client_id AND c.erased_at IS NULL
		ORDER BY m.settled_at DESC, m.id DESC`, args...)
	if err != nil {
		return ports.ListPage[paymentports.DebtMovement]{}, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[paymentports.DebtMovement])
	list := ports.ListPage[paymentports.DebtMovement]{Items: found}
	if len(found) > page.Limit {
		list.Items = found[:page.Limit]
		last := list.Items[page.Limit-1]
		list.Next = ports.Cursor{At: last.PaidAt, ID: last.PaymentID}
	}
	return list, pg.Translate(err)
}
