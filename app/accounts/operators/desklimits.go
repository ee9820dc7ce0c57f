package operators

import (
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// verifyMailsPerHour limits the mails of each kind that verify an operator's address. Failed log-ins and wrong
// codes have limits of their own.
const verifyMailsPerHour = 5

type DashboardRateLimit struct {
	name      string
	perMinute int // The requests allowed in a minute; 0 where the limit is one per hour.
	perHour   int
}

// The rate limits of an account on the operator pages (pages.md, "Limits of an account").
var (
	PageReadRateLimit = DashboardRateLimit{name: "reads", perMinute: 600}
	FormRateLimit     = DashboardRateLimit{name: "acts", perMinute: 60}
	LinkMailRateLimit = DashboardRateLimit{name: "mails", perHour: 100}
	UploadRateLimit   = DashboardRateLimit{name: "files", perHour: 200}
	ExportRateLimit   = DashboardRateLimit{name: "exports", perMinute: 30}
	// PasswordCheckRateLimit keeps a person who has taken over a session from guessing the password on the settings
	// pages.
	PasswordCheckRateLimit = DashboardRateLimit{name: "passwords", perHour: 20}
)

func (l DashboardRateLimit) RuleFor(accountID id.ID) ports.LimitRule {
	return ports.LimitRule{
		Name: "desk-" + l.name, Key: "desk:" + l.name + ":" + id.Account.Of(accountID),
		PerMinute: l.perMinute, PerHour: l.perHour,
	}
}
