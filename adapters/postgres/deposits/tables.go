// Package deposits holds the tables of deposits: statuses and history, timers, agreements, files, and what operators
// and tenants are told of a deposit by mail.
package deposits

import (
	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	depositports "partnerdeposits/ports/deposits"
)

var queries = sqlc.New()

// Tables implement the ports of deposits.
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

// Types of Tables, each for its port.
type (
	Deposits struct {
		pg.Base
		reads *depositReads
	}
	Due        struct{ pg.Base }
	Desk       struct{ pg.Base }
	Agreements struct{ pg.Base }
	Files      struct{ pg.Base }
	// Contents keeps contents of files in Postgres. Each content has a key of its own, which the keyset encrypts: a
	// rotation of the keyset writes a few bytes for each file (ADR 0024).
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

// New makes the tables. Reads that share a statement run on reads.
func New(b pg.Base, reads pg.DB) Tables {
	return Tables{
		Deposits: Deposits{b, newDepositReads(reads, b.Sealer)}, Due: Due{b}, Desk: Desk{b}, Agreements: Agreements{b},
		Files:    Files{b},
		Contents: Contents{b}, OperatorNotices: OperatorNotices{b}, Texts: Texts{b}, FormDrafts: FormDrafts{b},
	}
}
