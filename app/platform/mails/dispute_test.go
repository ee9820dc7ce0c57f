package mails_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

func disputed(locale, status string) mails.Disputed {
	d := link("").Deposit
	return mails.Disputed{
		Operator: ada(locale), Deposit: paymentports.DisputedDeposit{ID: d.ID, Reference: d.Reference,
			RentalContract: d.RentalContract}, New: true, DashboardURL: "https://dash.example",
		Dispute: paymentports.Dispute{Ref: "dp_1", Amount: 12_000, Reason: "fraudulent", Status: status, EvidenceDueBy: now},
	}
}

func TestDisputed_InEnglish(t *testing.T) {
	m := disputed("en", "needs_response").Mail(id.ID{1}, now)
	require.Equal(t, "A payment of deposit D-7K3M-9Q2X is disputed", m.Subject)
	require.Contains(t, plain(m.Body), `The tenant objects to a charge at the bank that issued the card.

  Amount: €120.00
  State: the bank waits for our answer
`)
	require.Contains(t, m.Body, "Evidence is due by:")
	require.NotContains(t, m.Body, "fraudulent", "the bank's word stays with support")
}

func TestDisputed_Changed_TellsTheState(t *testing.T) {
	for status, want := range map[string]string{
		"lost": "lost: the money goes back to the tenant", "won": "decided for you", "warning_closed": "decided for you",
		"under_review": "under review by the bank", "new_word": "under review by the bank",
	} {
		m := disputed("en", status)
		m.New = false
		got := m.Mail(id.ID{1}, now)
		require.Equal(t, "News on the dispute about deposit D-7K3M-9Q2X", got.Subject)
		require.Contains(t, got.Body, "State: "+want, status)
		require.NotContains(t, got.Body, "Evidence is due", status)
	}
}

func TestDisputed_InFrench_HostileBooking_StaysOneLine(t *testing.T) {
	require.Equal(t, "Un paiement de la caution D-7K3M-9Q2X est contesté",
		disputed("fr", "lost").Mail(id.ID{1}, now).Subject)
	for _, hostile := range hostileNames {
		m := disputed("en", "lost")
		m.Deposit.RentalContract = hostile
		requireHarmless(t, m.Mail(id.ID{1}, now), hostile)
	}
}
