// Package platform reads and writes the Postgres tables that all modules share: idempotency keys, the outbox (the
// table of new events), mails, the audit log, and the restore epoch (the id of the database's history since its
// last restore).
package platform

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/platform/internal/sqlc"
	ports "partnerdeposits/ports/platform"
)

var queries = sqlc.New()

// Tables holds the stores of the tables that all modules share.
type Tables struct {
	Idempotency Idempotency
	Outbox      Outbox
	Mails       Mails
	Audit       Audit
	Restores    Restores
}

// Stores of the tables that all modules share. Each implements the interface of its name in package
// ports/platform.
type (
	Idempotency struct{ pg.Base }
	Outbox      struct{ pg.Base }
	Mails       struct{ pg.Base }
	Audit       struct{ pg.Base }
	Restores    struct{ pg.Base }
)

var (
	_ ports.Idempotency = Idempotency{}
	_ ports.Outbox      = Outbox{}
	_ ports.Mails       = Mails{}
	_ ports.CaughtMails = Mails{}
	_ ports.AuditLog    = Audit{}
	_ ports.Restores    = Restores{}
)

// New makes the stores of the tables that all modules share.
func New(b pg.Base) Tables {
	return Tables{Idempotency{b}, Outbox{b}, Mails{b}, Audit{b}, Restores{b}}
}
