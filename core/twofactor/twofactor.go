// Package twofactor holds the second factor of an operator's sign-in: the codes of an authenticator app (TOTP, RFC
// 6238), and recovery codes for an operator who lost the app.
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

// Faults about codes. A code that is wrong, malformed or used gives the same fault.
var (
	ErrWrongCode = fault.New(fault.Unprocessable, "wrong_code",
		"This code is not right, or was used before. Wait for the next code of your app.")
	ErrTooManyCodes = fault.New(fault.RateLimited, "too_many_codes",
		"Too many wrong codes. Wait some minutes, then try again.")
	ErrSignInOver = fault.New(fault.Unauthenticated, "sign_in_over", "Log in again.")
	ErrOn         = fault.New(fault.Conflict, "totp_on", "Two-factor codes are on already.")
	ErrOff        = fault.New(fault.Conflict, "totp_off", "Two-factor codes are off.")
)

const (
	// Period is the time for which the authenticator app shows a code.
	Period = 30 * time.Second
	// Digits is the length of a code.
	Digits = 6
	// SecretBytes is the length of a secret: that of the hash, as RFC 4226 recommends.
	SecretBytes = 20
	// RecoveryCodes is the number of recovery codes that an operator gets.
	RecoveryCodes = 10
	// RecoveryBytes is the length of a recovery code: too long to be guessed from its hash.
	RecoveryBytes = 10
	// SignInLifetime is the time for the code, counted from the right password.
	SignInLifetime = 5 * time.Minute
	// EnrolmentLifetime is the time for the first code, counted from the password: a session that was taken later confirms
	// no secret.
	EnrolmentLifetime = time.Hour

	skew = 1 // steps by which the clock of the app may differ, either way
)

// Bounds of wrong codes of an operator.
const (
	NetworkTries  = 5 // from a network, in NetworkWindow
	NetworkWindow = 15 * time.Minute
	// from all networks together, in AllWindow; networks that signed in before have the first bound alone
	AllTries  = 50
	AllWindow = time.Hour
)

// NetworkWait is the time until a network may try again, after its tries in a window that began at since; 0 for a try
// that is allowed.
func NetworkWait(tries int, since, now time.Time) time.Duration {
	if tries <= NetworkTries {
		return 0
	}
	return since.Add(NetworkWindow).Sub(now)
}

// AllWait is NetworkWait for the tries from all networks together. known tells that the operator signed in from this
// network before.
func AllWait(tries int, known bool, since, now time.Time) time.Duration {
	if tries <= AllTries || known {
		return 0
	}
	return since.Add(AllWindow).Sub(now)
}

// Factor is the authenticator app of an operator.
type Factor struct {
	OperatorID  id.ID
	Secret      secret.Text // in base32, as apps take it
	CreatedAt   time.Time
	ConfirmedAt time.Time // zero: no code of the app was seen, and none is asked for
	LastStep    int64     // of the last code that was accepted
}

// On reports whether codes are asked for.
func (f *Factor) On() bool { return f != nil && !f.ConfirmedAt.IsZero() }

// Waits refuses to confirm a factor that does not wait for its first code. Returns ErrOff without a factor and after
// EnrolmentLifetime, or ErrOn.
func (f *Factor) Waits(now time.Time) error {
	if f.On() {
		return ErrOn
	}
	if f == nil || now.Sub(f.CreatedAt) >= EnrolmentLifetime {
		return ErrOff
	}
	return nil
}

// State tells whether codes are asked for, since when, and how many recovery codes are left.
type State struct {
	On           bool
	Since        time.Time
	RecoveryLeft int
}

// NewSecret makes a secret from SecretBytes random bytes.
func NewSecret(random []byte) secret.Text {
	return secret.Text(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random))
}

// StepAt is the number of the period of a time.
func StepAt(at time.Time) int64 { return at.Unix() / int64(Period/time.Second) }

// CodeAt computes the code of a secret for a step.
type CodeAt func(s secret.Text, step int64) (string, error)

// Accept accepts a code of the app for the present step or a neighbour, if no code of that step or a later one was
// accepted before.
//
// Returns ErrWrongCode.
func (f *Factor) Accept(code string, now time.Time, codeAt CodeAt) error {
	code, accepted := Compact(code), int64(0)
	for step := StepAt(now) - skew; step <= StepAt(now)+skew; step++ {
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

// Compact is a code without the spaces and dashes with which people type it, in lower case.
func Compact(code string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' {
			return -1
		}
		return r
	}, code))
}

var recoveryEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewRecoveryCode makes a recovery code from RecoveryBytes random bytes, in groups of four.
func NewRecoveryCode(random []byte) secret.Text {
	text := strings.ToLower(recoveryEncoding.EncodeToString(random))
	var groups []string
	for ; len(text) > 0; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return secret.Text(strings.Join(groups, "-"))
}

// RecoveryHash is the hash under which an operator's recovery code is stored. ok is false for a text that is no
// recovery code.
func RecoveryHash(operatorID id.ID, code string) (hash [32]byte, ok bool) {
	code = Compact(code)
	raw, err := recoveryEncoding.DecodeString(strings.ToUpper(code))
	if err != nil || len(raw) != RecoveryBytes || recoveryEncoding.EncodedLen(RecoveryBytes) != len(code) {
		return hash, false
	}
	return sha256.Sum256([]byte(id.Operator.Of(operatorID) + " " + code)), true
}
