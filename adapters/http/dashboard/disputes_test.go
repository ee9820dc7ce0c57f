package dashboard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/rarely"
)

// disputedDesk is a desk whose tenant agreed, paid and disputes the fee.
func disputedDesk(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	client, payment := id.ID{15: 1}, id.ID{15: 2}
	for _, sql := range []string{
		`INSERT INTO clients (id, account_id, email, first_name, last_name, phone, locale, created_at)
			SELECT $1, account_id, 'grace@example.com', 'Grace', 'Hopper', '', 'en', now() FROM deposits WHERE reference = $3
			AND $2::uuid IS NOT NULL`,
		`INSERT INTO deposit_agreements (id, deposit_id, client_id, version, locale, words, agreed_at)
			SELECT $1, id, $1, '1', 'en', 'I agree to <b>these</b> words.', '2026-11-20T10:00:00Z' FROM deposits
			WHERE reference = $3 AND $2::uuid IS NOT NULL`,
		`INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at, settled_at)
			SELECT $2, id, 'fee', 4377, 'succeeded', now(), now(), now() FROM deposits WHERE reference = $3
			AND $1::uuid IS NOT NULL`,
		`INSERT INTO disputes (ref, payment_id, deposit_id, amount_cents, reason, status, evidence_due_by, created_at,
			changed_at)
			SELECT 'dp_1', $2, id, 4377, 'fraudulent', 'needs_response', '2026-12-01T09:30:00Z', now(), now() FROM deposits
			WHERE reference = $3 AND $1::uuid IS NOT NULL`,
	} {
		tag, err := d.Pool.Exec(t.Context(), sql, client, payment, d.reference)
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected())
	}
	return d
}

func TestDetail_AgreementAndDispute_AreShown(t *testing.T) {
	d := disputedDesk(t)
	page := d.b.Get(d.path)
	for _, want := range []string{
		"The tenant agreed", "I agree to &lt;b&gt;these&lt;/b&gt; words.", "Disputed by the tenant", "€43.77",
		"The bank waits for our answer.", "Evidence is due by",
	} {
		require.Contains(t, page.Body, want)
	}
	require.NotContains(t, page.Body, "fraudulent")
	for status, want := range map[string]string{"lost": "Lost: the amount went back to the tenant.",
		"a new word": "The bank decides."} {
		_, err := d.Pool.Exec(t.Context(), `UPDATE disputes SET status = $1`, status)
		require.NoError(t, err)
		page = d.b.Get(d.path)
		require.Contains(t, page.Body, want)
		require.NotContains(t, page.Body, "Evidence is due by")
	}
	require.Contains(t, d.b.Get(d.path+"?lang=fr").Body, "Contesté par le locataire")
}

func TestCapture_WhileTheFeeIsDisputedAsFraud_AsksWithAWarning(t *testing.T) {
	d := disputedDesk(t)
	secured(t, d.Server, d.reference, time.Hour)
	require.Contains(t, d.ask("capture", map[string]string{"amount": "100"}).Body, "paid with a stolen card")
	_, err := d.Pool.Exec(t.Context(), `UPDATE disputes SET reason = 'duplicate'`)
	require.NoError(t, err)
	require.NotContains(t, d.ask("capture", map[string]string{"amount": "100"}).Body, "paid with a stolen card")
}

func TestDetail_WithADispute_LooksRightInABrowser(t *testing.T) {
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	d := disputedDesk(t)
	for scheme, first := range browsertest.ColorSchemes {
		browser := browsertest.New(t, first...)
		require.NoError(t, chromedp.Do(browser, chromedp.Navigate(d.URL+"/login"), chromedp.SetValue("#email", "a@b.example"),
			chromedp.SetValue("#password", "correct horse battery"), chromedp.Click("button.main"),
			chromedp.WaitVisible("nav.desk")))
		for device, viewport := range browsertest.Viewports {
			require.NoError(t, chromedp.Do(browser, viewport, chromedp.Navigate(d.URL+d.path)))
			browsertest.RequireUsablePage(browser, t, fmt.Sprintf("deposit-disputed-%s-%s", scheme, device))
		}
	}
}
