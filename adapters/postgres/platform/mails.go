package platform

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/platform/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// content is the part of a mail that is stored encrypted: its text and its HTML.
type content struct {
	Body string `json:"body"`
	HTML string `json:"html"`
}

func (r MailStore) Enqueue(ctx context.Context, m ports.Mail) error {
	row := sqlc.EnqueueMailParams{ID: m.ID, Recipient: m.To, Subject: m.Subject, Body: m.Body, LinkOf: m.LinkOf,
		CreatedAt: m.CreatedAt}
	if !m.LinkOf.IsZero() || m.HTML != "" {
		plain, err := json.Marshal(content{m.Body, m.HTML})
		if err != nil {
			return err
		}
		row.Body = ""
		if row.Sealed, err = r.Sealer.Encrypt(secret.Text(plain), pg.MailAAD(m.ID)); err != nil {
			return err
		}
	}
	if !m.Sender.IsZero() {
		mark := m.Mark
		if mark.IsZero() {
			mark = m.ID
		}
		if err := queries.CountSentLink(ctx, pg.In(ctx).QueueingTx(), sqlc.CountSentLinkParams{
			ID: mark, Mailbox: r.Sealer.MailboxHash(mailaddr.CanonicalMailbox(m.To)), Sender: m.Sender, SentAt: m.CreatedAt,
		}); err != nil {
			return err
		}
	}
	return queries.EnqueueMail(ctx, pg.In(ctx).QueueingTx(), row)
}

func (r MailStore) CheckoutLinkMails(ctx context.Context, depositID id.ID, since time.Time,
	limit int) ([]deposit.LinkMail, error) {
	rows, err := queries.LinkMails(ctx, pg.In(ctx), depositID, since, limit)
	return pg.ConvertEach(rows, func(row sqlc.LinkMailsRow) deposit.LinkMail {
		return deposit.LinkMail{Address: row.Recipient, At: row.CreatedAt}
	}), err
}

func (r MailStore) SentTo(ctx context.Context, sender id.ID, addresses []string,
	since time.Time) (deposit.LinkMailsByMailbox, error) {
	// The mailboxes of the given addresses, by the hashes under which the table of mails stores them.
	named := map[string]string{}
	for _, a := range addresses {
		mailbox := mailaddr.CanonicalMailbox(a)
		named[string(r.Sealer.MailboxHash(mailbox))] = mailbox
	}
	hashes, keys := make([][]byte, 0, len(named)), make([]int64, 0, len(named))
	for _, hash := range slices.Sorted(maps.Keys(named)) {
		hashes, keys = append(hashes, []byte(hash)), append(keys, int64(binary.BigEndian.Uint64([]byte(hash))))
	}
	if err := queries.LockMailboxes(ctx, pg.In(ctx).QueueingTx(), keys); err != nil {
		return nil, err
	}
	rows, err := queries.SentLinks(ctx, pg.In(ctx), sqlc.SentLinksParams{Mailboxes: hashes, Sender: sender, Since: since,
		MaxOfSender: deposit.MaxLinkMailsBySender, MaxOfAll: deposit.MaxLinkMailsByAllSenders})
	sent := deposit.LinkMailsByMailbox{}
	for _, row := range rows {
		mailbox := named[string(row.Mailbox)]
		links := sent[mailbox]
		if row.BySender {
			links.BySender = append(links.BySender, row.SentAt)
		} else {
			links.ByAll = append(links.ByAll, row.SentAt)
		}
		sent[mailbox] = links
	}
	return sent, err
}

func (r MailStore) MarkLinkOpened(ctx context.Context, mark id.ID) error {
	return queries.LinkOpened(ctx, r.DB, mark)
}

func (r MailStore) DeleteSentCounts(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := queries.DeleteSentLinks(ctx, r.DB, at, limit)
	return int(n), err
}

func (r MailStore) ClaimDue(ctx context.Context, limit int, lease time.Duration) ([]ports.Mail, error) {
	rows, err := queries.ClaimMails(ctx, r.DB, lease, limit)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b sqlc.ClaimMailsRow) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return r.openMails(rows)
}

func (r MailStore) NewestMails(ctx context.Context, limit int) ([]ports.Mail, error) {
	rows, err := queries.NewestMails(ctx, r.DB, limit)
	if err != nil {
		return nil, err
	}
	return r.openMails(pg.ConvertEach(rows,
		func(row sqlc.NewestMailsRow) sqlc.ClaimMailsRow { return sqlc.ClaimMailsRow(row) }))
}

// openMails returns mails decrypted; the returned error names those that cannot be.
func (r MailStore) openMails(rows []sqlc.ClaimMailsRow) ([]ports.Mail, error) {
	opened, unreadable := make([]ports.Mail, 0, len(rows)), []error(nil)
	for _, row := range rows {
		m := ports.Mail{
			ID: row.ID, To: row.Recipient, Subject: row.Subject, Body: row.Body, CreatedAt: row.CreatedAt,
			LinkOf: row.LinkOf, Attempt: row.Attempts,
		}
		if err := r.openMail(&m, row.Sealed); err != nil {
			unreadable = append(unreadable, fmt.Errorf("mail %s: %w", id.Mail.Of(m.ID), err))
			continue
		}
		opened = append(opened, m)
	}
	return opened, errors.Join(unreadable...)
}

func (r MailStore) openMail(m *ports.Mail, sealed []byte) error {
	if sealed == nil {
		return nil
	}
	plain, err := r.Sealer.Decrypt(sealed, pg.MailAAD(m.ID))
	if err != nil {
		return err
	}
	var c content
	if err := json.Unmarshal([]byte(plain.Reveal()), &c); err != nil {
		// Do not return the error of json, which would quote the text of the mail.
		return errors.New("postgres: the text of the mail is not JSON")
	}
	m.Body, m.HTML = c.Body, c.HTML
	return nil
}

func (r MailStore) MarkSent(ctx context.Context, mailID id.ID) error {
	return queries.MailSent(ctx, r.DB, mailID)
}

func (r MailStore) MarkFailed(ctx context.Context, m ports.Mail, waits []time.Duration) error {
	return queries.MailFailed(ctx, r.DB, waits, m.ID, m.Attempt)
}

func (r MailStore) DeleteFinishedMails(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := queries.DeleteFinishedMails(ctx, r.DB, at, limit)
	return int(n), err
}
