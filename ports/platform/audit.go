package platform

import (
	"context"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
)

// AuditEntry is an action of an actor.
type AuditEntry struct {
	ID      id.ID
	At      time.Time
	Actor   actor.Actor
	Action  string // such as "link.revoke": a verb of app/platform/audit
	Subject string // outside id of the changed object
	Detail  map[string]string
	// RequestID is the request of the action; "" for actions of the clock and of admin commands. Append takes the
	// request id from its context (RequestIDOf), and AuditLog gives it back.
	RequestID string
}

// AuditLog is an append-only record of actions and actors. An entry commits with the action.
type AuditLog interface {
	Append(ctx context.Context, e AuditEntry) error
	// AuditEntries gives up to limit entries, newest first.
	AuditEntries(ctx context.Context, f AuditFilter, limit int) ([]AuditEntry, error)
	// AuditEntriesAfter gives up to limit entries behind after and before the time end, in the order of time and id.
	AuditEntriesAfter(ctx context.Context, after AuditPlace, end time.Time, limit int) ([]AuditEntry, error)
}

// AuditPlace is a place in the order of the audit log. Without an id the place is before all entries of its time.
type AuditPlace struct {
	At time.Time
	ID id.ID
}

// AuditFilter selects entries of the audit log: those with this request id, this subject, or one of these actors.
type AuditFilter struct {
	RequestID string
	Subject   string
	Actors    []actor.Actor
}
