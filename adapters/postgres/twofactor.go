package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/twofactor"
	"partnerdeposits/ports"
)

type twoFactors struct{ unit }

// Lock implements ports.TwoFactorRepository.
func (r twoFactors) Lock(ctx context.Context, operatorID id.ID) (*twofactor.Factor, error) {
	row, err := r.q.LockSecondFactor(ctx, r.Tx, operatorID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := twofactor.Factor{OperatorID: operatorID, CreatedAt: row.CreatedAt, ConfirmedAt: row.ConfirmedAt, LastStep: row.LastStep}
	f.Secret, err = r.sealer.Open(row.Secret, pg.FactorAAD(operatorID))
	return &f, err
}

// Save implements ports.TwoFactorRepository.
func (r twoFactors) Save(ctx context.Context, f twofactor.Factor) error {
	sealed, err := r.sealer.Seal(f.Secret, pg.FactorAAD(f.OperatorID))
	if err != nil {
		return err
	}
	return r.q.SaveSecondFactor(ctx, r.Deferred(), sqlc.SaveSecondFactorParams{
		OperatorID: f.OperatorID, Secret: sealed, CreatedAt: f.CreatedAt, ConfirmedAt: f.ConfirmedAt, LastStep: f.LastStep,
	})
}

// Delete implements ports.TwoFactorRepository.
func (r twoFactors) Delete(ctx context.Context, operatorID id.ID) error {
	return r.q.DeleteSecondFactor(ctx, r.Deferred(), operatorID)
}

// ReplaceRecoveryCodes implements ports.TwoFactorRepository.
func (r twoFactors) ReplaceRecoveryCodes(ctx context.Context, operatorID id.ID, hashes [][32]byte) error {
	if err := r.q.DeleteRecoveryCodes(ctx, r.Deferred(), operatorID); err != nil {
		return err
	}
	return r.q.InsertRecoveryCodes(ctx, r.Deferred(), operatorID, each(hashes, func(hash [32]byte) []byte { return hash[:] }))
}

// UseRecoveryCode implements ports.TwoFactorRepository.
func (r twoFactors) UseRecoveryCode(ctx context.Context, operatorID id.ID, hash [32]byte, at time.Time) (bool, error) {
	n, err := r.q.UseRecoveryCode(ctx, r.Tx, at, operatorID, hash[:])
	return n > 0, err
}

type halfSignIns struct{ unit }

// Insert implements ports.HalfSignInRepository.
func (r halfSignIns) Insert(ctx context.Context, s ports.HalfSignIn) error {
	return r.q.InsertHalfSignIn(ctx, r.Deferred(), sqlc.InsertHalfSignInParams{
		TokenHash: s.TokenHash[:], OperatorID: s.OperatorID, CreatedAt: s.CreatedAt, ExpiresAt: s.ExpiresAt,
	})
}

// Take implements ports.HalfSignInRepository.
func (r halfSignIns) Take(ctx context.Context, tokenHash [32]byte, now time.Time) (id.ID, error) {
	operatorID, err := r.q.TakeHalfSignIn(ctx, r.Tx, tokenHash[:], now)
	return operatorID, pg.OrNotFound(err, twofactor.ErrSignInOver)
}

// DeleteOf implements ports.HalfSignInRepository.
func (r halfSignIns) DeleteOf(ctx context.Context, operatorID id.ID) error {
	return r.q.DeleteHalfSignInsOf(ctx, r.Deferred(), operatorID)
}

// DeleteExpired implements ports.HalfSignInRepository.
func (r halfSignIns) DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error) {
	ended, err := r.q.DeleteExpiredHalfSignIns(ctx, r.Tx, at, int32(limit))
	if err != nil {
		return 0, err
	}
	tries, err := r.q.DeleteOldCodeTries(ctx, r.Tx, at.Add(-twofactor.AllWindow), int32(limit))
	return int(max(ended, tries)), err
}

// CountTry implements ports.CodeTries.
func (r halfSignIns) CountTry(ctx context.Context, operatorID id.ID, key [32]byte, window time.Duration, now time.Time) (int, time.Time, error) {
	row, err := r.q.CountCodeTry(ctx, r.Tx, sqlc.CountCodeTryParams{OperatorID: operatorID, Key: key[:], At: now, Over: now.Add(-window)})
	return int(row.Tries), row.Since, err
}

// RefundTry implements ports.CodeTries.
func (r halfSignIns) RefundTry(ctx context.Context, operatorID id.ID, key [32]byte) error {
	return r.q.RefundCodeTry(ctx, r.Deferred(), operatorID, key[:])
}

// TwoFactor implements ports.TwoFactorReader.
func (s *Store) TwoFactor(ctx context.Context, operatorID id.ID) (twofactor.State, error) {
	row, err := s.q.SecondFactorState(ctx, s.db, operatorID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && row.ConfirmedAt.IsZero() {
		return twofactor.State{}, nil
	}
	return twofactor.State{On: err == nil, Since: row.ConfirmedAt, RecoveryLeft: int(row.RecoveryLeft)}, err
}

// HalfSignedIn implements ports.TwoFactorReader.
func (s *Store) HalfSignedIn(ctx context.Context, tokenHash [32]byte, now time.Time) (connect.Operator, connect.Account, error) {
	row, err := s.q.OperatorByHalfSignIn(ctx, s.db, tokenHash[:], now)
	o, a := toOperator(sqlc.OperatorByEmailRow(row))
	return o, a, pg.OrNotFound(err, twofactor.ErrSignInOver)
}
