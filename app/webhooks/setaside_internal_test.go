package webhooks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestFacts_OfAnEvent_AreKeptWithoutItsData(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	linked := webhookports.SetAsideEvent{ID: id.ID{1}, PartnerID: id.ID{3}, Name: webhook.OperatorLinked, CreatedAt: at,
		At: at.Add(time.Second), Reason: "no such name"}
	want := map[string]string{
		"partnerId": id.Partner.Of(id.ID{3}), "event": "rental_operator.linked", "createdAt": "2026-07-01T12:00:00.000Z",
		"setAsideAt": "2026-07-01T12:00:01.000Z", "reason": "no such name",
	}
	require.Equal(t, want, factsOf(linked))
	ofADeposit := linked
	ofADeposit.Name, ofADeposit.DepositID = webhook.DepositExpired, id.ID{2}
	want["event"], want["depositId"] = "deposit.expired", id.Deposit.Of(id.ID{2})
	require.Equal(t, want, factsOf(ofADeposit))
}
