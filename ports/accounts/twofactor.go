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
	// Code returns the six-digit code that an authenticator app with a secret shows in a 30-second period, of
	// which step is the number.
	Code(s secret.Text, step int64) (string, error)
	// EnrolmentURI returns the text of the QR code with which an authenticator app stores the secret.
	EnrolmentURI(s secret.Text, email string) secret.Text
}

// HalfSignIn is a sign-in whose password was right and whose code is missing.
type HalfSignIn struct {
	TokenHash  [32]byte
	OperatorID id.ID
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// TwoFactorStore stores the second factors of operators: their authenticator apps and recovery codes.
type TwoFactorStore interface {
	// LockRow locks and returns the second factor (authenticator app) of an operator; nil for an operator without
	// one.
	LockRow(ctx context.Context, operatorID id.ID) (*twofactor.SecondFactor, error)
	Save(ctx context.Context, f twofactor.SecondFactor) error
	Delete(ctx context.Context, operatorID id.ID) error
	ReplaceRecoveryCodes(ctx context.Context, operatorID id.ID, hashes [][32]byte) error
	// UseRecoveryCode marks a recovery code as used. used reports whether it did.
	UseRecoveryCode(ctx context.Context, operatorID id.ID, hash [32]byte, at time.Time) (used bool, err error)
	// StateOf returns the state of an operator's two-factor sign-in; the zero State for an unknown operator.
	StateOf(ctx context.Context, operatorID id.ID) (twofactor.State, error)
}

// HalfSignInStore stores half sign-ins (password right, code missing), and counts the tries of two-factor codes.
type HalfSignInStore interface {
	Insert(ctx context.Context, s HalfSignIn) error
	// Take ends a half sign-in (password right, code missing) and returns its operator. Returns
	// twofactor.ErrSignInExpired for one that is unknown, has expired, or is older than the operator's present
	// password.
	Take(ctx context.Context, tokenHash [32]byte, now time.Time) (operatorID id.ID, err error)
	// DeleteOfOperator deletes the half sign-ins of an operator, those with a right password and a missing code.
	DeleteOfOperator(ctx context.Context, operatorID id.ID) error
	// DeleteExpired removes up to limit half sign-ins (password right, code missing) that ended before the time at,
	// and up to limit counts of code tries. It returns the larger number.
	DeleteExpired(ctx context.Context, at time.Time, limit int) (int, error)
	// CountCodeTry counts a try of a two-factor code, for an operator and a key such as a network, and returns the
	// number of tries and the start of the span in which they count.
	CountCodeTry(ctx context.Context, operatorID id.ID, key [32]byte, window time.Duration,
		now time.Time) (tries int, since time.Time, err error)
	// UncountCodeTry takes back a try of a two-factor code that CountCodeTry counted.
	UncountCodeTry(ctx context.Context, operatorID id.ID, key [32]byte) error
	// HalfSignedInOperator returns the operator and the account of a half sign-in (password right, code missing),
	// without ending it, or twofactor.ErrSignInExpired.
	HalfSignedInOperator(ctx context.Context, tokenHash [32]byte, now time.Time) (connect.Operator, connect.Account, error)
}
