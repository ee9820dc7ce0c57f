package main

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
)

// moneyVariants charge twice, leave two objects payable, or believe a webhook (ADR 0025).
var moneyVariants = []variant{
	{name: "broken_payment_key", stripe: sameKey},
	{name: "broken_page_first", stripe: pageFirst},
	{name: "broken_notice_believed", notices: (*suite).believe},
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
			_ = earlyPage(r.Context(), clientOf("http://"+r.Host), path.Base(intent)) // lost like any other request
		}
		next.ServeHTTP(w, r)
	})
}

func earlyPage(ctx context.Context, provider *stripe.Client, name string) error {
	intent, err := provider.V1PaymentIntents.Retrieve(ctx, name, nil)
	if err != nil {
		return err
	}
	_, err = provider.V1CheckoutSessions.Create(ctx, &stripe.CheckoutSessionCreateParams{
		Mode: stripe.String("payment"), SuccessURL: stripe.String("https://" + partnerHost), Metadata: intent.Metadata,
		PaymentIntentData: &stripe.CheckoutSessionCreatePaymentIntentDataParams{Metadata: intent.Metadata},
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{
			Quantity: stripe.Int64(1),
			PriceData: &stripe.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: stripe.String("eur"), UnitAmount: &intent.Amount,
				ProductData: &stripe.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: stripe.String("early")},
			},
		}},
	})
	return err
}

// clientOf makes a client of the provider's API.
func clientOf(address string) *stripe.Client {
	return stripe.NewClient(stripetest.SecretKey, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: &address, MaxNetworkRetries: stripe.Int64(0), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
}

// believe ends the payment of a charge that failed, and the collection of a page that was paid, as the notice says.
// http is not told, so that nobody asks the provider. A fee that was paid is asked about, since its deposit must be
// secured too.
func (w *suite) believe(notice []byte) (ended bool) {
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
	tag, err := w.Pool.Exec(context.Background(), `
		UPDATE payments SET status = $2, failure = $3, settled_at = now()
		WHERE id = $1 AND status = 'processing' AND (kind = 'collection' OR $2 <> 'succeeded')`,
		paymentID, status, failure)
	return err == nil && (failure != "" || tag.RowsAffected() > 0)
}
