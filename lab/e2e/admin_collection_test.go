package e2e_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

type shownCollection struct {
	DepositID, Reference, PaymentID, State, Failure string
	AmountCents                                     int64
	Attempts                                        int
	History                                         []struct{ From, To, Trigger, Actor string }
	Refunds                                         []struct{ RefundID, Status, Reason, Actor string }
}

// Staff follows a collection from its capture to a refund, and every refusal is a sentence with a code.
func TestAdmin_Collections_AreListedShownAndRefunded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.dispatcher(t)
	depositID, checkoutURL := w.deposit(t, w.link(t, "villa-42"))
	command := func(into any, args ...string) {
		t.Helper()
		code, stdout, stderr := run(t, w.environ, "admin", append([]string{"collection"}, append(args, "--json")...)...)
		require.Zero(t, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), into), stdout)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := run(t, w.environ, "admin", append([]string{"collection"}, append(args, "--json")...)...)
		require.NotZero(t, code)
		require.Empty(t, stdout)
		require.Contains(t, refusal(t, stderr), want)
	}
	refused("collection_not_found: Deposit D-", "show", "--id", depositID)
	refused("deposit_not_found", "show", "--id", "dep_nobody")
	refused("wrong_usage", "list", "--state", "lost")
	w.secure(t, checkoutURL)
	w.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)

	var shown shownCollection
	require.Eventually(t, func() bool {
		shown = shownCollection{}
		command(&shown, "show", "--id", depositID)
		return shown.State == "paid"
	}, soon, often)
	require.Equal(t, []any{depositID, int64(12050), 1}, []any{shown.DepositID, shown.AmountCents, shown.Attempts})
	require.Equal(t, []struct{ From, To, Trigger, Actor string }{{"scheduled", "paid", "charged", "scheduler"}},
		shown.History)
	var listed struct{ Collections []shownCollection }
	command(&listed, "list", "--state", "paid")
	require.Len(t, listed.Collections, 1)
	command(&listed, "list")
	require.Empty(t, listed.Collections, "paid collections are listed when they are asked for")

	refused("collection_over: The collection is paid.", "retry", "--id", depositID)
	refused("collection_over: The collection is paid.", "cancel", "--id", shown.Reference)
	refused("invalid_field: amount: must be more than 0", "refund", "--id", depositID, "--amount", "12,50")
	refused("refund_exceeds_payment: amount: 120.51 EUR exceeds the 120.50 EUR", "refund", "--id", depositID, "--amount",
		"120.51")
	var refund struct {
		RefundID, Status string
		AmountCents      int64
	}
	command(&refund, "refund", "--id", depositID, "--amount", "20.50")
	require.Equal(t, []any{"succeeded", int64(2050)}, []any{refund.Status, refund.AmountCents})
	command(&refund, "refund", "--id", shown.PaymentID)
	require.EqualValues(t, 10000, refund.AmountCents, "the rest")
	refused("payment_not_refundable: The payment has been refunded already.", "refund", "--id", depositID)
	command(&shown, "show", "--id", shown.Reference)
	require.Len(t, shown.Refunds, 2)
	require.Equal(t, []string{"succeeded", "charged_wrong", "admin"},
		[]string{shown.Refunds[0].Status, shown.Refunds[0].Reason, shown.Refunds[0].Actor})
	code, stdout, stderr := run(t, w.environ, "admin", "audit", "show", depositID)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "collection.refund")
	code, stdout, stderr = run(t, w.environ, "admin", "collection", "show", "--id", depositID)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "paid")
}
