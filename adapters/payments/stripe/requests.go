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

// Metadata of every object that the adapter makes. The books find payments by them.
const (
	metaPayment = "payment_id" // pay_…
	metaDeposit = "deposit_id" // dep_…
	metaObject  = "object"     // page:1, intent:2 …
	metaRefund  = "refund_id"  // a UUID
)

const (
	currency = "eur"
	paramEnd = "expires_at"
	// pageLife is how long a page lives, unless it is closed. Stripe allows 24 hours at most, by its own clock.
	pageLife = 23 * time.Hour
	// leastLife is the least life of a page: Stripe wants 30 minutes when the request arrives.
	leastLife = 31 * time.Minute
	// keyLife is how long a request is repeated under its key. Stripe remembers a key for 24 hours at least.
	keyLife = 22 * time.Hour
	// lateness is the age at which a request without an answer cannot take effect any more. The hour after keyLife lets a
	// process finish that read the clock just before.
	lateness = 23 * time.Hour
)

// Paths of the API.
const (
	sessionsPath  = "/v1/checkout/sessions"
	intentsPath   = "/v1/payment_intents"
	chargesPath   = "/v1/charges"
	refundsPath   = "/v1/refunds"
	disputesPath  = "/v1/disputes"
	customersPath = "/v1/customers"
)

// locales are the languages of the service that Stripe's pages speak, too.
var locales = map[string]string{"en": "en", "fr": "fr", "de": "de", "es": "es", "it": "it", "nl": "nl", "pt": "pt"}

// localeOf gives Stripe's locale for a language tag such as fr-BE; Stripe asks the browser for any other.
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

// encode writes parameters as a form. The stored text is sent byte by byte again, since a key refuses other parameters.
func encode(params any) string {
	values := &form.Values{}
	form.AppendTo(values, params)
	return values.Encode()
}

// pageRequest is the request for a hosted page. The page of a fee saves the card for later charges. A saved card needs
// a customer, which Checkout does not create by default in payment mode, and strong authentication, which shifts the
// liability for fraud to the bank.
func pageRequest(r paymentports.HostedPayment, number int, now time.Time) string {
	names := metadata(r.PaymentID, r.DepositID, nameOf(page, number))
	params := &stripe.CheckoutSessionParams{
		Mode:               stripe.String(string(stripe.CheckoutSessionModePayment)),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
		PaymentMethodOptions: &stripe.CheckoutSessionPaymentMethodOptionsParams{
			Card: &stripe.CheckoutSessionPaymentMethodOptionsCardParams{RequestThreeDSecure: stripe.String("any")},
		},
		// the tenant agreed to euros
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
	if r.Kind != deposit.Collection {
		params.CustomerCreation = stripe.String(string(stripe.CheckoutSessionCustomerCreationAlways))
		params.PaymentIntentData.SetupFutureUsage = stripe.String(string(stripe.PaymentIntentSetupFutureUsageOffSession))
	}
	// The card networks' parameters about saved cards (payment_method_options[card][setup_credential_usage], since
	// 2026-10-28) belong here and in confirmRequest once stripe-go types them.
	return encode(params)
}

// pageEnd is when Stripe closes its payment page: at the wanted time, within the bounds that Stripe sets.
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

// intentRequest is the request for an intent that is confirmed later.
func intentRequest(r paymentports.CollectRequest, number int, customer string) string {
	params := &stripe.PaymentIntentParams{
		Amount: stripe.Int64(int64(r.Amount)), Currency: stripe.String(currency), Customer: given(customer),
		Description: stripe.String(r.Description), PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
	}
	params.Metadata = metadata(r.PaymentID, r.DepositID, nameOf(intent, number))
	return encode(params)
}

// confirmRequest is the request for a charge without the tenant. A refusal takes the card off the intent, so every
// confirm names it.
func confirmRequest(method string) string {
	return encode(&stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String(method), OffSession: stripe.Bool(true)})
}

func refundRequest(r paymentports.RefundRequest, intent string) string {
	params := &stripe.RefundParams{PaymentIntent: stripe.String(intent), Amount: stripe.Int64(int64(r.Amount))}
	params.Metadata = metadata(r.PaymentID, r.DepositID, "refund")
	params.Metadata[metaRefund] = r.RefundID.String()
	return encode(params)
}

// pageKey is the key of the n-th page of a payment.
func pageKey(paymentID id.ID, n int) string {
	return id.Payment.Of(paymentID) + ":page:" + strconv.Itoa(n)
}

// intentKey is the key of the n-th intent of a payment.
func intentKey(paymentID id.ID, n int) string {
	return numbered(id.Payment.Of(paymentID)+":intent", n)
}

// refundKey is the key of a refund.
func refundKey(refundID id.ID, n int) string { return numbered(refundID.String()+":refund", n) }

// numbered adds a number from the second on.
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

// given leaves a parameter without a value out.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
