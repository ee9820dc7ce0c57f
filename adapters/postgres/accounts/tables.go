// Package accounts holds the tables of accounts: operators, sessions, tokens, second factors, and links to partners.
package accounts

import (
	"partnerdeposits/adapters/postgres/accounts/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/money"
	accountports "partnerdeposits/ports/accounts"
)

var queries = sqlc.New()

// Tables implement the ports of accounts.
type Tables struct {
	Operators   Operators
	Sessions    Sessions
	Tokens      Tokens
	TwoFactors  TwoFactors
	HalfSignIns HalfSignIns
	Links       Links
}

// Types of Tables, each for its port.
type (
	Operators   struct{ pg.Base }
	Sessions    struct{ pg.Base }
	Tokens      struct{ pg.Base }
	TwoFactors  struct{ pg.Base }
	HalfSignIns struct{ pg.Base }
	Links       struct {
		pg.Base
		defaultMax money.Cents
	}
)

var (
	_ accountports.Operators   = Operators{}
	_ accountports.Sessions    = Sessions{}
	_ accountports.Tokens      = Tokens{}
	_ accountports.TwoFactors  = TwoFactors{}
	_ accountports.HalfSignIns = HalfSignIns{}
	_ accountports.Links       = Links{}
)

// New makes the tables. defaultMax is the ceiling of an account without a ceiling of its own.
func New(b pg.Base, defaultMax money.Cents) Tables {
	return Tables{Operators{b}, Sessions{b}, Tokens{b}, TwoFactors{b}, HalfSignIns{b}, Links{b, defaultMax}}
}
