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

// Stores holds the stores of all tables of accounts.
type Stores struct {
	Operators   Operators
	Sessions    Sessions
	Tokens      Tokens
	TwoFactors  TwoFactors
	HalfSignIns HalfSignIns
	Links       Links
}

// Stores of the tables of accounts. Each implements the interface of its name in package ports/accounts.
type (
	Operators   struct{ pg.StoreBase }
	Sessions    struct{ pg.StoreBase }
	Tokens      struct{ pg.StoreBase }
	TwoFactors  struct{ pg.StoreBase }
	HalfSignIns struct{ pg.StoreBase }
	Links       struct {
		pg.StoreBase
		defaultMax money.Cents
	}
)

var (
	_ accountports.Operators   = Operators{}
	_ accountports.Sessions    = Sessions{}
	_ accountports.MailTokens  = Tokens{}
	_ accountports.TwoFactors  = TwoFactors{}
	_ accountports.HalfSignIns = HalfSignIns{}
	_ accountports.Links       = Links{}
)

// New makes the stores of the tables of accounts. defaultMax is the greatest amount of a deposit for accounts that
// have negotiated none.
func New(b pg.StoreBase, defaultMax money.Cents) Stores {
	return Stores{Operators{b}, Sessions{b}, Tokens{b}, TwoFactors{b}, HalfSignIns{b}, Links{b, defaultMax}}
}
