package checkout_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
	ports "partnerdeposits/ports/platform"
)

func TestCheckout_GoodCard_SecuresAndLeadsBack(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	form := b.get(w.address(token))
	require.Equal(t, http.StatusOK, form.status)
	for _, shown := range []string{checkouttest.CompanyName, "€500.00", "€17.50",
		"16\u00a0June\u00a02026 – 23\u00a0June\u00a02026", d.Reference, "B-1042", "not blocked"} {
		require.Contains(t, form.body, shown)
	}
	pay := b.send(form, 0, grace)
	require.True(t, strings.HasPrefix(pay.at.Path, "/sandbox/pay/"), pay.at)
	require.Contains(t, pay.body, "€17.50")
	w.requireLeft(b.send(pay, 0, card(goodCard)), d, "secured")
	w.requireStatus(d, deposit.Active, "")
	client := w.LoadDeposit(t, d.ID).Client
	require.Equal(t, []string{"grace@example.com", "Grace", "Hopper"},
		[]string{client.Email, client.FirstName, client.LastName})

	after := b.get(w.address(token))
	require.Contains(t, after.body, "Your deposit is secured")
	require.Contains(t, after.body, "depositStatus=secured")
	require.NotContains(t, after.body, "<form")
	require.NotContains(t, after.body, "grace@example.com")
}

func TestCheckout_BadCard_OffersAnotherTry(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	failed := b.send(b.send(b.get(w.address(token)), 0, grace), 0, card(badCard))
	require.Equal(t, "/checkout/"+token.Reveal(), failed.at.Path)
	require.Equal(t, http.StatusOK, failed.status)
	require.Contains(t, failed.body, "did not go through")
	require.Contains(t, failed.body, "Try the payment again")
	require.Contains(t, failed.body, "Back to partner.test")
	require.Contains(t, failed.body, partner+"&depositId="+id.Deposit.Of(d.ID)+"&depositStatus=declined")
	require.Contains(t, failed.body, `value="grace@example.com"`, "what was typed is filled in again")
	w.requireStatus(d, deposit.PaymentIssue, "fee_failed")

	w.requireLeft(b.send(b.send(failed, 0, grace), 0, card(goodCard)), d, "secured")
	w.requireStatus(d, deposit.Active, "")
}

func TestCheckout_RefusedByScoring_IsDeclined(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	w.requireLeft(b.send(b.get(w.address(token)), 0, person("declined@example.com", "De", "Clined")), d, "declined")
	w.requireStatus(d, deposit.Cancelled, "tenant_declined")
	require.Contains(t, b.get(w.address(token)).body, "We cannot secure this deposit")
}

func TestCheckout_GiveUp_IsAFormOfItsOwn(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	form := b.get(w.address(token))
	require.Contains(t, form.body, `name="intent" value="abandon"`)
	require.Less(t, strings.Index(form.body, "Pay €17.50"), strings.Index(form.body, `value="abandon"`),
		"the main button comes first")
	ask := b.send(form, 1, nil)
	require.Equal(t, http.StatusOK, ask.status)
	require.Contains(t, ask.body, "Give up this deposit?")
	require.Contains(t, ask.body, `name="intent" value="abandon"`)
	require.Contains(t, ask.body, `name="confirm" value="yes"`)
	w.requireStatus(d, deposit.Pending, "")
	w.requireLeft(b.send(ask, 0, nil), d, "abandoned")
	w.requireStatus(d, deposit.Cancelled, "tenant_abandoned")
	w.requireLeft(b.send(form, 1, nil), d, "abandoned")
	require.Contains(t, b.get(w.address(token)).body, "You gave up this deposit")
	w.requireLeft(b.send(form, 0, grace), d, "abandoned")
}

