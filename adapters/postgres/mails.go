package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

type mails struct{ unit }

// content is the text of a mail that is kept encrypted.
type content struct {
	Body string `json:"body"`
	HTML string `json:"html"`
}

// Enqueue implements ports.MailQueue.
func (r mails) Enqueue(ctx context.Context, m ports.Mail) error {
	row := sqlc.EnqueueMailParams{ID: m.ID, Recipient: m.To, Subject: m.Subject, Body: m.Body, LinkOf: m.LinkOf, CreatedAt: m.CreatedAt}
	if !m.LinkOf.IsZero() || m.HTML != "" {
		plain, err := json.Marshal(content{m.Body, m.HTML})
		if err != nil {
			return err
		}
		row.Body = ""
		if row.Sealed, err = r.sealer.Seal(secret.Text(plain), pg.MailAAD(m.ID)); err != nil {
			return err
		}
	}
	return r.q.EnqueueMail(ctx, r.Deferred(), row)
}

// LinkMails implements ports.MailQueue.
func (r mails) LinkMails(ctx context.Context, depositID id.ID, since time.Time, limit int) ([]deposit.LinkMail, error) {
	rows, err := r.q.LinkMails(ctx, r.Tx, depositID, since, int32(limit))
	return each(rows, func(row sqlc.LinkMailsRow) deposit.LinkMail {
		return deposit.LinkMail{Address: row.Recipient, At: row.CreatedAt}
	}), err
}

// LinkMailsTo implements ports.MailQueue.
func (r mails) LinkMailsTo(ctx context.Context, accountID id.ID, address string, since time.Time, limit int) ([]deposit.LinkMail, error) {
	rows, err := r.q.LinkMailsTo(ctx, r.Tx, sqlc.LinkMailsToParams{
		Address: mailaddr.Normal(address), Since: since, AccountID: accountID, Most: int32(limit),
	})
	return each(rows, func(row sqlc.LinkMailsToRow) deposit.LinkMail {
		return deposit.LinkMail{Address: row.Recipient, At: row.CreatedAt}
	}), err
}

// Claim implements ports.DueMails.
func (s *Store) Claim(ctx context.Context, limit int, lease time.Duration) ([]ports.Mail, error) {
	rows, err := s.q.ClaimMails(ctx, s.db, lease, int32(limit))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b sqlc.ClaimMailsRow) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return s.openMails(rows)
}

// NewestMails implements ports.CaughtMails.
func (s *Store) NewestMails(ctx context.Context, limit int) ([]ports.Mail, error) {
	rows, err := s.q.NewestMails(ctx, s.db, int32(limit))
	if err != nil {
		return nil, err
	}
	return s.openMails(each(rows, func(row sqlc.NewestMailsRow) sqlc.ClaimMailsRow { return sqlc.ClaimMailsRow(row) }))
}

// openMails gives the mails of rows. Mails that cannot be decrypted are left out; the error tells of them.
func (s *Store) openMails(rows []sqlc.ClaimMailsRow) ([]ports.Mail, error) {
	opened, unreadable := make([]ports.Mail, 0, len(rows)), []error(nil)
	for _, row := range rows {
		m := ports.Mail{
			ID: row.ID, To: row.Recipient, Subject: row.Subject, Body: row.Body, CreatedAt: row.CreatedAt, LinkOf: row.LinkOf, Attempt: int(row.Attempts),
		}
		if err := s.openMail(&m, row.Sealed); err != nil {
			unreadable = append(unreadable, fmt.Errorf("mail %s: %w", id.Message.Of(m.ID), err))
			continue
		}
		opened = append(opened, m)
	}
	return opened, errors.Join(unreadable...)
}

// openMail puts the text of an encrypted mail into m.
func (s *Store) openMail(m *ports.Mail, sealed []byte) error {
	if sealed == nil {
		return nil
	}
	plain, err := s.sealer.Open(sealed, pg.MailAAD(m.ID))
	if err != nil {
		return err
	}
	var c content
	if err := json.Unmarshal([]byte(plain.Reveal()), &c); err != nil {
		return errors.New("postgres: the text of the mail is not JSON") // the error of json would quote the text
	}
	m.Body, m.HTML = c.Body, c.HTML
	return nil
}

// Sent implements ports.DueMails.
func (s *Store) Sent(ctx context.Context, mailID id.ID) error { return s.q.MailSent(ctx, s.db, mailID) }

// Failed implements ports.DueMails.
func (s *Store) Failed(ctx context.Context, m ports.Mail, waits []time.Duration) error {
	return s.q.MailFailed(ctx, s.db, waits, m.ID, int32(m.Attempt))
}

type audit struct{ unit }

// Append implements ports.AuditLog.
func (r audit) Append(ctx context.Context, e ports.AuditEntry) error {
	return r.q.AppendAudit(ctx, r.Deferred(), sqlc.AppendAuditParams{
		ID: e.ID, At: e.At, Actor: e.Actor.String(), Action: e.Action, Subject: e.Subject,
		Detail: orNoPairs(e.Detail), RequestID: ports.RequestIDOf(ctx),
	})
}

// orNoPairs replaces nil, which would be NULL, by an empty map.
func orNoPairs(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
