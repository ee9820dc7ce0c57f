package accounts

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
)

// OneTimeCodes computes the codes of an authenticator app.
type OneTimeCodes interface {
	// Code is the code of a secret for a step.
	Code(s secret.Text, step int64) (string, error)
	// URI is the text of the QR code by which an app takes up the secret. email names the operator in the app.
	URI(s secret.Text, email string) secret.Text
}

// HalfSignIn is a sign-in whose password was right and whose code is missing. It is no session: a page or an act that
// needs a session does not find it. It ends when the operator's password changes.
type HalfSignIn struct {
	TokenHash  [32]byte
	OperatorID id.ID
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// TwoFactors writes the authenticator apps and recovery codes of operators.
type TwoFactors interface {
	// Lock locks and gives the factor of an operator; nil for none.
	Lock(ctx context.Context, operatorID id.ID) (*twofactor.Factor, error)
	// Save adds the factor of an operator, or replaces it.
	Save(ctx context.Context, f twofactor.Factor) error
	// Delete removes the factor and the recovery codes of an operator.
	Delete(ctx context.Context, operatorID id.ID) error
	// ReplaceRecoveryCodes removes the recovery codes of an operator and adds new ones. The operator has a factor.
	ReplaceRecoveryCodes(ctx context.Context, operatorID id.ID, hashes [][32]byte) error
	// UseRecoveryCode marks a recovery code as used. used is false for an unknown one, and for one that was used
	// before.
	UseRecoveryCode(ctx context.Context, operatorID id.ID, hash [32]byte, at time.Time) (used bool, err error)
	// TwoFactor tells whether codes are asked of an operator; the zero State for an unknown operator.
	TwoFactor(ctx context.Context, operatorID id.ID) (twofactor.State, error)
}

// HalfSignIns writes half sign-ins, and the tries of codes.
type HalfSignIns interface {
	Insert(ctx context.Context, s HalfSignIn) error
	// Take ends a half sign-in and gives its operator. Returns twofactor.ErrSignInOver for an unknown one, one that
	// expired, and one from before the operator's present password.
	Take(ctx context.Context, tokenHash [32]byte, now time.Time) (operatorID id.ID, err error)
	// DeleteOf ends the half sign-ins of an operator.
	DeleteOf(ctx context.Context, operatorID id.ID) error
	// DeleteExpired removes up to limit half sign-ins that ended before at, and up to limit counts of tries whose
	// window ended, and returns the larger number.
	DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error)
	// CountTry counts a try under a key of the operator, and gives the count and the start of its window. A window that
	// is over begins anew.
	CountTry(ctx context.Context, operatorID id.ID, key [32]byte, window time.Duration,
		now time.Time) (tries int, since time.Time, err error)
	// RefundTry takes a try back.
	RefundTry(ctx context.Context, operatorID id.ID, key [32]byte) error
	// HalfSignedIn gives the operator of a half sign-in. Returns twofactor.ErrSignInOver as HalfSignIns.Take does.
	HalfSignedIn(ctx context.Context, tokenHash [32]byte, now time.Time) (connect.Operator, connect.Account, error)
}
