// Package connect holds the rules of connecting a partner and an account: the signed connect URL, the operator, the
// account, and the link (service.md, "Connect secret"; api.md §4).
package connect

import (
	"crypto/subtle"
	"regexp"
	"strconv"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/secret"
)

// The faults that a connect page shows to the operator, in the order of its checks (api.md §4).
var (
	ErrPartnerNotFound = fault.New(fault.NotFound, "partner_not_found",
		"We do not know the partner that sent you here. Please ask them for a new link.")
	ErrMissingConnectSecret = fault.New(fault.Conflict, "missing_connect_secret",
		"This partner is not set up for connecting accounts yet. Please ask them to finish their setup with us.")
	ErrInvalidSignature = fault.New(fault.Invalid, "invalid_signature",
		"This link was changed or is incomplete. Please go back to your partner and open it again.")
	ErrURLExpired = fault.New(fault.Gone, "expired",
		"This link has expired. Please go back to your partner and open a new one.")
	ErrAlreadyLinked = fault.New(fault.Conflict, "account_already_linked",
		"Your account is already linked to another partner. Unlink it there first.")
	ErrExternalIDConflict = fault.New(fault.Conflict, "external_id_conflict",
		"This property is already connected through another account, or your account under another number. Please contact your partner.")
)

// TimestampTolerance is the largest difference between a connect URL's signed time and now (service.md, "Limits").
const TimestampTolerance = 30 * 24 * time.Hour

// MaxExternalIDLength is the largest length of an external id, in bytes.
const MaxExternalIDLength = 255

// URLParams holds the signed parameters of a connect URL. A missing or repeated parameter is "".
type URLParams struct {
	Partner    string
	ExternalID string
	TS         string
	Sig        string
}

var (
	tsPattern  = regexp.MustCompile(`^[0-9]{1,19}$`)
	sigPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Verify checks the signature of a connect URL, then its age. The partner and its connect secret must exist.
//
// Returns ErrInvalidSignature or ErrURLExpired.
func (p URLParams) Verify(key secret.Text, now time.Time) error {
	if p.ExternalID == "" || len(p.ExternalID) > MaxExternalIDLength || !tsPattern.MatchString(p.TS) ||
		!sigPattern.MatchString(p.Sig) {
		return ErrInvalidSignature
	}
	want := SignURL(key, p.Partner, p.ExternalID, p.TS)
	if subtle.ConstantTimeCompare([]byte(want), []byte(p.Sig)) != 1 {
		return ErrInvalidSignature
	}
	seconds, err := strconv.ParseInt(p.TS, 10, 64)
	if err != nil { // A timestamp of nineteen digits may exceed 63 bits, so parsing may fail.
		return ErrURLExpired
	}
	// The difference is in seconds, since a time.Duration would saturate for a timestamp in milliseconds.
	delta, window := now.Unix()-seconds, int64(TimestampTolerance/time.Second)
	if delta > window || delta < -window {
		return ErrURLExpired
	}
	return nil
}

// CheckRevocation refuses a connect URL that was signed before the last revocation of its external id, so that an
// old URL does not restore the link. revokedAt is zero without a revocation. Verify must have accepted the URL.
//
// Returns ErrURLExpired.
func (p URLParams) CheckRevocation(revokedAt time.Time) error {
	if revokedAt.IsZero() {
		return nil
	}
	if seconds, err := strconv.ParseInt(p.TS, 10, 64); err != nil || seconds < revokedAt.Unix() {
		return ErrURLExpired
	}
	return nil
}
