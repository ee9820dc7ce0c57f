package operators

import (
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// verifyMailsPerHour is the number of mails of each kind, with a link that verifies an operator's address,
// that an hour allows. Failed log-ins have a limit of their own in signin.Authenticator, and wrong two-factor
// codes in core/twofactor.
const verifyMailsPerHour = 5

// DeskLimit is a rate limit on what an account does on the operator pages.
type DeskLimit struct {
	name      string
	perMinute int // The number of requests allowed in a minute; 0 where the limit is one per hour instead.
	perHour   int
}

// The rate limits of an account on the operator pages (pages.md, "Limits of an account"). They are higher
// than people need, and low enough not to slow the partner API down.
var (
	DeskReads = DeskLimit{name: "reads", perMinute: 600} // DeskReads limits the pages that are read.
	DeskForms = DeskLimit{name: "acts", perMinute: 60}   // DeskForms limits the forms of any kind that are sent.
	DeskMails = DeskLimit{name: "mails", perHour: 100}   // DeskMails limits the mails with a link to a checkout.
	// DeskUploads limits the forms that carry files.
	DeskUploads = DeskLimit{name: "files", perHour: 200}
	DeskExports = DeskLimit{name: "exports", perMinute: 30}
	// DeskPasswords limits how often the settings pages check a password: a person who has taken over a session
	// cannot guess the password there.
	DeskPasswords = DeskLimit{name: "passwords", perHour: 20}
)

// Of returns the rule with which the rate limiter applies this limit to one account.
func (l DeskLimit) Of(accountID id.ID) ports.LimitRule {
	return ports.LimitRule{
		Name: "desk-" + l.name, Key: "desk:" + l.name + ":" + id.Account.Of(accountID),
		PerMinute: l.perMinute, PerHour: l.perHour,
	}
}