func TestCheckout_WithoutReturnURL_EndsOnAPageOfOurs(t *testing.T) {
	w := setup(t)
	none := func(d *deposit.Deposit) { d.ReturnURL, d.URLGeneration = "", false }
	b := w.browser()

	_, token := w.CreateDeposit(t, none)
	secured := b.send(b.send(b.get(w.address(token)), 0, grace), 0, card(goodCard))
	require.Equal(t, "/checkout/"+token.Reveal(), secured.at.Path)
	require.Contains(t, secured.body, "Your deposit is secured")
	require.NotContains(t, secured.body, "Back to")

	_, token = w.CreateDeposit(t, none)
	require.Contains(t, b.send(b.send(b.get(w.address(token)), 1, nil), 0, nil).body, "You gave up this deposit")

	_, token = w.CreateDeposit(t, none)
	require.Contains(t, b.send(b.get(w.address(token)), 0, person("declined@example.com", "De", "Clined")).body,
		"We cannot secure this deposit")

	_, token = w.CreateDeposit(t, none)
	require.NotContains(t, b.send(b.send(b.get(w.address(token)), 0, grace), 0, card(badCard)).body, "Back to")
}

func TestCheckout_WhileThePageIsOpen_TheFormLeadsBackToIt(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t)
	b := w.browser()
	first := b.send(b.get(w.address(token)), 0, grace)
	form := b.get(w.address(token))
	require.Contains(t, form.body, "already begun to pay")
	require.Equal(t, first.at, b.send(form, 0, grace).at)
}

func TestCheckout_TwoTabsAndADoubleClick_AreOnePayment(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	tabs := []*browser{w.browser(), w.browser()}
	var forms []page
	for _, tab := range tabs {
		forms = append(forms, tab.get(w.address(token)))
	}
	pages := make([]string, 10)
	var wg sync.WaitGroup
	for i := range pages {
		wg.Go(func() { pages[i] = tabs[i%2].send(forms[i%2], 0, grace).at.Path })
	}
	wg.Wait()
	for _, p := range pages {
		require.Equal(t, pages[0], p)
	}
	require.Len(t, w.PaymentsOf(t, d.ID, deposit.PaymentKindFee), 1)
	require.Equal(t, 1, w.Provider.OpenedPageCount())

	paid := tabs[0].send(tabs[0].get(w.base+pages[0]), 0, card(goodCard))
	w.requireLeft(paid, d, "secured")
	w.requireLeft(tabs[1].do(http.MethodPost, w.base+pages[0], card(goodCard)), d, "secured")
	w.requireLeft(tabs[1].send(forms[1], 0, grace), d, "secured")
	w.requireLeft(tabs[1].send(forms[1], 1, nil), d, "secured")
	require.Equal(t, []string{"deposit.activated"}, w.EventNames(t, d.ID))
}

func TestCheckout_ScriptInAName_IsEscaped(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t, func(d *deposit.Deposit) { d.RentalContract = `<img src=x onerror=alert(1)>` })
	raw := w.browser().raw(w.address(token))
	require.NotContains(t, raw, "<img src=x")
	require.Contains(t, raw, "&lt;img src=x")
}

func TestCheckout_UnknownToken_IsA404Page(t *testing.T) {
	w := setup(t)
	b := w.browser()
	for _, path := range []string{"/checkout/nothing", "/checkout/nothing/return", "/checkout/" + strings.Repeat("x", 129),
		"/checkout/%00"} {
		got := b.get(w.base + path)
		require.Equal(t, http.StatusNotFound, got.status, path)
		require.Contains(t, got.body, "This link does not work", path)
		require.Contains(t, got.body, `data-error-code="checkout_not_found"`, path)
	}
}

func TestCheckout_Headers_KeepTheTokenToItself(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t)
	b := w.browser()
	form := b.get(w.address(token))
	for name, p := range map[string]page{
		"form": form, "mistake": b.send(form, 0, url.Values{}), "unknown": b.get(w.base + "/checkout/nothing"),
	} {
		require.Equal(t, "no-referrer", p.header.Get("Referrer-Policy"), name)
		require.Equal(t, "no-store", p.header.Get("Cache-Control"), name)
		require.Equal(t, "nosniff", p.header.Get("X-Content-Type-Options"), name)
		csp := p.header.Get("Content-Security-Policy")
		require.Contains(t, csp, "default-src 'none'", name)
		require.Contains(t, csp, "frame-ancestors 'none'", name)
		require.NotContains(t, csp, "unsafe-inline", name)
	}
	require.NotContains(t, form.header.Get("Content-Security-Policy"), "form-action",
		"redirects after a form may lead anywhere")
	require.NotContains(t, w.Log.String(), token.Reveal())
}

