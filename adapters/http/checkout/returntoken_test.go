package checkout_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

// returnAddress is the URL that the provider keeps for the last payment.
func (w *world) returnAddress() string {
	w.t.Helper()
	var address string
	err := w.Pool.QueryRow(context.WithoutCancel(w.t.Context()),
		`SELECT return_url FROM sandbox_payments ORDER BY created_at DESC LIMIT 1`).Scan(&address)
	require.NoError(w.t, err)
	return address
}

// tablesWith gives the tables with a row that holds a text.
func (w *world) tablesWith(text string) []string {
	w.t.Helper()
	ctx := context.WithoutCancel(w.t.Context())
	rows, err := w.Pool.Query(ctx,
		`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	require.NoError(w.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	require.Contains(w.t, tables, "sandbox_payments")
	var found []string
	for _, table := range tables {
		if w.Count(table, "strpos("+table+"::text, $1) > 0", text) > 0 {
			found = append(found, table)
		}
	}
	return found
}

func TestCheckoutToken_IsKeptInClearNowhere(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	pay := b.send(b.get(w.address(token)), 0, grace)
	require.True(t, strings.HasPrefix(pay.at.Path, "/sandbox/pay/"), pay.at)
	require.Empty(t, w.tablesWith(token.Reveal()))
	require.NotContains(t, pay.body, token.Reveal(), "the provider does not learn the token")

	w.requireLeft(b.send(pay, 0, card(goodCard)), d, "secured")
	require.Empty(t, w.tablesWith(token.Reveal()))
	require.Contains(t, w.tablesWith("Fee for the deposit of"), "sandbox_payments", "the search finds texts")
}

func TestReturnToken_WithoutTheTenantsBrowser_OpensNoForm(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	pay := b.send(b.get(w.address(token)), 0, grace)
	address := w.returnAddress()

	stranger := w.browser().get(address)
	require.Equal(t, http.StatusOK, stranger.status)
	require.Equal(t, address, stranger.at.String(), "not sent to the checkout")
	require.NotContains(t, stranger.body, "<form")
	require.NotContains(t, stranger.body, token.Reveal())
	require.Contains(t, stranger.body, "Not secured yet")
	w.requireStatus(d, deposit.Pending, "")
	require.Equal(t, 1, w.Count("sandbox_payments", "status = 'open'"), "the tenant's page stays open")

	back := b.send(pay, 1, url.Values{"intent": {"cancel"}})
	require.Equal(t, "/checkout/"+token.Reveal(), back.at.Path, "the tenant's own browser")
	require.Contains(t, back.body, "You came back without paying.")

	again := b.send(back, 0, grace)
	failed := b.send(again, 0, card(badCard))
	require.Equal(t, "/checkout/"+token.Reveal(), failed.at.Path)
	require.Contains(t, w.browser().get(address).body, "The payment did not go through.")

	secured := b.send(b.send(failed, 0, grace), 0, card(goodCard))
	w.requireLeft(secured, d, "secured")
	w.requireLeft(w.browser().get(address), d, "secured")
}

func TestReturnToken_ThatIsNotTheDeposits_IsUnknown(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	_, other := w.CreateDeposit(t)
	for _, wrong := range []string{
		deposit.ReturnPageToken(d.ID, other).Reveal(), deposit.ReturnPageToken(d.ID, token).Reveal() + "x",
		"dep_00000000000000000000000001.x",
	} {
		p := w.browser().get(w.base + "/checkout/" + wrong + "/return")
		require.Equal(t, http.StatusNotFound, p.status)
		require.NotContains(t, p.body, token.Reveal())
	}
	right := deposit.ReturnPageToken(d.ID, token).Reveal()
	require.Equal(t, http.StatusNotFound, w.browser().get(w.base+"/checkout/"+right).status, "no token of the form")
}
