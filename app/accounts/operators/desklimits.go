package operators

import (
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// verifyMailsPerHour bounds the mails of each kind with a link that verifies an operator's address. Failed log-ins are
// bounded beside sign-in (signin.Authenticator), codes by core/twofactor.
const verifyMailsPerHour = 5

// DeskLimit bounds how often an account does something on the desk.
type DeskLimit struct {
	name      string
	perMinute int // 0: perHour counts
	perHour   int
}

// The limits of the desk (pages.md, "Limits of an account"). Pages and forms are more than people send, and too few to
// slow the partner API down.
var (
	DeskReads = DeskLimit{name: "reads", perMinute: 600} // pages
	DeskForms = DeskLimit{name: "acts", perMinute: 60}   // forms of any kind
	DeskMails = DeskLimit{name: "mails", perHour: 100}   // mails with the link to a checkout
	// DeskUploads are forms with files.
	DeskUploads = DeskLimit{name: "files", perHour: 200}
	DeskExports = DeskLimit{name: "exports", perMinute: 30}
	// DeskPasswords are passwords that the settings ask for: whoever has taken a session cannot guess the password.
	DeskPasswords = DeskLimit{name: "passwords", perHour: 20}
)

// Of gives the rule of the limit for an account.
func (l DeskLimit) Of(accountID id.ID) ports.LimitRule {
	return ports.LimitRule{
		Name: "desk-" + l.name, Key: "desk:" + l.name + ":" + id.Account.Of(accountID),
		PerMinute: l.perMinute, PerHour: l.perHour,
	}
}
