package stripe

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/form"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// Keys of the metadata of every object at Stripe, by which its payment is found.
const (
	metaPayment = "payment_id"
	metaDeposit = "deposit_id"
	metaObject  = "object" // Kind and number of the object at Stripe, such as page:1 or intent:2.
	metaRefund  = "refund_id"
)

const (
	currency = "eur"
	paramEnd = "expires_at"
	// pageLife is how long a payment page at Stripe lives; Stripe allows 24 hours.
	pageLife = 23 * time.Hour
	// leastLife is the shortest life of a payment page. Stripe requires 30 minutes from the arrival of the request.
	leastLife = 31 * time.Minute
	// keyLife is how long a request to Stripe is repeated under its Idempotency-Key. Stripe remembers a key for at
	// least 24 hours.
	keyLife = 22 * time.Hour
	// lateness is the age from which an unanswered request to Stripe takes no effect, an hour above keyLife for
	// processes that read the clock just before.
	lateness = 23 * time.Hour
)

// Paths of the resources of Stripe's API.
const (
	sessionsPath  = "/v1/checkout/sessions"
	intentsPath   = "/v1/payment_intents"
	chargesPath   = "/v1/charges"
	refundsPath   = "/v1/refunds"
	disputesPath  = "/v1/disputes"
	customersPath = "/v1/customers"
)

var locales = map[string]string{"en": "en", "fr": "fr", "de": "de", "es": "es", "it": "it", "nl": "nl", "pt": "pt"}

// localeOf returns Stripe's locale for a language tag such as fr-BE; auto, the browser's language, for others.
func localeOf(tag string) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if known, ok := locales[language]; ok {
		return known
	}
	return "auto"
}

func metadata(paymentID, depositID id.ID, object string) map[string]string {
	return map[string]string{metaPayment: id.Payment.Of(paymentID), metaDeposit: id.Deposit.Of(depositID),
		metaObject: object}
}

// encode writes a request's parameters as a form, which is stored and sent again byte by byte under the same
// Idempotency-Key.
func encode(params any) string {
	values := &form.Values{}
	form.AppendTo(values, params)
	return values.Encode()
}

// pageRequest returns the request for a payment page. A fee's page saves the card, which needs a customer and
// strong authentication.
func pageRequest(r paymentports.HostedPageRequest, number int, now time.Time) string {
	names := metadata(r.PaymentID, r.DepositID, nameOf(page, number))
	params := &stripe.CheckoutSessionParams{
		Mode:               stripe.String(string(stripe.CheckoutSessionModePayment)),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
		PaymentMethodOptions: &stripe.CheckoutSessionPaymentMethodOptionsParams{
			Card: &stripe.CheckoutSessionPaymentMethodOptionsCardParams{RequestThreeDSecure: stripe.String("any")},
		},
		// The payment page offers no other currency, since the tenant agreed to euros.
		AdaptivePricing: &stripe.CheckoutSessionAdaptivePricingParams{Enabled: stripe.Bool(false)},
		LineItems: []*stripe.CheckoutSessionLineItemParams{{
			Quantity: stripe.Int64(1),
			PriceData: &stripe.CheckoutSessionLineItemPriceDataParams{
				Currency: stripe.String(currency), UnitAmount: stripe.Int64(int64(r.Amount)),
				ProductData: &stripe.CheckoutSessionLineItemPriceDataProductDataParams{Name: stripe.String(r.Description)},
			},
		}},
		PaymentIntentData: &stripe.CheckoutSessionPaymentIntentDataParams{
			Description: stripe.String(r.Description), Metadata: names,
		},
		ClientReferenceID: stripe.String(id.Payment.Of(r.PaymentID)),
		ExpiresAt:         stripe.Int64(pageEnd(r.EndsAt, now).Unix()),
		Locale:            stripe.String(localeOf(r.Locale)),
		SuccessURL:        stripe.String(r.ReturnURL), CancelURL: stripe.String(r.ReturnURL),
	}
	params.Metadata = names
	if r.Email != "" {
		params.CustomerEmail = stripe.String(r.Email)
	}
	if r.Kind != deposit.PaymentKindCollection {
		params.CustomerCreation = stripe.String(string(stripe.CheckoutSessionCustomerCreationAlways))
		params.PaymentIntentData.SetupFutureUsage = stripe.String(string(stripe.PaymentIntentSetupFutureUsageOffSession))
	}
	// Once stripe-go has types for them, the card networks' parameters about saved cards belong here and in
	// confirmRequest (payment_method_options[card][setup_credential_usage], since 2026-10-28).
	return encode(params)
}

// pageEnd returns the time at which Stripe closes the payment page, within Stripe's bounds.
func pageEnd(wanted, now time.Time) time.Time {
	end := now.Add(pageLife)
	if !wanted.IsZero() && wanted.Before(end) {
		end = wanted
	}
	if least := now.Add(leastLife); end.Before(least) {
		return least
	}
	return end
}

func intentRequest(r paymentports.CollectRequest, number int, customer string) string {
	params := &stripe.PaymentIntentParams{
		Amount: stripe.Int64(int64(r.Amount)), Currency: stripe.String(currency), Customer: given(customer),
		Description: stripe.String(r.Description), PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
	}
	params.Metadata = metadata(r.PaymentID, r.DepositID, nameOf(intent, number))
	return encode(params)
}

// confirmRequest returns the request to charge the saved card. It names the card, which a refusal removes from
// the intent.
func confirmRequest(method string) string {
	return encode(&stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String(method), OffSession: stripe.Bool(true)})
}

func refundRequest(r paymentports.RefundRequest, intent string) string {
	params := &stripe.RefundParams{PaymentIntent: stripe.String(intent), Amount: stripe.Int64(int64(r.Amount))}
	params.Metadata = metadata(r.PaymentID, r.DepositID, "refund")
	params.Metadata[metaRefund] = r.RefundID.String()
	return encode(params)
}

func pageKey(paymentID id.ID, n int) string {
	return id.Payment.Of(paymentID) + ":page:" + strconv.Itoa(n)
}

func intentKey(paymentID id.ID, n int) string {
	return numbered(id.Payment.Of(paymentID)+":intent", n)
}

func refundKey(refundID id.ID, n int) string { return numbered(refundID.String()+":refund", n) }

// numbered appends the number n to an Idempotency-Key, unless n is 1.
func numbered(key string, n int) string {
	if n == 1 {
		return key
	}
	return key + ":" + strconv.Itoa(n)
}

func expireRequest(ref string) request {
	return request{call: "expire", method: http.MethodPost, path: sessionsPath + "/" + ref + "/expire",
		body: "expand[0]=payment_intent"}
}

func cancelRequest(ref string) request {
	return request{call: "cancel", method: http.MethodPost, path: intentsPath + "/" + ref + "/cancel"}
}

// given returns an optional parameter for stripe-go; nil for an empty text.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
