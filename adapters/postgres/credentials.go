package postgres

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/ports"
)

// Lock implements ports.CredentialRepository.
func (r operators) Lock(ctx context.Context, operatorID id.ID) (connect.Operator, error) {
	row, err := r.q.LockOperator(ctx, r.Tx, operatorID)
	return connect.Operator(row), pg.OrNotFound(err, connect.ErrBadCredentials)
}

// Update implements ports.CredentialRepository.
func (r operators) Update(ctx context.Context, o connect.Operator) error {
	return r.q.UpdateOperator(ctx, r.Tx, sqlc.UpdateOperatorParams{
		ID: o.ID, Email: o.Email, EmailKey: mailaddr.Normal(o.Email), PasswordHash: o.PasswordHash, VerifiedAt: o.VerifiedAt, Locale: o.Locale,
	})
}

// InsertPasswordRequest implements ports.CredentialRepository.
func (r operators) InsertPasswordRequest(ctx context.Context, p ports.PasswordRequest) error {
	return r.q.InsertPasswordRequest(ctx, r.Deferred(), sqlc.InsertPasswordRequestParams(p))
}

// TakePasswordRequests implements ports.CredentialRepository.
func (r operators) TakePasswordRequests(ctx context.Context, limit int) ([]ports.PasswordRequest, error) {
	rows, err := r.q.TakePasswordRequests(ctx, r.Tx, int32(limit))
	return each(rows, func(row sqlc.PasswordRequest) ports.PasswordRequest { return ports.PasswordRequest(row) }), err
}

// InsertToken implements ports.TokenRepository.
func (r operators) InsertToken(ctx context.Context, t connect.Token) error {
	return r.q.InsertToken(ctx, r.Deferred(), sqlc.InsertTokenParams{
		TokenHash: t.Hash[:], OperatorID: t.OperatorID, Kind: string(t.Kind), Email: t.Email, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
	})
}

// Token implements ports.TokenRepository.
func (r operators) Token(ctx context.Context, hash [32]byte, now time.Time) (connect.Token, error) {
	row, err := r.q.TokenByHash(ctx, r.Tx, hash[:], now)
	return toToken(row, hash), pg.OrNotFound(err, connect.ErrTokenVoid)
}

// UseTokens implements ports.TokenRepository.
func (r operators) UseTokens(ctx context.Context, operatorID id.ID, at time.Time, kinds ...connect.TokenKind) error {
	return r.q.UseTokens(ctx, r.Deferred(), at, operatorID, each(kinds, func(k connect.TokenKind) string { return string(k) }))
}

// CountTokens implements ports.TokenRepository.
func (r operators) CountTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind, since time.Time) (int, error) {
	n, err := r.q.CountTokens(ctx, r.Tx, operatorID, string(kind), since)
	return int(n), err
}

// CountLiveTokens implements ports.TokenRepository.
func (r operators) CountLiveTokens(ctx context.Context, operatorID id.ID, kind connect.TokenKind, now time.Time) (int, error) {
	n, err := r.q.CountLiveTokens(ctx, r.Tx, operatorID, string(kind), now)
	return int(n), err
}

// DeleteExpiredTokens implements ports.TokenRepository.
func (r operators) DeleteExpiredTokens(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := r.q.DeleteExpiredTokens(ctx, r.Tx, at, int32(limit))
	return int(n), err
}

// TokenByHash implements ports.TokenReader.
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte, now time.Time) (connect.Token, connect.Operator, error) {
	row, err := s.q.TokenByHash(ctx, s.db, hash[:], now)
	o := connect.Operator{
		ID: row.OperatorID, Email: row.OperatorEmail, PasswordHash: row.PasswordHash, CreatedAt: row.OperatorCreatedAt, VerifiedAt: row.VerifiedAt, Locale: row.Locale,
	}
	return toToken(row, hash), o, pg.OrNotFound(err, connect.ErrTokenVoid)
}

func toToken(row sqlc.TokenByHashRow, hash [32]byte) connect.Token {
	return connect.Token{
		Hash: hash, OperatorID: row.OperatorID, Kind: connect.TokenKind(row.Kind), Email: row.Email, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt,
	}
}

// Sessions implements ports.SessionReader.
func (s *Store) Sessions(ctx context.Context, operatorID id.ID, now time.Time, idle time.Duration, limit int) ([]ports.Session, error) {
	rows, err := s.q.SessionsOf(ctx, s.db, sqlc.SessionsOfParams{OperatorID: operatorID, At: now, UsedAfter: now.Add(-idle), Most: int32(limit)})
	if err != nil {
		return nil, err
	}
	all := make([]ports.Session, 0, len(rows))
	for _, row := range rows {
		all = append(all, ports.Session{
			TokenHash: [32]byte(row.TokenHash), OperatorID: row.OperatorID, Browser: row.Browser, CreatedAt: row.CreatedAt, LastSeenAt: row.LastSeenAt, ExpiresAt: row.ExpiresAt,
		})
	}
	return all, nil
}
