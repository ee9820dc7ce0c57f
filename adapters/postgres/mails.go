package postgres

import (
	"context"
	"slices"
	"time"

	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

type mails struct{ unit }

// Enqueue implements ports.MailQueue.
func (r mails) Enqueue(ctx context.Context, m ports.Mail) error {
	return r.q.EnqueueMail(ctx, r.Deferred(), sqlc.EnqueueMailParams{ID: m.ID, Recipient: m.To, Subject: m.Subject, Body: m.Body, CreatedAt: m.CreatedAt})
}

// Claim implements ports.DueMails.
func (s *Store) Claim(ctx context.Context, limit int, lease time.Duration) ([]ports.Mail, error) {
	rows, err := s.q.ClaimMails(ctx, s.db, lease, int32(limit))
	slices.SortFunc(rows, func(a, b sqlc.ClaimMailsRow) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return each(rows, func(row sqlc.ClaimMailsRow) ports.Mail {
		return ports.Mail{ID: row.ID, To: row.Recipient, Subject: row.Subject, Body: row.Body, CreatedAt: row.CreatedAt}
	}), err
}

// Sent implements ports.DueMails.
func (s *Store) Sent(ctx context.Context, mailID id.ID) error { return s.q.MailSent(ctx, s.db, mailID) }

// Failed implements ports.DueMails.
func (s *Store) Failed(ctx context.Context, mailID id.ID, waits []time.Duration) error {
	return s.q.MailFailed(ctx, s.db, waits, mailID)
}

type audit struct{ unit }

// Append implements ports.AuditLog.
func (r audit) Append(ctx context.Context, e ports.AuditEntry) error {
	return r.q.AppendAudit(ctx, r.Deferred(), sqlc.AppendAuditParams{
		ID: e.ID, At: e.At, Actor: e.Actor, Action: e.Action, Subject: e.Subject, Detail: orNoPairs(e.Detail),
	})
}

// orNoPairs replaces nil, which would be NULL, by an empty map.
func orNoPairs(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
