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

// MailQueue takes mails in the transaction of their cause; the dispatcher sends them after the commit.
type MailQueue interface {
	Enqueue(ctx context.Context, m Mail) error
}

// DueMails hands out mails to send and records what became of them.
type DueMails interface {
	// Claim leases up to limit due mails for the span of lease.
	Claim(ctx context.Context, limit int, lease time.Duration) ([]Mail, error)
	Sent(ctx context.Context, mailID id.ID) error
	// Failed plans the next try, or gives up after the last.
	Failed(ctx context.Context, mailID id.ID) error
}

// Mailer sends one mail now.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}

// AuditLog remembers who did what, append-only, in the transaction of the deed.
type AuditLog interface {
	Append(ctx context.Context, e AuditEntry) error
}

// AuditEntry is one deed.
type AuditEntry struct {
	ID      id.ID
	At      time.Time
	Actor   string // kind and id: "partner:prt_…", "operator:opr_…", "admin"
	Action  string // "deposit.cancel", "link.revoke", …
	Subject string // outside id of what was changed
	Detail  map[string]string
}
