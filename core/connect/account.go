package connect

import (
	"strings"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/money"
)

// Faults about operators, accounts and links.
var (
	ErrAccountNotFound  = fault.New(fault.NotFound, "account_not_found", "There is no such account.")
	ErrAccountNotLinked = fault.New(fault.Forbidden, "account_not_linked", "accountId: this account is not linked to you.")
	ErrAccountRevoked   = fault.New(fault.Forbidden, "account_revoked", "accountId: the link to this account was revoked.")
	ErrEmailTaken       = fault.New(fault.Conflict, "email_taken", "An account with this e-mail exists already. Log in instead.")
	ErrBadCredentials   = fault.New(fault.Unauthenticated, "bad_credentials", "E-mail or password is wrong.")
	ErrInvalidEmail     = fault.New(fault.Invalid, "invalid_email", "Enter a valid e-mail address.")
	ErrInvalidPassword  = fault.New(fault.Invalid, "invalid_password", "The password needs at least 10 characters (200 at most).")
	ErrInvalidCompany   = fault.New(fault.Invalid, "invalid_company_name", "Enter the name of your company (120 characters at most).")
)

// Operator is the person who runs rentals; it logs in and owns one account.
type Operator struct {
	ID           id.ID
	Email        string
	PasswordHash string // argon2id, encoded
	CreatedAt    time.Time
}

// Account is what a partner is linked to and deposits are made for.
type Account struct {
	ID             id.ID
	OperatorID     id.ID
	CompanyName    string
	MaxAmountCents money.Cents // 0: the service's default ceiling
	CreatedAt      time.Time
}

// LinkStatus is the status of a PartnerAccountLink.
type LinkStatus string

// The states of a link (api.md §2).
const (
	LinkActive  LinkStatus = "active"
	LinkRevoked LinkStatus = "revoked"
)

// RevokedBy tells who ended a link.
type RevokedBy string

// Those who may end a link.
const (
	RevokedByOperator RevokedBy = "operator"
	RevokedByPartner  RevokedBy = "partner"
	RevokedByAdmin    RevokedBy = "admin"
)

// Link is a PartnerAccountLink. An account has one active link at most, and so has an external id of a partner.
type Link struct {
	ID         id.ID
	PartnerID  id.ID
	AccountID  id.ID
	ExternalID string
	LinkedAt   time.Time
	RevokedAt  time.Time // zero: active
}

// Status tells whether the link is in force.
func (l Link) Status() LinkStatus {
	if l.RevokedAt.IsZero() {
		return LinkActive
	}
	return LinkRevoked
}

// Decide tells what connecting partner to account under externalID comes to, given the active link of the account (nil: none).
// already is true where that very link exists, so that nothing is to be done.
//
// Returns ErrAlreadyLinked for another partner and ErrExternalIDConflict for another external id.
func Decide(current *Link, partnerID id.ID, externalID string) (already bool, err error) {
	switch {
	case current == nil:
		return false, nil
	case current.PartnerID != partnerID:
		return false, ErrAlreadyLinked
	case current.ExternalID != externalID:
		return false, ErrExternalIDConflict
	default:
		return true, nil
	}
}

// SignUp is what a person enters to become an operator.
type SignUp struct {
	Email       string
	Password    string
	CompanyName string
}

// Validate checks the form.
//
// Returns ErrInvalidEmail, ErrInvalidPassword or ErrInvalidCompany.
func (s SignUp) Validate() error {
	if !mailaddr.Valid(s.Email) {
		return ErrInvalidEmail
	}
	if n := utf8.RuneCountInString(s.Password); n < 10 || n > 200 || strings.ContainsRune(s.Password, 0) {
		return ErrInvalidPassword
	}
	if n := utf8.RuneCountInString(s.CompanyName); strings.TrimSpace(s.CompanyName) == "" || n > 120 || !utf8.ValidString(s.CompanyName) || strings.ContainsRune(s.CompanyName, 0) {
		return ErrInvalidCompany
	}
	return nil
}
