// Package platform reads and writes the Postgres tables that all modules share: idempotency keys, the outbox,
// mails, the audit log, and the restore epoch (the id of the database's history since its last restore).
package platform

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/platform/internal/sqlc"
	ports "partnerdeposits/ports/platform"
)

var queries = sqlc.New()

type Stores struct {
	Idempotency IdempotencyStore
	Outbox      Outbox
	Mails       MailStore
	Audit       AuditLog
	Restores    DatabaseRestoreStore
}

type (
	IdempotencyStore     struct{ pg.StoreBase }
	Outbox               struct{ pg.StoreBase }
	MailStore            struct{ pg.StoreBase }
	AuditLog             struct{ pg.StoreBase }
	DatabaseRestoreStore struct{ pg.StoreBase }
)

var (
	_ ports.IdempotencyStore     = IdempotencyStore{}
	_ ports.Outbox               = Outbox{}
	_ ports.MailQueue            = MailStore{}
	_ ports.CaughtMailReader     = MailStore{}
	_ ports.AuditLog             = AuditLog{}
	_ ports.DatabaseRestoreStore = DatabaseRestoreStore{}
)

func New(b pg.StoreBase) Stores {
	return Stores{IdempotencyStore{b}, Outbox{b}, MailStore{b}, AuditLog{b}, DatabaseRestoreStore{b}}
}
