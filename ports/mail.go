package ports

import (
	"context"
	"time"

	"partnerdeposits/core/id"
)

// Mail is a plain-text message.
type Mail struct {
	ID        id.ID
	To        string
	Subject   string
	Body      string
	CreatedAt time.Time
}

// MailQueue stores mails in the transaction of the change that causes them. The dispatcher sends mails after the commit.
type MailQueue interface {
	Enqueue(ctx context.Context, m Mail) error
}

// DueMails hands out mails to send and records the results.
type DueMails interface {
	// Claim gives up to limit due mails, which no other call gets until the lease is over.
	Claim(ctx context.Context, limit int, lease time.Duration) ([]Mail, error)
	Sent(ctx context.Context, mailID id.ID) error
	// Failed plans the next attempt of a claimed mail: waits are those after the first failed attempt, the second, and so
	// on. A mail without a further wait is given up.
	Failed(ctx context.Context, mailID id.ID, waits []time.Duration) error
}

// Mailer sends a mail at once.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}

// AuditLog is an append-only record of actions and actors. An entry commits with the action.
type AuditLog interface {
	Append(ctx context.Context, e AuditEntry) error
}

// AuditEntry is an action of an actor.
type AuditEntry struct {
	ID      id.ID
	At      time.Time
	Actor   string // kind and id: "partner:prt_…", "operator:opr_…", "admin"
	Action  string // "deposit.cancel", "link.revoke", …
	Subject string // outside id of the changed object
	Detail  map[string]string
}
