package partnerapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// day is a time of its own for each field, so that no field can show that of another; written is its text.
func day(n int) time.Time { return time.Date(2026, 3, n, 9, 30, 0, 7_000_000, time.UTC) }

func written(n int) string { return day(n).Format("2006-01-02T15:04:05.000Z") }

// fields are the members of a value as JSON.
func fields(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

func TestDepositOf_EachField(t *testing.T) {
	t.Parallel()
	d := &deposit.Deposit{ID: id.ID{1}, Reference: "D-7K3M-9Q2X", Status: deposit.Captured, StatusReason: "claim",
		Version: 4, AccountID: id.ID{2}, PartnerID: id.ID{3}, ByPartnerAPI: true, PartnerName: "Acme", ExternalID: "hotel-1",
		ClientID:       id.ID{4},
		Client:         &deposit.ClientDetails{ID: id.ID{4}, Email: "ada@b.example", FirstName: "Ada", LastName: "Love"},
		CapturedAmount: 18_050, CheckoutExpiresAt: day(3), CheckoutStartedAt: day(20), ActivatedAt: day(4), ExpiresAt: day(5),
		CancelledAt: day(6), ClosedAt: day(7), CapturedAt: day(8), CreatedAt: day(9), UpdatedAt: day(10),
		Draft: deposit.Draft{Amount: 50_001, ContractStartAt: day(1), ContractEndAt: day(2), RentalContract: "BK-1",
			ReturnURL: "https://pms.example/x", URLGeneration: true, Metadata: map[string]string{"k": "v"}}}
	v := deposits.PartnerView{Deposit: d, CheckoutURL: "https://desk.example/checkout/x", CoversContract: true,
		Debt: &deposit.Debt{State: deposit.CollectionScheduled, NextAttemptAt: day(11)}}
	require.Equal(t, map[string]any{
		"id": id.Deposit.Of(d.ID), "reference": "D-7K3M-9Q2X", "status": "captured", "statusReason": "claim", "version": 4.0,
		"accountId": id.Account.Of(d.AccountID), "externalId": "hotel-1", "amount": 500.01, "amountCents": 50_001.0,
		"currency": "EUR", "capturedAmountCents": 18_050.0, "contractStartAt": written(1), "contractEndAt": written(2),
		"checkoutExpiresAt": written(3), "activatedAt": written(4), "expiresAt": written(5), "cancelledAt": written(6),
		"closedAt": written(7), "capturedAt": written(8), "createdAt": written(9), "updatedAt": written(10),
		"rentalContract": "BK-1", "returnUrl": "https://pms.example/x", "metadata": map[string]any{"k": "v"},
		"depositUrl": "https://desk.example/checkout/x", "coversContract": true, "clientId": id.Client.Of(d.ClientID),
		"client": map[string]any{"id": id.Client.Of(d.ClientID), "email": "ada@b.example", "firstName": "Ada",
			"lastName": "Love"},
		"collection": map[string]any{"status": "scheduled", "nextAttemptAt": written(11)},
		"partnerContext": map[string]any{"partnerId": id.Partner.Of(d.PartnerID), "partnerName": "Acme",
			"externalId": "hotel-1"},
	}, fields(t, depositOf(v)))

	bare := fields(t, depositOf(deposits.PartnerView{Deposit: &deposit.Deposit{ID: id.ID{1}, PartnerID: id.ID{3}}}))
	for _, absent := range []string{"statusReason", "client", "clientId", "depositUrl", "returnUrl", "activatedAt",
		"expiresAt", "cancelledAt", "closedAt", "capturedAt", "collection", "partnerContext"} {
		require.NotContains(t, bare, absent)
	}
	require.Equal(t, map[string]any{}, bare["metadata"])
}

func TestCollectionOf_ToldPaidOnceItIs(t *testing.T) {
	t.Parallel()
	debt := deposit.Debt{AttemptedAt: day(1), NextAttemptAt: day(2), EndedAt: day(3), Failure: "card_declined"}
	for _, state := range deposit.CollectionStates {
		debt.State = state
		want := map[string]any{"status": string(state), "attemptedAt": written(1), "nextAttemptAt": written(2),
			"failure": "card_declined"}
		if state == deposit.CollectionPaid {
			want["paidAt"] = written(3)
		}
		require.Equal(t, want, fields(t, collectionOf(debt)))
	}
}

func TestDeliveryOf_EachField(t *testing.T) {
	t.Parallel()
	d := webhook.Delivery{ID: id.ID{1}, SubscriptionID: id.ID{2}, EventID: id.ID{3}, Event: webhook.EventDepositActivated,
		DepositID: id.ID{4}, State: webhook.DeliveryStateWaiting, Attempts: 2, DueAt: day(1), CreatedAt: day(2),
		DeliveredAt:   day(3),
		FailureReason: "attempts_exhausted", RedeliveryOf: id.ID{5}, BodySHA256: "ab",
		AttemptLog: []webhook.Attempt{
			{Number: 1, StartedAt: day(4), Duration: 10 * time.Second, Result: webhook.ResultTimeout},
			{Number: 2, StartedAt: day(5), Duration: time.Millisecond, Result: webhook.ResultSuccess, ResponseStatus: 204,
				Snippet: "ok"},
		}}
	want := map[string]any{
		"id": id.Delivery.Of(d.ID), "webhookId": id.Subscription.Of(d.SubscriptionID), "eventId": id.Event.Of(d.EventID),
		"event": "deposit.activated", "depositId": id.Deposit.Of(d.DepositID), "test": false, "status": "retrying",
		"attemptCount": 2.0, "nextAttemptAt": written(1), "createdAt": written(2), "deliveredAt": written(3),
		"failureReason": "attempts_exhausted", "redeliveryOf": id.Delivery.Of(d.RedeliveryOf), "bodySha256": "ab",
		"attempts": []any{
			map[string]any{"number": 1.0, "startedAt": written(4), "durationMs": 10_000.0, "error": "timeout"},
			map[string]any{"number": 2.0, "startedAt": written(5), "durationMs": 1.0, "responseStatus": 204.0,
				"responseSnippet": "ok"},
		},
	}
	require.Equal(t, want, fields(t, deliveryOf(d)))
	d.State = webhook.DeliveryStateDispatched // the end of its lease is not public
	require.NotContains(t, fields(t, deliveryOf(d)), "nextAttemptAt")
}

func TestHealthOf_EachField(t *testing.T) {
	t.Parallel()
	report := webhook.EndpointReport{State: webhook.EndpointFailing, Since: day(1), LastSuccessAt: day(2),
		LastFailureAt: day(3),
		LastError:     webhook.ResultTimeout, Pending: 7, PendingCapped: true, OldestPendingAt: day(4)}
	require.Equal(t, map[string]any{"state": "failing", "since": written(1), "lastSuccessAt": written(2),
		"lastFailureAt": written(3), "lastError": "timeout", "pending": 7.0, "pendingCapped": true,
		"oldestPendingAt": written(4)}, fields(t, healthOf(report)))
	require.Equal(t, map[string]any{"state": "healthy", "since": written(1), "pending": 0.0},
		fields(t, healthOf(webhook.EndpointReport{State: webhook.EndpointHealthy, Since: day(1)})))
}

// The zero time means "no time" in the code.
func TestStoredTime_HasMicroseconds_AndIsNotTheYearOne(t *testing.T) {
	t.Parallel()
	at := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	got, err := storedTime("from", TimestampOf(at))
	require.NoError(t, err)
	require.Equal(t, at.Truncate(time.Microsecond), got)
	_, err = storedTime("from", TimestampOf(time.Time{}.Add(time.Microsecond)))
	require.NoError(t, err)
	for _, early := range []time.Time{{}, time.Time{}.Add(999), time.Date(0, 12, 31, 23, 59, 59, 0, time.UTC)} {
		_, err = storedTime("from", TimestampOf(early))
		require.Equal(t, "from: lies too far in the past", fault.FromError(err).Message)
	}
}
