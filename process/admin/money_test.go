package admin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
)

// captured makes a deposit of 500 euros that is secured and captured, and charges the tenant.
func (s *staff) captured() (depositID string) {
	s.T.Helper()
	d, token := s.CreateDeposit(s.T)
	s.SubmitCheckoutForm(token, checkouttest.TenantGraceHopper)
	s.PayOnPaymentPage(d.ID, true)
	s.ReturnFromPayment(token)
	depositID = id.Deposit.Of(d.ID)
	s.refused("collection_not_found: Deposit D-", "collection", "show", depositID)
	s.CaptureDeposit(s.T, d.ID)
	s.RequireJobCount(1, s.Payments.CheckDuePayments)
	return depositID
}

type shownCollection struct {
	DepositID, Reference, PaymentID, State string
	AmountCents                            int64
	Attempts                               int
	History                                []struct{ From, To, Trigger, Actor string }
	Refunds                                []struct{ Status, Reason, Actor string }
}

func TestCollections_AreListedShownAndRefunded(t *testing.T) {
	s := newStaff(t)
	depositID := s.captured()
	var shown, after shownCollection
	s.must(&shown, "collection", "show", depositID)
	require.Equal(t, []any{depositID, "paid", int64(50_000), 1},
		[]any{shown.DepositID, shown.State, shown.AmountCents, shown.Attempts})
	require.Equal(t, []struct{ From, To, Trigger, Actor string }{{"scheduled", "paid", "charged", "scheduler"}},
		shown.History)
	var listed, unpaid struct{ Collections []shownCollection }
	s.must(&listed, "collection", "list", "--state", "paid")
	require.Len(t, listed.Collections, 1)
	s.must(&unpaid, "collection", "list")
	require.Empty(t, unpaid.Collections, "paid collections are listed when they are asked for")

	s.refused("collection_over: The collection is paid.", "collection", "retry", depositID)
	s.refused("collection_over: The collection is paid.", "collection", "cancel", shown.Reference)
	s.refused("invalid_field: amount: must be more than 0", "collection", "refund", depositID, "--amount", "12,50")
	s.refused("refund_exceeds_payment: amount: 500.01 EUR exceeds the 500.00 EUR", "collection", "refund", depositID,
		"--amount", "500.01")
	var refund struct {
		Status      string
		AmountCents int64
	}
	s.must(&refund, "collection", "refund", depositID, "--amount", "20.50")
	require.Equal(t, []any{"succeeded", int64(2_050)}, []any{refund.Status, refund.AmountCents})
	s.refused("refund_exceeds_payment: amount: 479.51 EUR exceeds the 479.50 EUR", "collection", "refund", depositID,
		"--amount", "479.51")
	s.must(&refund, "collection", "refund", shown.PaymentID)
	require.EqualValues(t, 47_950, refund.AmountCents, "the rest")
	s.refused("payment_not_refundable: The payment has been refunded already.", "collection", "refund", depositID)
	s.must(&after, "collection", "show", shown.Reference)
	require.Len(t, after.Refunds, 2)
	require.Equal(t, "paid", after.State)
	require.Equal(t, 2, s.Count("tenant_notices", "kind = 'refunded'"))
	require.Equal(t, []string{"succeeded", "charged_wrong", "admin"},
		[]string{after.Refunds[0].Status, after.Refunds[0].Reason, after.Refunds[0].Actor})
	require.Equal(t, map[string]int{"collection.refund": 2}, s.actions(depositID))
	require.Contains(t, s.run("collection", "show", depositID).stdout, "paid")
}

// The books agree until somebody changes the provider's; the command then names the payment and fails.
func TestReconcile_ComparesTheBooksWithTheProviders(t *testing.T) {
	s := newStaff(t)
	depositID := s.captured()
	type comparison struct {
		Checked     int
		Differences []struct{ DepositID, Ours, Theirs string }
		Due         []struct {
			AccountID                               string
			CollectedCents, RefundedCents, DueCents int
		}
	}
	reconcile := func() (got ran, books comparison) {
		hour := func(h int) string { return time.Now().Add(time.Duration(h) * time.Hour).UTC().Format(time.RFC3339) }
		got = s.run("payments", "reconcile", "--from", hour(-1), "--to", hour(1), "--json")
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &books), got.stdout)
		return got, books
	}
	got, books := reconcile()
	require.Zero(t, got.exit, got.stderr)
	require.Equal(t, 2, books.Checked, "the fee and the collection")
	require.Empty(t, books.Differences)
	require.Len(t, books.Due, 1)
	require.Equal(t, []any{id.Account.Of(s.AccountID), 50_000, 0, 50_000},
		[]any{books.Due[0].AccountID, books.Due[0].CollectedCents, books.Due[0].RefundedCents, books.Due[0].DueCents})

	_, err := s.Pool.Exec(t.Context(),
		`UPDATE sandbox_payments SET amount_cents = amount_cents - 1 WHERE amount_cents = 50000`)
	require.NoError(t, err)
	got, books = reconcile()
	require.Equal(t, 1, got.exit)
	require.True(t, strings.HasPrefix(refusal(t, got.stderr), "books_differ: "))
	require.Len(t, books.Differences, 1)
	require.Equal(t, []string{depositID, "payment succeeded 500.00", "payment succeeded 499.99"},
		[]string{books.Differences[0].DepositID, books.Differences[0].Ours, books.Differences[0].Theirs})
}
