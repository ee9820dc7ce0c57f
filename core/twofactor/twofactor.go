// Package twofactor holds the second factor of an operator's log-in: codes of an authenticator app (TOTP, RFC 6238)
// and recovery codes.
package twofactor

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"strings"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// Faults about two-factor codes. Wrong, malformed and used codes have the same fault.
var (
	ErrWrongCode = fault.New(fault.Unprocessable, "wrong_code",
		"This code is not right, or was used before. Wait for the next code of your app.")
	ErrTooManyCodes = fault.New(fault.RateLimited, "too_many_codes",
		"Too many wrong codes. Wait some minutes, then try again.")
	ErrSignInExpired  = fault.New(fault.Unauthenticated, "sign_in_over", "Log in again.")
	ErrAlreadyEnabled = fault.New(fault.Conflict, "totp_on", "Two-factor codes are on already.")
	ErrNotEnabled     = fault.New(fault.Conflict, "totp_off", "Two-factor codes are off.")
)

const (
	// CodePeriod is the time for which the authenticator app shows a code.
	CodePeriod = 30 * time.Second
	// CodeDigits is the number of digits of an authenticator app's code.
	CodeDigits = 6
	// SecretBytes is the size of an authenticator app's secret: that of its hash, as RFC 4226 recommends.
	SecretBytes = 20
	// RecoveryCodeCount is the number of recovery codes that an operator gets.
	RecoveryCodeCount = 10
	// RecoveryCodeBytes is the number of random bytes that make a recovery code hard to guess from its hash.
	RecoveryCodeBytes = 10
	// HalfSignInLifetime is the time from the right password within which the two-factor code must follow.
	HalfSignInLifetime = 5 * time.Minute
	// EnrolmentLifetime is the time from the password within which the first code confirms a new authenticator app, so
	// that a thief of the session cannot do so later.
	EnrolmentLifetime = time.Hour

	skew = 1 // The number of code periods by which the authenticator app's clock may be early or late.
)

// Limits of an operator's wrong two-factor codes.
const (
	MaxTriesPerNetwork = 5
	NetworkTriesWindow = 15 * time.Minute
	// The largest number of wrong two-factor codes over all networks, except those from which the operator has logged
	// in before.
	MaxTriesOverall    = 50
	OverallTriesWindow = time.Hour
)

// NetworkLockoutWait returns the time until codes from a network are accepted again; 0: now. tries counts from
// since.
func NetworkLockoutWait(tries int, since, now time.Time) time.Duration {
	if tries <= MaxTriesPerNetwork {
		return 0
	}
	return since.Add(NetworkTriesWindow).Sub(now)
}

// OverallLockoutWait returns the time until codes are accepted again, from the tries over all networks; 0: now.
// known networks, from which the operator has logged in before, have no such limit.
func OverallLockoutWait(tries int, known bool, since, now time.Time) time.Duration {
	if tries <= MaxTriesOverall || known {
		return 0
	}
	return since.Add(OverallTriesWindow).Sub(now)
}

// SecondFactor is the authenticator app that an operator uses as a second factor.
type SecondFactor struct {
	OperatorID id.ID
	Secret     secret.Text // The secret that the authenticator app shares with the service, in base32.
	CreatedAt  time.Time
	// When a first code confirmed the authenticator app; zero: not yet, so log-in requires no code.
	ConfirmedAt time.Time
	LastStep    int64 // The number of the 30-second period whose code was accepted last.
}

// Enabled reports whether a log-in of the operator requires a two-factor code.
func (f *SecondFactor) Enabled() bool { return f != nil && !f.ConfirmedAt.IsZero() }

// CheckConfirmable checks whether the authenticator app waits for its first code. Returns ErrAlreadyEnabled, or
// ErrNotEnabled if there is no app or EnrolmentLifetime is over.
func (f *SecondFactor) CheckConfirmable(now time.Time) error {
	if f.Enabled() {
		return ErrAlreadyEnabled
	}
	if f == nil || now.Sub(f.CreatedAt) >= EnrolmentLifetime {
		return ErrNotEnabled
	}
	return nil
}

// State describes whether log-in requires two-factor codes, since when, and how many recovery codes are left.
type State struct {
	On           bool
	Since        time.Time
	RecoveryLeft int
}

// NewSecret returns a secret for an authenticator app, made from SecretBytes random bytes.
func NewSecret(random []byte) secret.Text {
	return secret.Text(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random))
}

// CodePeriodNumberAt returns the number of the code period that contains a time.
func CodePeriodNumberAt(at time.Time) int64 { return at.Unix() / int64(CodePeriod/time.Second) }

// CodeGenerator computes the code that an authenticator app shows in the period with number step.
type CodeGenerator func(s secret.Text, step int64) (string, error)

// AcceptCode checks a code of the authenticator app, of the present or a neighbouring period, and stores its period
// as used. Returns ErrWrongCode, also for a used code.
func (f *SecondFactor) AcceptCode(code string, now time.Time, codeAt CodeGenerator) error {
	code, accepted := CompactCode(code), int64(0)
	for step := CodePeriodNumberAt(now) - skew; step <= CodePeriodNumberAt(now)+skew; step++ {
		want, err := codeAt(f.Secret, step)
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && step > f.LastStep {
			accepted = step
		}
	}
	if accepted == 0 {
		return ErrWrongCode
	}
	f.LastStep = accepted
	return nil
}

// CompactCode returns a code in lower case, without spaces and dashes.
func CompactCode(code string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' {
			return -1
		}
		return r
	}, code))
}

var recoveryEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewRecoveryCode returns a recovery code made from RecoveryCodeBytes random bytes, in groups of four characters.
func NewRecoveryCode(random []byte) secret.Text {
	text := strings.ToLower(recoveryEncoding.EncodeToString(random))
	var groups []string
	for ; len(text) > 0; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return secret.Text(strings.Join(groups, "-"))
}

// RecoveryCodeHash returns the hash under which an operator's recovery code is stored; ok is false for another
// text.
func RecoveryCodeHash(operatorID id.ID, code string) (hash [32]byte, ok bool) {
	code = CompactCode(code)
	raw, err := recoveryEncoding.DecodeString(strings.ToUpper(code))
	if err != nil || len(raw) != RecoveryCodeBytes || recoveryEncoding.EncodedLen(RecoveryCodeBytes) != len(code) {
		return hash, false
	}
	return sha256.Sum256([]byte(id.Operator.Of(operatorID) + " " + code)), true
}
