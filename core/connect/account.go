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

// Faults about operators, accounts, and links between partners and accounts.
var (
	ErrAccountNotFound    = fault.New(fault.NotFound, "account_not_found", "There is no such account.")
	ErrAccountNotLinked   = fault.New(fault.Forbidden, "account_not_linked", "accountId: this account is not linked to you.")
	ErrAccountLinkRevoked = fault.New(fault.Forbidden, "account_revoked", "accountId: the link to this account was revoked.")
	ErrEmailTaken         = fault.New(fault.Conflict, "email_taken",
		"An account with this e-mail exists already. Log in instead.")
	ErrBadCredentials  = fault.New(fault.Unauthenticated, "bad_credentials", "E-mail or password is wrong.")
	ErrInvalidEmail    = fault.New(fault.Invalid, "invalid_email", "Enter a valid e-mail address.")
	ErrInvalidPassword = fault.New(fault.Invalid, "invalid_password",
		"The password needs at least 10 characters (200 at most).")
	ErrInvalidCompany = fault.New(fault.Invalid, "invalid_company_name",
		"Enter the name of your company in one line, without a web address (120 characters at most).")
)

// Operator is a person who rents out.
type Operator struct {
	ID           id.ID
	Email        string
	PasswordHash string // The argon2id hash of the operator's password, in its encoded form.
	Locale       string // The language of mails and pages for the operator, a BCP 47 tag; "": not known.
	CreatedAt    time.Time
	VerifiedAt   time.Time // When the operator proved to own the e-mail address; zero: not yet.
}

// EmailVerified reports whether the operator has proved to own the e-mail address.
func (o Operator) EmailVerified() bool { return !o.VerifiedAt.IsZero() }

// Actor returns the operator as the author of a change.
func (o Operator) Actor() actor.Actor { return actor.Operator(o.ID) }

// Account is the business of an operator, for which deposits are made.
type Account struct {
	ID          id.ID
	OperatorID  id.ID
	CompanyName string
	// The largest amount in cents of a deposit for the account; 0: the service's default ceiling applies.
	MaxAmountCents money.Cents
	Timezone       string
	// The e-mail address or telephone number at which tenants can reach the operator; "": none.
	Contact   string
	CreatedAt time.Time
}

// NameWithContact returns the name of the company, with its contact if it has one, for tenants.
func (a Account) NameWithContact() string {
	if a.Contact == "" {
		return a.CompanyName
	}
	return a.CompanyName + " (" + a.Contact + ")"
}

// Zone returns the time zone in which the days of the account's deposits are counted.
func (a Account) Zone() *time.Location { return zone.ByName(a.Timezone) }

var telephone = regexp.MustCompile(`^\+?[0-9(][0-9 ()./-]{4,28}[0-9]$`)

// ValidContact reports whether a contact is an e-mail address, a telephone number or "". Free text is refused,
// since tenants read it.
func ValidContact(contact string) bool {
	return contact == "" || mailaddr.Valid(contact) || telephone.MatchString(contact)
}

// LinkStatus is the status of the link between a partner and an account.
type LinkStatus string

// The statuses of the link between a partner and an account (api.md §2).
const (
	LinkActive  LinkStatus = "active"
	LinkRevoked LinkStatus = "revoked"
)

// LinkStatuses lists every status of a link between a partner and an account.
var LinkStatuses = []LinkStatus{LinkActive, LinkRevoked}

// RevokedBy names the party that revoked the link between a partner and an account.
type RevokedBy string

// The parties that may revoke the link between a partner and an account (api.md §4).
const (
	RevokedByOperator RevokedBy = "operator"
	RevokedByPartner  RevokedBy = "partner"
	RevokedByAdmin    RevokedBy = "admin"
)

// Revokers lists every party that may revoke the link between a partner and an account.
var Revokers = []RevokedBy{RevokedByOperator, RevokedByPartner, RevokedByAdmin}

// Link lets a partner act for an account (service.md, "PartnerAccountLink"). An account, and an external id of a
// partner, have at most one active link.
type Link struct {
	ID         id.ID
	PartnerID  id.ID
	AccountID  id.ID
	ExternalID string
	LinkedAt   time.Time
	RevokedAt  time.Time // When the link between partner and account was revoked; zero: it is active.
}

// Status returns LinkActive until the link is revoked, and LinkRevoked afterwards.
func (l Link) Status() LinkStatus {
	if l.RevokedAt.IsZero() {
		return LinkActive
	}
	return LinkRevoked
}

// CheckUsable returns ErrAccountLinkRevoked if the link between partner and account is revoked, and nil if it is
// active.
func (l Link) CheckUsable() error {
	if l.Status() == LinkRevoked {
		return ErrAccountLinkRevoked
	}
	return nil
}

// CheckNewLink checks whether a partner may be linked to an account under an external id. current is the account's
// active link, nil for none. already reports whether the wanted link exists.
//
// Returns ErrAlreadyLinked for another partner and ErrExternalIDConflict for another external id.
func CheckNewLink(current *Link, partnerID id.ID, externalID string) (already bool, err error) {
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

// SignUpForm holds the fields of an operator's sign-up form.
type SignUpForm struct {
	Email       string
	Password    string
	CompanyName string
	Locale      string
}

// Validate checks the e-mail address, the password and the company name of a sign-up form.
//
// Returns ErrInvalidEmail, ErrInvalidPassword or ErrInvalidCompany.
func (s SignUpForm) Validate() error {
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

// ValidPassword reports whether a password has 10 to 200 characters and no NUL character.
func ValidPassword(password string) bool {
	n := utf8.RuneCountInString(password)
	return n >= 10 && n <= 200 && !strings.ContainsRune(password, 0)
}

// ValidCompany reports whether a company name is one line of 1 to 120 characters without a web address (api.md §4).
// Mails show the name, so it must not carry a link.
func ValidCompany(name string) bool {
	lower := strings.ToLower(name)
	return strings.TrimSpace(name) != "" && utf8.RuneCountInString(name) <= 120 && oneline.Valid(name) &&
		!strings.Contains(lower, "://") && !strings.Contains(lower, "www.")
}

// SupportedLocales lists the languages of pages and mails.
var SupportedLocales = []string{"en", "fr"}

// ValidLocale reports whether a locale is one of Locales, the languages of pages and mails.
func ValidLocale(locale string) bool { return slices.Contains(SupportedLocales, locale) }
