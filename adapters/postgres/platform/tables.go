// Package platform holds the tables that all modules share: idempotency keys, the outbox, mails, the audit log, and the
// restore epoch.
package platform

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/platform/internal/sqlc"
	ports "partnerdeposits/ports/platform"
)

var queries = sqlc.New()

// Tables implement the ports of the platform.
type Tables struct {
	Idempotency Idempotency
	Outbox      Outbox
	Mails       Mails
	Audit       Audit
	Restores    Restores
}

// Types of Tables, each for its port.
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

// New makes the tables.
func New(b pg.Base) Tables {
	return Tables{Idempotency{b}, Outbox{b}, Mails{b}, Audit{b}, Restores{b}}
}
