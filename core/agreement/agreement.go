// Package agreement holds the words to which a tenant agrees before paying, and the record of that agreement: without
// it a dispute about a collected amount is lost (pages.md, "Agreement").
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

// Version names the words of this package. A change of the words gets a new version; records keep the words themselves.
const Version = "2026-11-27"

// MaxUserAgent is the number of bytes of a user agent that a record keeps.
const MaxUserAgent = 512

// Refusals of a form at checkout.
var (
	ErrMissing = fault.New(fault.Invalid, "agreement_missing", "The tenant has to agree before paying.")
	ErrChanged = fault.New(fault.Conflict, "agreement_changed",
		"The words of the agreement have changed. Read them again.")
)

// Imprint are the addresses that tenants are shown at checkout and in mails. "" stands for none.
type Imprint struct {
	TermsURL     string
	PrivacyURL   string
	SupportEmail string
}

// Terms are the facts from which the words are made.
type Terms struct {
	Company string      // of the operator
	Amount  money.Cents // the most that may be charged, in all
	Fee     money.Cents
	Until   time.Time // end of the cover of a deposit that is paid now: no claim is possible afterwards
	// Days is the length of the cover, counted from the payment, if the cover ends before the stay or the time for
	// claims does; 0: Until does not depend on the day of the payment.
	Days    int
	Imprint Imprint
}

// Origin tells from where a tenant agreed. It is personal data.
type Origin struct {
	Address   string `json:"address"`   // of the network, as the server sees it
	UserAgent string `json:"userAgent"` // "": the browser sent none
}

// Given is what a tenant's form says about the agreement.
type Given struct {
	Agreed    bool
	PageWords string // Fingerprint of the words on the tenant's page; "": a form without it
	Locale    string // language of the page
	Origin    Origin
}

// Record is the evidence of an agreement.
type Record struct {
	ID        id.ID
	DepositID id.ID
	ClientID  id.ID
	Version   string
	Locale    string // of Words
	Words     string // exactly as the tenant read them
	At        time.Time
	Origin    Origin // zero once it is erased
}

// LocaleOf gives the language in which the tenant agreed last; "" without an agreement.
func LocaleOf(oldestFirst []Record) string {
	if len(oldestFirst) == 0 {
		return ""
	}
	return oldestFirst[len(oldestFirst)-1].Locale
}

// Fingerprint identifies words: SHA-256, in hexadecimal.
func Fingerprint(words string) string {
	sum := sha256.Sum256([]byte(words))
	return hex.EncodeToString(sum[:])
}

// Accept gives the words to which the tenant agreed.
//
// Returns ErrMissing, or ErrChanged if the tenant's page showed other words.
func (t Terms) Accept(g Given) (words string, err error) {
	if !g.Agreed {
		return "", ErrMissing
	}
	words = t.Words(g.Locale)
	if g.PageWords != "" && g.PageWords != Fingerprint(words) {
		return "", ErrChanged
	}
	return words, nil
}

// CleanUserAgent makes a user agent that a record may keep: valid UTF-8 without control characters, MaxUserAgent bytes
// at most.
func CleanUserAgent(sent string) string {
	out := make([]byte, 0, min(len(sent), MaxUserAgent))
	for _, r := range sent {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			continue
		}
		if len(out)+utf8.RuneLen(r) > MaxUserAgent {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
