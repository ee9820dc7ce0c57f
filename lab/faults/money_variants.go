package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
)

// moneyVariants charge twice, leave two objects payable, or believe a webhook (ADR 0025).
var moneyVariants = []variant{
	{name: "broken_payment_key", stripe: sameKey},
	{name: "broken_page_first", stripe: pageFirst},
	{name: "broken_notice_believed", notices: (*moneyRun).believe},
}

// sameKey gives each attempt of a charge the same key.
func sameKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if payment, _, charges := strings.Cut(r.Header.Get("Idempotency-Key"), ":confirm:"); charges {
			r.Header.Set("Idempotency-Key", payment+":confirm")
		}
		next.ServeHTTP(w, r)
	})
}

// pageFirst makes the tenant's page before the intent is cancelled, which gives way to the page.
func pageFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if intent, cancels := strings.CutSuffix(r.URL.Path, "/cancel"); cancels {
			_ = earlyPage(r.Context(), "http://"+r.Host, intent) // lost like any other request
		}
		next.ServeHTTP(w, r)
	})
}

func earlyPage(ctx context.Context, provider, path string) error {
	var intent struct {
		Amount   int
		Metadata map[string]string
	}
	if err := askProvider(ctx, http.MethodGet, provider+path, nil, &intent); err != nil {
		return err
	}
	const item = "line_items[0][price_data]"
	form := url.Values{
		"mode": {"payment"}, "success_url": {"https://" + partnerHost}, "line_items[0][quantity]": {"1"},
		item + "[currency]":           {"eur"},
		item + "[product_data][name]": {"early"}, item + "[unit_amount]": {strconv.Itoa(intent.Amount)},
	}
	for name, value := range intent.Metadata {
		form.Set("metadata["+name+"]", value)
		form.Set("payment_intent_data[metadata]["+name+"]", value)
	}
	return askProvider(ctx, http.MethodPost, provider+"/v1/checkout/sessions", form, nil)
}

// askProvider makes a request to the provider's API.
func askProvider(ctx context.Context, method, address string, form url.Values, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+stripetest.SecretKey)
	response, err := providerClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the provider answers %d", response.StatusCode)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// believe ends the payment of a charge that failed, and the collection of a page that was paid, as the notice says.
// http is not told, so that nobody asks the provider. A fee that was paid is asked about, since its deposit must be
// secured too.
func (r *moneyRun) believe(notice []byte) (ended bool) {
	var event struct {
		Type string
		Data struct {
			Object struct{ Metadata map[string]string }
		}
	}
	err := json.Unmarshal(notice, &event)
	paymentID, ours := id.Payment.Parse(event.Data.Object.Metadata[stripetest.PaymentKey])
	if err != nil || !ours {
		return false
	}
	status, failure := deposit.PaymentSucceeded, ""
	switch event.Type {
	case "charge.failed", "payment_intent.payment_failed":
		status, failure = deposit.PaymentFailed, "declined"
	case "checkout.session.completed":
	default:
		return false
	}
	tag, err := r.suite.Pool.Exec(context.Background(), `
		UPDATE payments SET status = $2, failure = $3, settled_at = now()
		WHERE id = $1 AND status = 'processing' AND (kind = 'collection' OR $2 <> 'succeeded')`,
		paymentID, status, failure)
	return err == nil && (failure != "" || tag.RowsAffected() > 0)
}
