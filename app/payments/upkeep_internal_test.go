package payments

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

func TestClaimed_TheWordsOfTheCapture_AndTheFirstCharge(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	steps := []deposit.Transition{
		{Trigger: deposit.Secured, Detail: map[string]string{"reason": "no"}},
		{Trigger: deposit.CaptureRequested, Detail: map[string]string{"reason": "damage", "description": "Broken table"}},
	}
	m := mails.TenantMoney{Kind: paymentports.TenantCaptured}
	want := mails.TenantMoney{Kind: paymentports.TenantCaptured, Reason: "damage", Words: "Broken table", ChargedAt: first}
	require.Equal(t, want, claimed(m, steps, deposit.Debt{NextAttemptAt: first}))
	require.Equal(t, m, claimed(m, nil, deposit.Debt{Attempt: 1, NextAttemptAt: first}), "the card has been charged")
	require.Equal(t, m, claimed(m, nil, deposit.Debt{}), "captured before its debt was noted")
}

func TestRefunded_OfTheFeeOrOfACapturedAmount(t *testing.T) {
	t.Parallel()
	fee := deposit.Payment{ID: id.ID{1}, Kind: deposit.FeePayment}
	collection := deposit.Payment{ID: id.ID{2}, Kind: deposit.Collection}
	refunds := []deposit.Refund{
		{ID: id.ID{3}, PaymentID: fee.ID, Amount: 1_750}, {ID: id.ID{4}, PaymentID: collection.ID, Amount: 20_000},
	}
	m := mails.TenantMoney{Amount: 50_000}
	for refundID, want := range map[id.ID]mails.TenantMoney{
		{3}: {Amount: 1_750, Fee: true}, {4}: {Amount: 20_000}, {5}: m,
	} {
		require.Equal(t, want, refunded(m, refunds, []deposit.Payment{fee, collection}, refundID))
	}
}

type noUpkeep struct{ paymentports.PaymentEraser }

func (noUpkeep) RunDaily(context.Context) (run paymentports.ReconciliationRun, err error) {
	return run, err
}

func TestUpkeep_AsksOnlyAProviderThatHasBooksOrCustomers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		upkeep Upkeep
		want   []string
	}{
		{Upkeep{}, []string{"payment notices"}},
		{Upkeep{Books: noUpkeep{}}, []string{"payment notices", "reconciliation"}},
		{Upkeep{Eraser: noUpkeep{}}, []string{"payment notices", "payment erasures"}},
		{
			Upkeep{Books: noUpkeep{}, Eraser: noUpkeep{}},
			[]string{"payment notices", "reconciliation", "payment erasures"},
		},
	} {
		jobs := c.upkeep.Jobs(7 * time.Second)
		require.Equal(t, c.want, schedules.Names(jobs))
		require.Equal(t, 7*time.Second, jobs[0].Every)
	}
}
