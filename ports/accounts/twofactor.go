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
	// Code returns the six-digit code of a secret for a step of time.
	Code(s secret.Text, step int64) (string, error)
	// URI returns the text of the QR code with which an authenticator app stores the secret. The app shows the
	// e-mail address as the operator's name.
	URI(s secret.Text, email string) secret.Text
}

// HalfSignIn is a sign-in whose password was right and whose code is missing. It is not a session: pages and acts
// that need a session refuse it. It ends when the operator's password changes.
type HalfSignIn struct {
	TokenHash  [32]byte
	OperatorID id.ID
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// TwoFactors stores the second factors of operators: their authenticator apps and recovery codes.
type TwoFactors interface {
	// Lock locks and returns the second factor of an operator; nil for none.
	Lock(ctx context.Context, operatorID id.ID) (*twofactor.Factor, error)
	// Save stores the second factor of an operator, or replaces it.
	Save(ctx context.Context, f twofactor.Factor) error
	// Delete removes the second factor and the recovery codes of an operator.
	Delete(ctx context.Context, operatorID id.ID) error
	// ReplaceRecoveryCodes removes the recovery codes of an operator and stores new ones. The operator has a second
	// factor.
	ReplaceRecoveryCodes(ctx context.Context, operatorID id.ID, hashes [][32]byte) error
	// UseRecoveryCode marks a recovery code as used. used is true if it did, and false for an unknown code and for
	// one that was used before.
	UseRecoveryCode(ctx context.Context, operatorID id.ID, hash [32]byte, at time.Time) (used bool, err error)
	// TwoFactor returns whether an operator signs in with codes; the zero State for an unknown operator.
	TwoFactor(ctx context.Context, operatorID id.ID) (twofactor.State, error)
}

// HalfSignIns stores half sign-ins, and the tries of two-factor codes.
type HalfSignIns interface {
	Insert(ctx context.Context, s HalfSignIn) error
	// Take ends a half sign-in and returns its operator. Returns twofactor.ErrSignInOver for an unknown half
	// sign-in, one that expired, and one from before the operator's present password.
	Take(ctx context.Context, tokenHash [32]byte, now time.Time) (operatorID id.ID, err error)
	// DeleteOf ends the half sign-ins of an operator.
	DeleteOf(ctx context.Context, operatorID id.ID) error
	// DeleteExpired removes up to limit half sign-ins that ended before the time at, and up to limit counts of tries
	// whose window ended, and returns the larger number.
	DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error)
	// CountTry counts a try of a two-factor code under a key of the operator, and returns the count and the start of
	// its window. If the window is over, a new one begins.
	CountTry(ctx context.Context, operatorID id.ID, key [32]byte, window time.Duration,
		now time.Time) (tries int, since time.Time, err error)
	// RefundTry takes back a try of a two-factor code that CountTry counted.
	RefundTry(ctx context.Context, operatorID id.ID, key [32]byte) error
	// HalfSignedIn returns the operator of a half sign-in, and the operator's account. Returns
	// twofactor.ErrSignInOver as HalfSignIns.Take does.
	HalfSignedIn(ctx context.Context, tokenHash [32]byte, now time.Time) (connect.Operator, connect.Account, error)
}
