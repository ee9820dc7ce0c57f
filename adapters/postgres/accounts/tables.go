// Package accounts reads and writes the Postgres tables of accounts: operators, sessions, tokens, second factors,
// and links to partners.
package accounts

import (
	"partnerdeposits/adapters/postgres/accounts/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/money"
	accountports "partnerdeposits/ports/accounts"
)

var queries = sqlc.New()

type Stores struct {
	Operators   OperatorStore
	Sessions    SessionStore
	Tokens      TokenStore
	TwoFactors  TwoFactorStore
	HalfSignIns HalfSignInStore
	Links       PartnerLinkStore
}

type (
	OperatorStore    struct{ pg.StoreBase }
	SessionStore     struct{ pg.StoreBase }
	TokenStore       struct{ pg.StoreBase }
	TwoFactorStore   struct{ pg.StoreBase }
	HalfSignInStore  struct{ pg.StoreBase }
	PartnerLinkStore struct {
		pg.StoreBase
		defaultMax money.Cents
	}
)

var (
	_ accountports.OperatorStore    = OperatorStore{}
	_ accountports.SessionStore     = SessionStore{}
	_ accountports.MailTokenStore   = TokenStore{}
	_ accountports.TwoFactorStore   = TwoFactorStore{}
	_ accountports.HalfSignInStore  = HalfSignInStore{}
	_ accountports.PartnerLinkStore = PartnerLinkStore{}
)

// New makes the stores of accounts. defaultMax is the greatest amount of a deposit for accounts that have
// negotiated none.
func New(b pg.StoreBase, defaultMax money.Cents) Stores {
	return Stores{OperatorStore{b}, SessionStore{b}, TokenStore{b}, TwoFactorStore{b}, HalfSignInStore{b},
		PartnerLinkStore{b, defaultMax}}
}
