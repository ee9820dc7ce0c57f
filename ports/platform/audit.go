package platform

import (
	"context"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
)

// AuditEntry is an entry of the audit log: who did what to which object, and when.
type AuditEntry struct {
	ID      id.ID
	At      time.Time
	Actor   actor.Actor
	Action  string
	Subject string
	Detail  map[string]string
	// RequestID is the id of the HTTP request that caused the action; "" for actions of the clock and of admin
	// commands.
	RequestID string
}

// AuditLog is an append-only log of the actions of actors. An entry commits in the transaction of its action.
type AuditLog interface {
	Append(ctx context.Context, e AuditEntry) error
	AuditEntries(ctx context.Context, f AuditFilter, limit int) ([]AuditEntry, error)
	// AuditEntriesAfter returns up to limit entries of the audit log after a position and before the time end,
	// ordered by time and id.
	AuditEntriesAfter(ctx context.Context, after AuditLogPosition, end time.Time, limit int) ([]AuditEntry, error)
}

// AuditLogPosition is a position in the audit log, whose entries are ordered by time and id. Without an id the
// position is before all entries of its time.
type AuditLogPosition struct {
	At time.Time
	ID id.ID
}

// AuditFilter selects entries of the audit log: those with this request id, this subject, or one of these actors.
type AuditFilter struct {
	RequestID string
	Subject   string
	Actors    []actor.Actor
}
