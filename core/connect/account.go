package connect

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/money"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/zone"
)

// Faults about operators, accounts and links.
var (
	ErrAccountNotFound  = fault.New(fault.NotFound, "account_not_found", "There is no such account.")
	ErrAccountNotLinked = fault.New(fault.Forbidden, "account_not_linked", "accountId: this account is not linked to you.")
	ErrAccountRevoked   = fault.New(fault.Forbidden, "account_revoked", "accountId: the link to this account was revoked.")
	ErrEmailTaken       = fault.New(fault.Conflict, "email_taken",
		"An account with this e-mail exists already. Log in instead.")
	ErrBadCredentials  = fault.New(fault.Unauthenticated, "bad_credentials", "E-mail or password is wrong.")
	ErrInvalidEmail    = fault.New(fault.Invalid, "invalid_email", "Enter a valid e-mail address.")
	ErrInvalidPassword = fault.New(fault.Invalid, "invalid_password",
		"The password needs at least 10 characters (200 at most).")
	ErrInvalidCompany = fault.New(fault.Invalid, "invalid_company_name",
		"Enter the name of your company in one line, without a web address (120 characters at most).")
)

// Operator is a person who runs rentals. Operators log in; each owns a single account.
type Operator struct {
	ID           id.ID
	Email        string
	PasswordHash string // argon2id, encoded
	Locale       string // the language of mails and pages, a BCP 47 tag; "": not known
	CreatedAt    time.Time
	VerifiedAt   time.Time // zero: nobody has shown that the address is the operator's
}

// Verified reports whether the address is known to be the operator's.
func (o Operator) Verified() bool { return !o.VerifiedAt.IsZero() }

// Actor is the operator as the author of a change.
func (o Operator) Actor() actor.Actor { return actor.Operator(o.ID) }

// Account is the business of an operator. A partner is linked to an account, and deposits are created for an account.
type Account struct {
	ID             id.ID
	OperatorID     id.ID
	CompanyName    string
	MaxAmountCents money.Cents // 0: the service's default ceiling
	Timezone       string      // one of zone.Names
	Contact        string      // e-mail address or telephone number that tenants are told; "": none
	CreatedAt      time.Time
}

// Called is the name by which tenants ask for the operator, with the contact where there is one.
func (a Account) Called() string {
	if a.Contact == "" {
		return a.CompanyName
	}
	return a.CompanyName + " (" + a.Contact + ")"
}

// Zone is the time zone in which the days of the account's deposits are counted.
func (a Account) Zone() *time.Location { return zone.Of(a.Timezone) }

var telephone = regexp.MustCompile(`^\+?[0-9(][0-9 ()./-]{4,28}[0-9]$`)

// ValidContact accepts an e-mail address, a telephone number, and no contact. Other texts could tell tenants anything.
func ValidContact(contact string) bool {
	return contact == "" || mailaddr.Valid(contact) || telephone.MatchString(contact)
}

// LinkStatus is the status of a link.
type LinkStatus string

// The statuses of a link (api.md §2).
const (
	LinkActive  LinkStatus = "active"
	LinkRevoked LinkStatus = "revoked"
)

// LinkStatuses lists every status of a link.
var LinkStatuses = []LinkStatus{LinkActive, LinkRevoked}

// RevokedBy names the party that revoked a link.
type RevokedBy string

// The parties that may revoke a link (api.md §4).
const (
	RevokedByOperator RevokedBy = "operator"
	RevokedByPartner  RevokedBy = "partner"
	RevokedByAdmin    RevokedBy = "admin"
)

// Revokers lists every party that may revoke a link.
var Revokers = []RevokedBy{RevokedByOperator, RevokedByPartner, RevokedByAdmin}

// Link lets a partner act for an account (service.md, "PartnerAccountLink"). At most a single link is active for an
// account, and for an external id of a partner.
type Link struct {
	ID         id.ID
	PartnerID  id.ID
	AccountID  id.ID
	ExternalID string
	LinkedAt   time.Time
	RevokedAt  time.Time // zero: not revoked
}

// Status is active until the link is revoked.
func (l Link) Status() LinkStatus {
	if l.RevokedAt.IsZero() {
		return LinkActive
	}
	return LinkRevoked
}

// Usable refuses a link under which the partner may no longer act. Returns ErrAccountRevoked.
func (l Link) Usable() error {
	if l.Status() == LinkRevoked {
		return ErrAccountRevoked
	}
	return nil
}

// Decide tells whether a partner may be linked to an account under externalID. current is the account's active link,
// nil for none. already is true if current is the wanted link: no link has to be created.
//
// Returns ErrAlreadyLinked for another partner and ErrExternalIDConflict for another external id.
func Decide(current *Link, partnerID id.ID, externalID string) (already bool, err error) {
	if current == nil {
		return false, nil
	}
	if current.PartnerID != partnerID {
		return false, ErrAlreadyLinked
	}
	if current.ExternalID != externalID {
		return false, ErrExternalIDConflict
	}
	return true, nil
}

// SignUp holds the fields of the sign-up form.
type SignUp struct {
	Email       string
	Password    string
	CompanyName string
	Locale      string // the language of the page, which becomes the operator's
}

// Validate checks the e-mail address, the password (10 to 200 characters) and the company name (1 to 120 characters).
//
// Returns ErrInvalidEmail, ErrInvalidPassword or ErrInvalidCompany.
func (s SignUp) Validate() error {
	if !mailaddr.Valid(s.Email) {
		return ErrInvalidEmail
	}
	if !ValidPassword(s.Password) {
		return ErrInvalidPassword
	}
	if !ValidCompany(s.CompanyName) {
		return ErrInvalidCompany
	}
	return nil
}

// ValidPassword accepts 10 to 200 characters.
func ValidPassword(password string) bool {
	n := utf8.RuneCountInString(password)
	return n >= 10 && n <= 200 && !strings.ContainsRune(password, 0)
}

// ValidCompany accepts a name of one line with 1 to 120 characters and without a web address (api.md §4): mails of ours
// show the name to people whom the operator chooses.
func ValidCompany(name string) bool {
	lower := strings.ToLower(name)
	return strings.TrimSpace(name) != "" && utf8.RuneCountInString(name) <= 120 && oneline.Valid(name) &&
		!strings.Contains(lower, "://") && !strings.Contains(lower, "www.")
}

// Locales lists the languages of pages and mails.
var Locales = []string{"en", "fr"}

// ValidLocale accepts a language of Locales.
func ValidLocale(locale string) bool { return slices.Contains(Locales, locale) }
