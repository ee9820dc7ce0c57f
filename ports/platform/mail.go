package platform

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// Mail is a message in plain text, and in HTML if the mail has one.
type Mail struct {
	ID        id.ID // id.Message; the Message-ID in every attempt
	To        string
	Subject   string
	Body      string
	HTML      string // "": plain text only
	CreatedAt time.Time

	// LinkOf is the deposit whose link to checkout the mail carries; zero for every other mail. Body and HTML of such a
	// mail, and of every mail with HTML, are kept encrypted.
	LinkOf id.ID
	// Sender is the partner or the operator's account that asked for a mail with a link to an address which somebody
	// typed; zero for a mail that the service sends by itself. Such mails are counted (SentTo).
	Sender id.ID
	// Mark stands in the link of a mail with a sender, and shows that its reader has opened it. Zero: in no link.
	Mark id.ID
	// Attempt counts the claims, this one included. Claim sets Attempt.
	Attempt int
}

// CaughtMails reads the mails of a service that sends none, for the people who try it. Only development has such a
// reader.
type CaughtMails interface {
	// NewestMails gives up to limit mails, newest first, with the text of those that are kept encrypted.
	NewestMails(ctx context.Context, limit int) ([]Mail, error)
}

// Mailer sends a mail at once.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}

// Mails stores mails in the transaction of the change that causes them. The dispatcher sends mails after the commit.
type Mails interface {
	Enqueue(ctx context.Context, m Mail) error
	// LinkMails gives the mails with the link of a deposit since a time, oldest first, limit at most.
	LinkMails(ctx context.Context, depositID id.ID, since time.Time, limit int) ([]deposit.LinkMail, error)
	// SentTo gives the mails with a sender to the mailboxes of addresses since a time. Until the transaction ends, other
	// calls for one of these mailboxes wait.
	SentTo(ctx context.Context, sender id.ID, addresses []string, since time.Time) (deposit.SentTo, error)
	// Opened ends the count of the mails of a sender to an address: the reader has opened the link with the mark. An
	// unknown mark changes nothing.
	Opened(ctx context.Context, mark id.ID) error
	// DeleteSentTo removes up to limit counted mails from before at, and returns the number. The mails themselves stay.
	DeleteSentTo(ctx context.Context, at time.Time, limit int) (int, error)
	// Claim gives up to limit due mails, which no other call gets until the lease is over. Mails that cannot be
	// decrypted are left out; the error tells of them, beside the others.
	Claim(ctx context.Context, limit int, lease time.Duration) ([]Mail, error)
	Sent(ctx context.Context, mailID id.ID) error
	// Failed plans the next attempt of a claimed mail: waits are those after the first failed attempt, the second, and
	// so on. A mail without a further wait is given up. Failed changes nothing once another call has claimed the mail.
	Failed(ctx context.Context, m Mail, waits []time.Duration) error
	// DeleteFinishedMails removes up to limit mails that were sent or given up before at, and returns the number.
	DeleteFinishedMails(ctx context.Context, at time.Time, limit int) (int, error)
}
