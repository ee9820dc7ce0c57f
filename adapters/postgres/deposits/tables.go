// Package deposits reads and writes the Postgres tables of deposits: statuses and history, timers, agreements,
// files, and the mails to operators and tenants about a deposit.
package deposits

import (
	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	depositports "partnerdeposits/ports/deposits"
)

var queries = sqlc.New()

// Tables holds the stores of all tables of deposits.
type Tables struct {
	Deposits        Deposits
	Due             Due
	Desk            Desk
	Agreements      Agreements
	Files           Files
	Contents        Contents
	OperatorNotices OperatorNotices
	Texts           Texts
	FormDrafts      FormDrafts
}

// Stores of the tables of deposits. Each implements the interface of its name in package ports/deposits.
type (
	Deposits struct {
		pg.Base
		reads *depositReads
	}
	Due        struct{ pg.Base }
	Desk       struct{ pg.Base }
	Agreements struct{ pg.Base }
	Files      struct{ pg.Base }
	// Contents stores the contents of files in Postgres. Each content has a key of its own, which the keyset encrypts,
	// so a rotation of the keyset writes only a few bytes for each file (ADR 0024).
	Contents        struct{ pg.Base }
	OperatorNotices struct{ pg.Base }
	Texts           struct{ pg.Base }
	FormDrafts      struct{ pg.Base }
)

var (
	_ depositports.Deposits         = Deposits{}
	_ depositports.DepositScheduler = Due{}
	_ depositports.Desk             = Desk{}
	_ depositports.Agreements       = Agreements{}
	_ depositports.Files            = Files{}
	_ depositports.FileContents     = Contents{}
	_ depositports.OperatorNotices  = OperatorNotices{}
	_ depositports.Texts            = Texts{}
	_ depositports.FormDrafts       = FormDrafts{}
)

// New makes the stores of the tables of deposits. Reads of deposits that share a statement use the pool reads.
func New(b pg.Base, reads pg.DB) Tables {
	return Tables{
		Deposits: Deposits{b, newDepositReads(reads, b.Sealer)}, Due: Due{b}, Desk: Desk{b}, Agreements: Agreements{b},
		Files:    Files{b},
		Contents: Contents{b}, OperatorNotices: OperatorNotices{b}, Texts: Texts{b}, FormDrafts: FormDrafts{b},
	}
}
