package operators

import (
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// verifyMailsPerHour is the number of mails of each kind, with a link that verifies an operator's address,
// that an hour allows. Failed log-ins have a limit of their own in signin.Authenticator, and wrong two-factor
// codes in core/twofactor.
const verifyMailsPerHour = 5

// DashboardRateLimit is a rate limit on the requests of an account to the operator pages.
type DashboardRateLimit struct {
	name      string
	perMinute int // The number of requests allowed in a minute; 0 where the limit is one per hour instead.
	perHour   int
}

// The rate limits of an account on the operator pages (pages.md, "Limits of an account"). They are higher
// than people need, and low enough not to slow the partner API down.
var (
	// PageReadRateLimit limits how often an account reads operator pages.
	PageReadRateLimit = DashboardRateLimit{name: "reads", perMinute: 600}
	// FormRateLimit limits how many forms of any kind an account sends.
	FormRateLimit = DashboardRateLimit{name: "acts", perMinute: 60}
	// LinkMailRateLimit limits how many mails with a link to a checkout an account sends.
	LinkMailRateLimit = DashboardRateLimit{name: "mails", perHour: 100}
	// UploadRateLimit limits how many forms with files an account sends.
	UploadRateLimit = DashboardRateLimit{name: "files", perHour: 200}
	ExportRateLimit = DashboardRateLimit{name: "exports", perMinute: 30}
	// PasswordCheckRateLimit limits how often the settings pages check a password: a person who has taken over a session
	// cannot guess the password there.
	PasswordCheckRateLimit = DashboardRateLimit{name: "passwords", perHour: 20}
)

// RuleFor returns the rule with which the rate limiter applies this limit to one account.
func (l DashboardRateLimit) RuleFor(accountID id.ID) ports.LimitRule {
	return ports.LimitRule{
		Name: "desk-" + l.name, Key: "desk:" + l.name + ":" + id.Account.Of(accountID),
		PerMinute: l.perMinute, PerHour: l.perHour,
	}
}
