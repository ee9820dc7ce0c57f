package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
)

// lastSeenPrecision bounds the writes of last_seen_at: a session writes once in this time, at most. A session that ends after a short
// time without use writes ten times in that time.
func lastSeenPrecision(idle time.Duration) time.Duration { return min(5*time.Minute, idle/10) }

type operators struct{ unit }

// Insert implements ports.OperatorRepository.
func (r operators) Insert(ctx context.Context, o connect.Operator, a connect.Account) error {
	return changed(connect.ErrEmailTaken)(r.q.InsertOperator(ctx, r.Tx, sqlc.InsertOperatorParams{
		ID: o.ID, Email: o.Email, EmailKey: mailaddr.Normal(o.Email), PasswordHash: o.PasswordHash, Locale: o.Locale, CreatedAt: o.CreatedAt,
		AccountID: a.ID, CompanyName: a.CompanyName, MaxAmountCents: int64(a.MaxAmountCents), AccountCreatedAt: a.CreatedAt,
	}))
}

func (r operators) InsertSession(ctx context.Context, s ports.Session) error {
	return r.q.InsertSession(ctx, r.Deferred(), sqlc.InsertSessionParams{
		TokenHash: s.TokenHash[:], OperatorID: s.OperatorID, Browser: s.Browser, CreatedAt: s.CreatedAt, LastSeenAt: s.LastSeenAt, ExpiresAt: s.ExpiresAt,
	})
}

func (r operators) DeleteSession(ctx context.Context, tokenHash [32]byte) error {
	return r.q.DeleteSession(ctx, r.Deferred(), tokenHash[:])
}

func (r operators) DeleteSessionsOf(ctx context.Context, operatorID id.ID) (int, error) {
	n, err := r.q.DeleteSessionsOf(ctx, r.Tx, operatorID)
	return int(n), err
}

func (r operators) RecordNetwork(ctx context.Context, operatorID id.ID, network [32]byte, at time.Time) error {
	return r.q.RecordNetwork(ctx, r.Deferred(), sqlc.RecordNetworkParams{
		OperatorID: operatorID, Network: network[:], UnusedSince: at.Add(-ports.NetworksKeptFor), At: at,
	})
}

func (r operators) SetCeiling(ctx context.Context, accountID id.ID, maxAmount money.Cents) error {
	return changed(connect.ErrAccountNotFound)(r.q.SetCeiling(ctx, r.Tx, int64(maxAmount), accountID))
}

func (r operators) SetCompany(ctx context.Context, accountID id.ID, name string) error {
	return changed(connect.ErrAccountNotFound)(r.q.SetCompany(ctx, r.Tx, name, accountID))
}

func (r operators) DeleteExpiredSessions(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := r.q.DeleteExpiredSessions(ctx, r.Tx, at, int32(limit))
	return int(n), err
}

// OperatorByEmail implements ports.OperatorReader.
func (s *Store) OperatorByEmail(ctx context.Context, email string) (connect.Operator, connect.Account, error) {
	row, err := s.q.OperatorByEmail(ctx, s.db, mailaddr.Normal(email))
	o, a := toOperator(row)
	return o, a, pg.OrNotFound(err, connect.ErrBadCredentials)
}

// OperatorBySession implements ports.SessionReader.
func (s *Store) OperatorBySession(ctx context.Context, tokenHash [32]byte, now time.Time, idle time.Duration) (connect.Operator, connect.Account, error) {
	row, err := s.q.OperatorBySession(ctx, s.db, tokenHash[:], now, now.Add(-idle))
	if err != nil {
		return connect.Operator{}, connect.Account{}, pg.OrNotFound(err, connect.ErrBadCredentials)
	}
	if now.Sub(row.LastSeenAt) >= lastSeenPrecision(idle) {
		if err := s.q.SetLastSeen(ctx, s.db, now, tokenHash[:]); err != nil {
			return connect.Operator{}, connect.Account{}, err
		}
	}
	o, a := toOperator(sqlc.OperatorByEmailRow{ID: row.ID, Email: row.Email, PasswordHash: row.PasswordHash, CreatedAt: row.CreatedAt,
		VerifiedAt: row.VerifiedAt, Locale: row.Locale, AccountID: row.AccountID, CompanyName: row.CompanyName, MaxAmountCents: row.MaxAmountCents, AccountCreatedAt: row.AccountCreatedAt})
	return o, a, nil
}

// NetworkKnown implements ports.OperatorReader.
func (s *Store) NetworkKnown(ctx context.Context, operatorID id.ID, network [32]byte, now time.Time) (bool, error) {
	return s.q.NetworkKnown(ctx, s.db, operatorID, network[:], now.Add(-ports.NetworksKeptFor))
}

// AccountByID implements ports.OperatorReader.
func (s *Store) AccountByID(ctx context.Context, accountID id.ID) (connect.Account, connect.Operator, error) {
	row, err := s.q.AccountByID(ctx, s.db, accountID)
	o, a := toOperator(sqlc.OperatorByEmailRow(row))
	return a, o, pg.OrNotFound(err, connect.ErrAccountNotFound)
}

// Accounts implements ports.OperatorReader.
func (s *Store) Accounts(ctx context.Context, page ports.Page) (ports.List[connect.Account], error) {
	l := &list{table: "accounts", identity: []string{"id"}, order: []string{"created_at", "id"}}
	l.after(page.Cursor)
	sql := `SELECT id, operator_id, company_name, coalesce(max_amount_cents, 0), created_at, fits, n FROM ` + l.rows(page) + ` AS a ORDER BY created_at DESC, id DESC`
	return read(ctx, s.db, l, page, sql, func(row pgx.CollectableRow) (got listed[connect.Account], err error) {
		a := &got.item
		err = row.Scan(&a.ID, &a.OperatorID, &a.CompanyName, &a.MaxAmountCents, &a.CreatedAt, &got.fits, &got.n)
		return got, err
	}, func(a connect.Account) ports.Cursor { return ports.Cursor{At: a.CreatedAt, ID: a.ID} })
}

func toOperator(row sqlc.OperatorByEmailRow) (connect.Operator, connect.Account) {
	return connect.Operator{ID: row.ID, Email: row.Email, PasswordHash: row.PasswordHash, CreatedAt: row.CreatedAt, VerifiedAt: row.VerifiedAt, Locale: row.Locale},
		connect.Account{ID: row.AccountID, OperatorID: row.ID, CompanyName: row.CompanyName,
			MaxAmountCents: money.Cents(row.MaxAmountCents), CreatedAt: row.AccountCreatedAt}
}
