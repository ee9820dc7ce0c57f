package mails_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/app/internal/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func TestLinkEnded_TellsInBothLanguagesWhoEndedTheLink(t *testing.T) {
	m := mails.LinkEnded{
		Operator: connect.Operator{Email: "ada@gites.example"}, Account: connect.Account{CompanyName: "Gîtes d’Ada"},
		PartnerName: "Acme", By: connect.RevokedByPartner, DashboardURL: "https://dash.example/",
	}
	require.Empty(t, cmp.Diff(ports.Mail{
		ID: id.ID{1}, To: "ada@gites.example", CreatedAt: now,
		Subject: "Acme is no longer linked to your account / n’est plus relié à votre compte",
		Body: `Hello,

the link between your account "Gîtes d’Ada" and Acme was ended on 2026-11-21 10:00 UTC, by Acme.

Acme can no longer create deposits for you. Deposits that exist already stay as they are.
To link again, open a new connect link from your partner. Your dashboard: https://dash.example/dashboard

--

Bonjour,

le lien entre votre compte « Gîtes d’Ada » et Acme a pris fin le 2026-11-21 10:00 UTC, par Acme.

Acme ne peut plus créer de cautions pour vous. Les cautions existantes restent inchangées.
Pour relier de nouveau votre compte, ouvrez un nouveau lien de votre partenaire. Votre espace : https://dash.example/dashboard
`,
	}, m.Mail(id.ID{1}, now)))

	for by, words := range map[connect.RevokedBy][2]string{
		connect.RevokedByOperator: {"by you, on your dashboard.", "par vous, dans votre espace."},
		connect.RevokedByAdmin:    {"by our support.", "par notre assistance."},
	} {
		m.By = by
		body := m.Mail(id.ID{1}, now).Body
		require.Contains(t, body, words[0])
		require.Contains(t, body, words[1])
	}
}

func TestSubscriptionDisabled_NamesTheSubscriptionAndTheURL(t *testing.T) {
	m := mails.SubscriptionDisabled{Contact: "dev@acme.example", SubscriptionID: id.ID{2}, URL: "https://pms.example/hook"}
	require.Empty(t, cmp.Diff(ports.Mail{
		ID: id.ID{1}, To: "dev@acme.example", CreatedAt: now,
		Subject: "Your webhook was disabled",
		Body: "For five days every delivery to\n\n  https://pms.example/hook\n\nhas failed, so we have disabled webhook " + id.Subscription.Of(id.ID{2}) +
			".\n\nDeliveries are kept and go out once you enable it again. A delivery that waits for 30 days ends as failed.\n",
	}, m.Mail(id.ID{1}, now)))
}

func TestRetryWaits_AreFive_ForSixAttempts(t *testing.T) {
	require.Equal(t, []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}, mails.RetryWaits)
}
