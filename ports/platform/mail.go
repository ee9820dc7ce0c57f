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
	// LinkMailsTo gives up to limit mails with the links of an account's deposits to an address since a time, oldest
	// first, in any case of its ASCII letters.
	LinkMailsTo(ctx context.Context, accountID id.ID, address string, since time.Time,
		limit int) ([]deposit.LinkMail, error)
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
