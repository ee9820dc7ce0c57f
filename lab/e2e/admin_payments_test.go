package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type comparison struct {
	Checked     int
	Differences []struct{ PaymentID, DepositID, ProviderRef, Ours, Theirs string }
	Due         []struct {
		AccountID, CompanyName                  string
		CollectedCents, RefundedCents, DueCents int
	}
}

// The books of a rental agree until somebody changes the provider's; the command then names the payment and fails.
func TestAdmin_ComparesTheBooksWithTheProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.dispatcher(t)
	account := w.link(t, "villa-42")
	depositID, checkoutURL := w.deposit(t, account)
	w.secure(t, checkoutURL)
	w.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
	from, to := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	var books comparison
	require.Eventually(t, func() bool {
		code, stdout, _ := run(t, w.environ, "admin", "payments", "reconcile", "--from", from, "--to", to, "--json")
		books = comparison{}
		require.NoError(t, json.Unmarshal([]byte(stdout), &books), stdout)
		return code == 0 && books.Checked == 2 // the dispatcher collects
	}, soon, 100*time.Millisecond)
	require.Empty(t, books.Differences)
	require.Len(t, books.Due, 1)
	require.Equal(t, []any{account, 12_050, 0, 12_050},
		[]any{books.Due[0].AccountID, books.Due[0].CollectedCents, books.Due[0].RefundedCents, books.Due[0].DueCents})

	_, err := w.database(t).Exec(t.Context(),
		`UPDATE sandbox_payments SET amount_cents = amount_cents - 1 WHERE amount_cents = 12050`)
	require.NoError(t, err)
	code, stdout, stderr := run(t, w.environ, "admin", "payments", "reconcile", "--from", from, "--to", to, "--json")
	require.Equal(t, 1, code)
	require.True(t, strings.HasPrefix(refusal(t, stderr), "books_differ: "))
	require.NoError(t, json.Unmarshal([]byte(stdout), &books), stdout)
	require.Len(t, books.Differences, 1)
	require.Equal(t, []string{depositID, "payment succeeded 120.50", "payment succeeded 120.49"},
		[]string{books.Differences[0].DepositID, books.Differences[0].Ours, books.Differences[0].Theirs})
	code, _, stderr = run(t, w.environ, "admin", "payments", "reconcile", "--from", to, "--to", from, "--json")
	require.Equal(t, 1, code)
	require.Contains(t, refusal(t, stderr), "invalid_period")

	response, err := http.Post(w.baseURL+"/webhooks/payments/stripe", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNotFound, response.StatusCode, "the sandbox sends no notices")
}

// With Stripe the route exists. Nothing at Stripe is asked by these requests.
func TestNotices_WithStripe_RefusesTheUnsigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.environ = append(w.environ, "PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=sk_test_none",
		"STRIPE_WEBHOOK_SECRET=whsec_none", "STRIPE_API_BASE=http://127.0.0.1:9")
	w.http(t)
	response, err := http.Post(w.baseURL+"/webhooks/payments/stripe", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	var answer struct {
		Error struct{ Code, RequestID string }
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	require.Equal(t, "notice_refused", answer.Error.Code)
	require.NotEmpty(t, answer.Error.RequestID)
}
