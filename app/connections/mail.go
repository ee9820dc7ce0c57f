package connections

import (
	"fmt"
	"strings"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/ports"
)

// unlinkedMail tells the operator that a link has ended, in both languages: which one it reads is not known here.
func (s *Service) unlinkedMail(r revocation, now time.Time) ports.Mail {
	dashboard := strings.TrimSuffix(s.deps.DashboardURL, "/") + "/dashboard"
	english, french := "by you, on your dashboard", "par vous, dans votre espace"
	switch r.by {
	case connect.RevokedByPartner:
		english, french = "by "+r.partner.Name, "par "+r.partner.Name
	case connect.RevokedByAdmin:
		english, french = "by our support", "par notre assistance"
	case connect.RevokedByOperator:
	}
	at := now.UTC().Format("2006-01-02 15:04 UTC")
	return ports.Mail{
		ID:      s.deps.Entropy.NewID(),
		To:      r.operator.Email,
		Subject: fmt.Sprintf("%s is no longer linked to your account / n’est plus relié à votre compte", r.partner.Name),
		Body: fmt.Sprintf(`Hello,

the link between your account "%[1]s" and %[2]s was ended on %[3]s, %[4]s.

%[2]s can no longer create deposits for you. Deposits that exist already stay as they are.
To link again, open a new connect link from your partner. Your dashboard: %[6]s

--

Bonjour,

le lien entre votre compte « %[1]s » et %[2]s a pris fin le %[3]s, %[5]s.

%[2]s ne peut plus créer de cautions pour vous. Les cautions existantes restent inchangées.
Pour relier de nouveau votre compte, ouvrez un nouveau lien de votre partenaire. Votre espace : %[6]s
`, r.account.CompanyName, r.partner.Name, at, english, french, dashboard),
		CreatedAt: now,
	}
}
