// Package deposits reads and writes the Postgres tables of deposits: statuses and history, timers, agreements,
// files, and the mails to operators and tenants about a deposit.
package deposits

import (
	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	depositports "partnerdeposits/ports/deposits"
)

var queries = sqlc.New()

// Stores holds the stores of all tables of deposits.
type Stores struct {
	Deposits        Deposits
	Due             DueDeposits
	Desk            DashboardQueries
	Agreements      Agreements
	Files           Files
	Contents        FileContents
	OperatorNotices OperatorNotices
	Texts           TextEraser
	FormDrafts      FormDrafts
}

// Stores of the tables of deposits. Each implements the interface of its name in package ports/deposits.
type (
	Deposits struct {
		pg.StoreBase
		reads *depositReads
	}
	DueDeposits      struct{ pg.StoreBase }
	DashboardQueries struct{ pg.StoreBase }
	Agreements       struct{ pg.StoreBase }
	Files            struct{ pg.StoreBase }
	// FileContents stores the contents of files in Postgres. Each content has a key of its own, which the keyset encrypts,
	// so a rotation of the keyset writes only a few bytes for each file (ADR 0024).
	FileContents    struct{ pg.StoreBase }
	OperatorNotices struct{ pg.StoreBase }
	TextEraser      struct{ pg.StoreBase }
	FormDrafts      struct{ pg.StoreBase }
)

var (
	_ depositports.Deposits         = Deposits{}
	_ depositports.DueDepositFinder = DueDeposits{}
	_ depositports.DashboardReader  = DashboardQueries{}
	_ depositports.Agreements       = Agreements{}
	_ depositports.Files            = Files{}
	_ depositports.FileContents     = FileContents{}
	_ depositports.OperatorNotices  = OperatorNotices{}
	_ depositports.TextEraser       = TextEraser{}
	_ depositports.FormDrafts       = FormDrafts{}
)

// New makes the stores of the tables of deposits. Reads of deposits that share a statement use the pool reads.
func New(b pg.StoreBase, reads pg.DB) Stores {
	return Stores{
		Deposits: Deposits{b, newDepositReads(reads, b.Sealer)}, Due: DueDeposits{b}, Desk: DashboardQueries{b},
		Agreements: Agreements{b},
		Files:      Files{b},
		Contents:   FileContents{b}, OperatorNotices: OperatorNotices{b}, Texts: TextEraser{b}, FormDrafts: FormDrafts{b},
	}
}
