// Package mails writes every mail of the service and says when a failed mail is sent again.
// docs/guides/adding-a-mail.md tells how to add a mail.
package mails

import (
	"fmt"
	"strings"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// RetryWaits are the waits after the first failed attempt, the second, and so on. A mail that fails once more is given up.
var RetryWaits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}

// LinkEnded tells an operator that the link between the account and a partner was revoked.
type LinkEnded struct {
	Operator     connect.Operator
	Account      connect.Account
	PartnerName  string
	By           connect.RevokedBy
	DashboardURL string // DASHBOARD_BASE_URL
}

// Mail gives the text in English and French, since the service does not know the operator's language.
func (m LinkEnded) Mail(mailID id.ID, now time.Time) ports.Mail {
	english, french := "by you, on your dashboard", "par vous, dans votre espace"
	switch m.By {
	case connect.RevokedByPartner:
		english, french = "by "+m.PartnerName, "par "+m.PartnerName
	case connect.RevokedByAdmin:
		english, french = "by our support", "par notre assistance"
	case connect.RevokedByOperator:
	}
	return ports.Mail{
		ID: mailID, To: m.Operator.Email, CreatedAt: now,
		Subject: fmt.Sprintf("%s is no longer linked to your account / n’est plus relié à votre compte", m.PartnerName),
		Body: fmt.Sprintf(`Hello,

the link between your account "%[1]s" and %[2]s was ended on %[3]s, %[4]s.

%[2]s can no longer create deposits for you. Deposits that exist already stay as they are.
To link again, open a new connect link from your partner. Your dashboard: %[6]s

--

Bonjour,

le lien entre votre compte « %[1]s » et %[2]s a pris fin le %[3]s, %[5]s.

%[2]s ne peut plus créer de cautions pour vous. Les cautions existantes restent inchangées.
Pour relier de nouveau votre compte, ouvrez un nouveau lien de votre partenaire. Votre espace : %[6]s
`, m.Account.CompanyName, m.PartnerName, now.UTC().Format("2006-01-02 15:04 UTC"), english, french,
			strings.TrimSuffix(m.DashboardURL, "/")+"/dashboard"),
	}
}

// SubscriptionDisabled tells a partner's contact that five days of failures have disabled a subscription
// (webhook.DisableAfter).
type SubscriptionDisabled struct {
	Contact        string // the partner's contact e-mail
	SubscriptionID id.ID
	URL            string
}

// Mail gives the text in English.
func (m SubscriptionDisabled) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "Your webhook was disabled",
		Body: "For five days every delivery to\n\n  " + m.URL + "\n\nhas failed, so we have disabled webhook " + id.Subscription.Of(m.SubscriptionID) +
			".\n\nDeliveries are kept and go out once you enable it again. A delivery that waits for 30 days ends as failed.\n",
	}
}
