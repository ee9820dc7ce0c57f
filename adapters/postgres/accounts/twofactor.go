package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/accounts/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/twofactor"
	accountports "partnerdeposits/ports/accounts"
)

func (r TwoFactorStore) LockRow(ctx context.Context, operatorID id.ID) (*twofactor.SecondFactor, error) {
	row, err := queries.LockSecondFactor(ctx, pg.In(ctx), operatorID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := twofactor.SecondFactor{OperatorID: operatorID, CreatedAt: row.CreatedAt, ConfirmedAt: row.ConfirmedAt,
		LastStep: row.LastStep}
	f.Secret, err = r.Sealer.Decrypt(row.Secret, pg.TwoFactorSecretAAD(operatorID))
	return &f, err
}

func (r TwoFactorStore) Save(ctx context.Context, f twofactor.SecondFactor) error {
	sealed, err := r.Sealer.Encrypt(f.Secret, pg.TwoFactorSecretAAD(f.OperatorID))
	if err != nil {
		return err
	}
	return queries.SaveSecondFactor(ctx, pg.In(ctx).QueueingTx(), sqlc.SaveSecondFactorParams{
		OperatorID: f.OperatorID, Secret: sealed, CreatedAt: f.CreatedAt, ConfirmedAt: f.ConfirmedAt, LastStep: f.LastStep,
	})
}

func (r TwoFactorStore) Delete(ctx context.Context, operatorID id.ID) error {
	return queries.DeleteSecondFactor(ctx, pg.In(ctx).QueueingTx(), operatorID)
}

func (r TwoFactorStore) ReplaceRecoveryCodes(ctx context.Context, operatorID id.ID, hashes [][32]byte) error {
	if err := queries.DeleteRecoveryCodes(ctx, pg.In(ctx).QueueingTx(), operatorID); err != nil {
		return err
	}
	return queries.InsertRecoveryCodes(ctx, pg.In(ctx).QueueingTx(), operatorID,
		pg.ConvertEach(hashes, func(hash [32]byte) []byte { return hash[:] }))
}

func (r TwoFactorStore) UseRecoveryCode(ctx context.Context, operatorID id.ID, hash [32]byte, at time.Time) (bool,
	error) {
	n, err := queries.UseRecoveryCode(ctx, pg.In(ctx), at, operatorID, hash[:])
	return n > 0, err
}

func (r HalfSignInStore) Insert(ctx context.Context, s accountports.HalfSignIn) error {
	return queries.InsertHalfSignIn(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertHalfSignInParams{
		TokenHash: s.TokenHash[:], OperatorID: s.OperatorID, CreatedAt: s.CreatedAt, ExpiresAt: s.ExpiresAt,
	})
}

func (r HalfSignInStore) Take(ctx context.Context, tokenHash [32]byte, now time.Time) (id.ID, error) {
	operatorID, err := queries.TakeHalfSignIn(ctx, pg.In(ctx), tokenHash[:], now)
	return operatorID, pg.ReplaceErrNoRows(err, twofactor.ErrSignInExpired)
}

func (r HalfSignInStore) DeleteOfOperator(ctx context.Context, operatorID id.ID) error {
	return queries.DeleteHalfSignInsOf(ctx, pg.In(ctx).QueueingTx(), operatorID)
}

func (r HalfSignInStore) DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error) {
	ended, err := queries.DeleteExpiredHalfSignIns(ctx, pg.In(ctx), at, limit)
	if err != nil {
		return 0, err
	}
	tries, err := queries.DeleteOldCodeTries(ctx, pg.In(ctx), at.Add(-twofactor.OverallTriesWindow), limit)
	return int(max(ended, tries)), err
}

func (r HalfSignInStore) CountCodeTry(ctx context.Context, operatorID id.ID, key [32]byte, window time.Duration,
	now time.Time) (int, time.Time, error) {
	row, err := queries.CountCodeTry(ctx, pg.In(ctx),
		sqlc.CountCodeTryParams{OperatorID: operatorID, Key: key[:], At: now, Over: now.Add(-window)})
	return row.Tries, row.Since, err
}

func (r HalfSignInStore) UncountCodeTry(ctx context.Context, operatorID id.ID, key [32]byte) error {
	return queries.RefundCodeTry(ctx, pg.In(ctx).QueueingTx(), operatorID, key[:])
}

func (r TwoFactorStore) StateOf(ctx context.Context, operatorID id.ID) (twofactor.State, error) {
	row, err := queries.SecondFactorState(ctx, r.DB, operatorID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && row.ConfirmedAt.IsZero() {
		return twofactor.State{}, nil
	}
	return twofactor.State{On: err == nil, Since: row.ConfirmedAt, RecoveryLeft: row.RecoveryLeft}, err
}

func (r HalfSignInStore) HalfSignedInOperator(ctx context.Context, tokenHash [32]byte,
	now time.Time) (connect.Operator, connect.Account, error) {
	row, err := queries.OperatorByHalfSignIn(ctx, r.DB, tokenHash[:], now)
	o, a := toOperator(sqlc.OperatorByEmailRow(row))
	return o, a, pg.ReplaceErrNoRows(err, twofactor.ErrSignInExpired)
}
