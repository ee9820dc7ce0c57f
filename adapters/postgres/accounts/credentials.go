package accounts

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/accounts/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	accountports "partnerdeposits/ports/accounts"
)

func (r OperatorStore) LockRow(ctx context.Context, operatorID id.ID) (connect.Operator, error) {
	row, err := queries.LockOperator(ctx, pg.In(ctx), operatorID)
	return connect.Operator(row), pg.ReplaceErrNoRows(err, connect.ErrBadCredentials)
}

func (r OperatorStore) Update(ctx context.Context, o connect.Operator) error {
	return queries.UpdateOperator(ctx, pg.In(ctx), sqlc.UpdateOperatorParams{
		ID: o.ID, Email: o.Email, EmailKey: mailaddr.Normalized(o.Email), PasswordHash: o.PasswordHash,
		VerifiedAt: o.VerifiedAt,
		Locale:     o.Locale,
	})
}

func (r TokenStore) InsertPasswordResetRequest(ctx context.Context, p accountports.PasswordResetRequest) error {
	return queries.InsertPasswordRequest(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertPasswordRequestParams(p))
}

func (r TokenStore) TakePasswordResetRequests(ctx context.Context, limit int) ([]accountports.PasswordResetRequest,
	error) {
	rows, err := queries.TakePasswordRequests(ctx, pg.In(ctx), limit)
	return pg.ConvertEach(rows,
		func(row sqlc.PasswordRequest) accountports.PasswordResetRequest {
			return accountports.PasswordResetRequest(row)
		}), err
}

func (r TokenStore) InsertToken(ctx context.Context, t connect.MailedToken) error {
	return queries.InsertToken(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertTokenParams{
		TokenHash: t.Hash[:], OperatorID: t.OperatorID, Kind: string(t.Kind), Email: t.Email, CreatedAt: t.CreatedAt,
		ExpiresAt: t.ExpiresAt,
	})
}

func (r TokenStore) LiveToken(ctx context.Context, hash [32]byte, now time.Time) (connect.MailedToken, error) {
	row, err := queries.TokenByHash(ctx, pg.In(ctx), hash[:], now)
	return toToken(row, hash), pg.ReplaceErrNoRows(err, connect.ErrTokenVoid)
}

func (r TokenStore) MarkTokensUsed(ctx context.Context, operatorID id.ID, at time.Time,
	kinds ...connect.TokenKind) error {
	return queries.UseTokens(ctx, pg.In(ctx).QueueingTx(), at, operatorID,
		pg.ConvertEach(kinds, func(k connect.TokenKind) string { return string(k) }))
}

func (r TokenStore) CountTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind,
	since time.Time) (int, error) {
	n, err := queries.CountTokens(ctx, pg.In(ctx), operatorID, string(kind), since)
	return int(n), err
}

func (r TokenStore) CountLiveTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind,
	now time.Time) (int, error) {
	n, err := queries.CountLiveTokens(ctx, pg.In(ctx), operatorID, string(kind), now)
	return int(n), err
}

func (r TokenStore) DeleteExpiredTokens(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := queries.DeleteExpiredTokens(ctx, pg.In(ctx), at, limit)
	return int(n), err
}

func (r TokenStore) TokenWithOperator(ctx context.Context, hash [32]byte,
	now time.Time) (connect.MailedToken, connect.Operator, error) {
	row, err := queries.TokenByHash(ctx, r.DB, hash[:], now)
	o := connect.Operator{
		ID: row.OperatorID, Email: row.OperatorEmail, PasswordHash: row.PasswordHash, CreatedAt: row.OperatorCreatedAt,
		VerifiedAt: row.VerifiedAt, Locale: row.Locale,
	}
	return toToken(row, hash), o, pg.ReplaceErrNoRows(err, connect.ErrTokenVoid)
}

func toToken(row sqlc.TokenByHashRow, hash [32]byte) connect.MailedToken {
	return connect.MailedToken{
		Hash: hash, OperatorID: row.OperatorID, Kind: connect.TokenKind(row.Kind), Email: row.Email, CreatedAt: row.CreatedAt,
		ExpiresAt: row.ExpiresAt,
	}
}

func (r SessionStore) Sessions(ctx context.Context, operatorID id.ID, now time.Time, idle time.Duration,
	limit int) ([]accountports.Session, error) {
	rows, err := queries.SessionsOf(ctx, r.DB, sqlc.SessionsOfParams{
		OperatorID: operatorID, At: now, UsedAfter: now.Add(-idle), MaxRows: limit,
	})
	if err != nil {
		return nil, err
	}
	all := make([]accountports.Session, 0, len(rows))
	for _, row := range rows {
		all = append(all, accountports.Session{
			TokenHash: [32]byte(row.TokenHash), OperatorID: row.OperatorID, Browser: row.Browser, CreatedAt: row.CreatedAt,
			LastSeenAt: row.LastSeenAt, ExpiresAt: row.ExpiresAt,
		})
	}
	return all, nil
}
