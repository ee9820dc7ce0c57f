// Package agreement holds the words to which a tenant agrees before paying, and the record of the agreement, which
// a dispute about a collected amount needs (pages.md, "Agreement").
package agreement

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// Version identifies the wording of the agreement, and changes with it.
const Version = "2026-11-27"

// MaxUserAgentLength is the largest number of bytes of a browser's user agent that a record keeps.
const MaxUserAgentLength = 512

// Faults of a checkout form: the tenant has not agreed, or the words of the agreement have changed since the page was
// shown.
var (
	ErrMissing = fault.New(fault.Invalid, "agreement_missing", "The tenant has to agree before paying.")
	ErrChanged = fault.New(fault.Conflict, "agreement_changed",
		"The words of the agreement have changed. Read them again.")
)

// Imprint holds the addresses that tenants are shown at checkout and in mails; "" for none.
type Imprint struct {
	TermsURL     string
	PrivacyURL   string
	SupportEmail string
}

// Terms holds the facts from which the words of an agreement are made.
type Terms struct {
	Company string
	Amount  money.Cents // The largest amount in cents that may be charged to the tenant in all.
	Fee     money.Cents
	Until   time.Time // The end of the cover if the tenant pays now, after which no claim is possible.
	// Days is the length of the cover in days from the payment; 0 where the end does not depend on the day of the
	// payment.
	Days    int
	Imprint Imprint
}

// RequestOrigin holds the network address and the browser from which a tenant agreed: personal data.
type RequestOrigin struct {
	Address   string `json:"address"`
	UserAgent string `json:"userAgent"` // The user agent of the tenant's browser; "": the browser sent none.
}

// SubmittedForm is what a tenant's checkout form contains about the agreement.
type SubmittedForm struct {
	Agreed    bool
	PageWords string // The Fingerprint of the agreement that the tenant's page showed; "": the form did not send one.
	Locale    string
	Origin    RequestOrigin
}

// Record is the stored evidence that a tenant agreed: the words, the time and the origin.
type Record struct {
	ID        id.ID
	DepositID id.ID
	ClientID  id.ID
	Version   string
	Locale    string
	Words     string // The text of the agreement, exactly as the tenant read it.
	At        time.Time
	Origin    RequestOrigin // The network address and browser from which the tenant agreed; zero once they are erased.
}

// LatestLocale returns the language of the tenant's latest agreement; "" without an agreement.
func LatestLocale(oldestFirst []Record) string {
	if len(oldestFirst) == 0 {
		return ""
	}
	return oldestFirst[len(oldestFirst)-1].Locale
}

// Fingerprint returns the SHA-256 of the words of an agreement in hexadecimal.
func Fingerprint(words string) string {
	sum := sha256.Sum256([]byte(words))
	return hex.EncodeToString(sum[:])
}

// Accept returns the words to which the tenant agreed.
//
// Returns ErrMissing if the tenant did not agree, or ErrChanged if the tenant's page showed other words.
func (t Terms) Accept(g SubmittedForm) (words string, err error) {
	if !g.Agreed {
		return "", ErrMissing
	}
	words = t.FullText(g.Locale)
	if g.PageWords != "" && g.PageWords != Fingerprint(words) {
		return "", ErrChanged
	}
	return words, nil
}

// CleanUserAgent returns the part of a user agent that a record may keep: valid UTF-8 without control characters,
// at most MaxUserAgentLength bytes.
func CleanUserAgent(sent string) string {
	out := make([]byte, 0, min(len(sent), MaxUserAgentLength))
	for _, r := range sent {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			continue
		}
		if len(out)+utf8.RuneLen(r) > MaxUserAgentLength {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