func TestCheckout_FormOfAnotherSite_IsRefused(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	b.get(w.address(token))
	forged := url.Values{"intent": {"abandon"}}
	require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, w.address(token), forged).status)
	forged.Set(ui.CSRFFieldName, strings.Repeat("0", 64))
	require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, w.address(token), forged).status)
	w.requireStatus(d, deposit.Pending, "")
}

func TestCheckout_TooManyRequestsFromOneAddress_AreRefused(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t)
	w.limiter.refuse = true
	got := w.browser().get(w.address(token))
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.Equal(t, "7", got.header.Get("Retry-After"))
	require.Equal(t, ports.LimitRule{Name: "checkout-address", Key: "checkout:address:127.0.0.1", PerMinute: 120},
		w.limiter.counted[0])
}

func TestCheckout_ProviderAway_ApologisesAndTheReconcilerFinishes(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	pay := b.send(b.get(w.address(token)), 0, grace)
	w.Provider.SetUnreachable(true)
	sorry := b.send(pay, 0, card(goodCard)) // paid at the provider, which then cannot be asked
	require.Equal(t, http.StatusServiceUnavailable, sorry.status)
	require.NotEmpty(t, sorry.header.Get("Retry-After"))
	require.Contains(t, sorry.body, "Nothing is lost")
	require.Contains(t, sorry.body, `href="`+sorry.at.Path+`"`)
	require.NotContains(t, sorry.body, token.Reveal())
	require.Equal(t, deposit.PaymentProcessing, w.PaymentsOf(t, d.ID, deposit.PaymentKindFee)[0].Status)
	w.requireStatus(d, deposit.Pending, "")

	again := b.send(b.get(w.address(token)), 0, grace)
	require.Equal(t, http.StatusServiceUnavailable, again.status)
	require.Equal(t, http.StatusServiceUnavailable, b.send(b.send(b.get(w.address(token)), 1, nil), 0, nil).status)

	w.Provider.SetUnreachable(false)
	w.Clock.Add(time.Minute)
	settled, err := w.Payments.CheckDuePayments(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.Equal(t, 1, settled)
	w.requireStatus(d, deposit.Active, "")
	w.requireLeft(b.get(w.address(token)+"/return"), d, "secured")
}

func TestCheckout_EndedBySomebodyElse_ExplainsItself(t *testing.T) {
	w := setup(t)
	b := w.browser()
	for name, c := range map[string]struct {
		change func(*deposit.Deposit)
		sql    string
		title  string
		status string
	}{
		"cancelled by the partner": {nil, `status = 'cancelled', status_reason = 'by_partner', cancelled_at = now()`,
			"This deposit was cancelled", "abandoned"},
		"expired, not yet cancelled": {func(d *deposit.Deposit) { d.CheckoutExpiresAt = w.Clock.Now() }, `version = 1`,
			"It is too late for this deposit", "abandoned"},
		"expired": {nil, `status = 'cancelled', status_reason = 'checkout_expired', cancelled_at = now()`,
			"It is too late for this deposit", "abandoned"},
		"ended": {nil,
			`status = 'close', status_reason = 'coverage_elapsed', closed_at = now(), activated_at = now(), expires_at = now()`,
			"This deposit has ended", "secured"},
		"captured": {nil,
			`status = 'captured', status_reason = 'claim', captured_at = now(), captured_cents = 20000, activated_at = now(), expires_at = now()`,
			"€200.00", "secured"},
	} {
		var changes []func(*deposit.Deposit)
		if c.change != nil {
			changes = append(changes, c.change)
		}
		d, token := w.CreateDeposit(t, changes...)
		_, err := w.Pool.Exec(context.WithoutCancel(t.Context()), `UPDATE deposits SET `+c.sql+` WHERE id = $1`, d.ID)
		require.NoError(t, err)
		got := b.get(w.address(token))
		require.Equal(t, http.StatusOK, got.status, name)
		require.Contains(t, got.body, c.title, name)
		require.Contains(t, got.body, "Back to partner.test", name)
		require.Contains(t, got.body, "depositStatus="+c.status, name)
		require.NotContains(t, got.body, "<form", name)
	}
}
