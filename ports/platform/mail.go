package platform

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// Mail is an e-mail in plain text, and also in HTML if it has an HTML part.
type Mail struct {
	ID        id.ID
	To        string
	Subject   string
	Body      string
	HTML      string // The HTML part; "": the mail is plain text only.
	CreatedAt time.Time

	// LinkOf is the deposit whose checkout link the mail carries; zero for every other mail. Body and HTML of such a
	// mail, and of every mail with HTML, are stored encrypted.
	LinkOf id.ID
	// Sender is the partner or the operator's account that requested a mail with a link to an address that a person
	// typed; zero for any other mail.
	Sender id.ID
	// Mark is an id in the link of a mail that somebody requested for an address that they typed. Zero: the link has
	// no such id.
	Mark    id.ID
	Attempt int
}

// CaughtMailReader reads the mails of a service that sends none, for the people who try it. Only development has such
// a reader.
type CaughtMailReader interface {
	NewestMails(ctx context.Context, limit int) ([]Mail, error)
}

// Mailer sends a mail at once.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}

// MailQueue stores mails in the transaction of the change that causes them. The dispatcher sends mails after the
// commit.
type MailQueue interface {
	Enqueue(ctx context.Context, m Mail) error
	CheckoutLinkMails(ctx context.Context, depositID id.ID, since time.Time, limit int) ([]deposit.LinkMail, error)
	// SentTo returns the mails that a sender has sent to the mailboxes of the addresses since a time. Until the
	// transaction ends, other calls for one of these mailboxes wait.
	SentTo(ctx context.Context, sender id.ID, addresses []string, since time.Time) (deposit.LinkMailsByMailbox, error)
	// MarkLinkOpened ends the counting of a sender's mails to an address, because the reader has opened the mail's
	// link, which carries the id mark.
	MarkLinkOpened(ctx context.Context, mark id.ID) error
	DeleteSentCounts(ctx context.Context, at time.Time, limit int) (int, error)
	// ClaimDue returns up to limit due mails for sending. No other call gets them for the duration of the lease.
	// Mails that cannot be decrypted are left out and reported by the error.
	ClaimDue(ctx context.Context, limit int, lease time.Duration) ([]Mail, error)
	MarkSent(ctx context.Context, mailID id.ID) error
	// MarkFailed sets the time of the next attempt to send a mail: waits are the times after the first failed
	// attempt, the second, and so on. A mail without a further wait is given up.
	MarkFailed(ctx context.Context, m Mail, waits []time.Duration) error
	DeleteFinishedMails(ctx context.Context, at time.Time, limit int) (int, error)
}
