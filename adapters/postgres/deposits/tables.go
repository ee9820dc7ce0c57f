// Package deposits reads and writes the Postgres tables of deposits: statuses and history, timers, agreements,
// files, and the mails to operators and tenants about a deposit.
package deposits

import (
	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	depositports "partnerdeposits/ports/deposits"
)

var queries = sqlc.New()

type Stores struct {
	Deposits        DepositStore
	Due             DueDepositFinder
	Desk            DashboardQueries
	Agreements      AgreementStore
	Files           FileStore
	Contents        FileContentStore
	OperatorNotices OperatorNoticeStore
	Texts           TextEraser
	FormDrafts      FormDraftStore
}

type (
	DepositStore struct {
		pg.StoreBase
		reads *depositReads
	}
	DueDepositFinder struct{ pg.StoreBase }
	DashboardQueries struct{ pg.StoreBase }
	AgreementStore   struct{ pg.StoreBase }
	FileStore        struct{ pg.StoreBase }
	// FileContentStore stores the contents of files. Each has its own key, encrypted by the keyset, so that a
	// rotation writes few bytes (ADR 0024).
	FileContentStore    struct{ pg.StoreBase }
	OperatorNoticeStore struct{ pg.StoreBase }
	TextEraser          struct{ pg.StoreBase }
	FormDraftStore      struct{ pg.StoreBase }
)

var (
	_ depositports.DepositStore        = DepositStore{}
	_ depositports.DueDepositFinder    = DueDepositFinder{}
	_ depositports.DashboardReader     = DashboardQueries{}
	_ depositports.AgreementStore      = AgreementStore{}
	_ depositports.FileStore           = FileStore{}
	_ depositports.FileContentStore    = FileContentStore{}
	_ depositports.OperatorNoticeStore = OperatorNoticeStore{}
	_ depositports.TextEraser          = TextEraser{}
	_ depositports.FormDraftStore      = FormDraftStore{}
)

// New makes the stores of deposits. Reads of deposits that share a statement use the pool reads.
func New(b pg.StoreBase, reads pg.DB) Stores {
	return Stores{
		Deposits: DepositStore{b, newDepositReads(reads, b.Sealer)}, Due: DueDepositFinder{b}, Desk: DashboardQueries{b},
		Agreements: AgreementStore{b},
		Files:      FileStore{b},
		Contents:   FileContentStore{b}, OperatorNotices: OperatorNoticeStore{b}, Texts: TextEraser{b},
		FormDrafts: FormDraftStore{b},
	}
}
