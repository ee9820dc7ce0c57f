package stripe_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

// tampered changes the objects that Stripe answers with, as a faulty proxy could.
type tampered struct{ change func(answer map[string]any) }

func (p tampered) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	answer := map[string]any{}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil {
		return nil, err
	}
	p.change(answer)
	body, err = json.Marshal(answer)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, err
}

// lies are the ways in which an answer is not about the object that was asked for.
func lies() map[string]func(answer map[string]any) {
	return map[string]func(answer map[string]any){
		"no id":            func(a map[string]any) { delete(a, "id") },
		"an id of another": func(a map[string]any) { a["id"] = a["id"].(string) + "x" },
		"another prefix":   func(a map[string]any) { a["id"] = "xx_" + a["id"].(string) },
		"another type":     func(a map[string]any) { a["object"] = "event" },
		"no metadata":      func(a map[string]any) { a["metadata"] = nil },
		"another payment": func(a map[string]any) {
			names := maps.Clone(a["metadata"].(map[string]any))
			names[stripetest.PaymentMetadataKey], names["refund_id"] = id.Payment.Of(newID()), newID().String()
			a["metadata"] = names
		},
		"another amount": func(a map[string]any) {
			for _, name := range []string{"amount", "amount_total"} {
				if _, has := a[name]; has {
					a[name] = 1
				}
			}
		},
		"another currency": func(a map[string]any) { a["currency"] = "usd" },
	}
}

// doubts makes a provider whose answers are changed, and requires that a call refuses to understand them.
func (b bench) doubts(name string, change func(map[string]any), call func(*stripe.Provider) error) {
	b.Helper()
	err := call(b.with(tampered{change}))
	require.ErrorIs(b, err, fault.ErrUnavailable, name)
	require.ErrorIs(b, err, paymentports.ErrProviderRefused, name)
	require.ErrorContains(b, err, "not understood", name)
}

func TestAnswers_AboutAPage_AreBelievedOnlyIfTheyAreThoseOfThePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, lie := range lies() {
		r := feeRequest()
		if name != "an id of another" { // nobody knows the id of a page that is made
			b.doubts(name, lie, func(p *stripe.Provider) error { _, err := p.OpenPage(t.Context(), r); return err })
		}
		page := b.open(r)
		require.Contains(t, page.URL, b.fake.URL(), "%s: the stored request is sent again, and gives the page", name)
		b.fake.PayOnPaymentPage(t, page.URL, "4242424242424242")
		b.doubts(name, lie, func(p *stripe.Provider) error {
			_, err := p.LookupPayment(t.Context(), r.PaymentID)
			return err
		})
		var paid string
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT paid_ref FROM stripe_payments WHERE id = $1`,
			[16]byte(r.PaymentID)).Scan(&paid))
		require.Empty(t, paid, name)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, b.lookup(r.PaymentID).Status, name)
		require.Empty(t, b.fake.Violations())
	}
}

func TestAnswers_WithThePageOfAnotherPayment_SecureNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine, other := feeRequest(), feeRequest()
	b.open(mine)
	b.fake.PayOnPaymentPage(t, b.open(other).URL, "4242424242424242")
	var theirs map[string]any
	watching := b.with(tampered{func(answer map[string]any) { theirs = maps.Clone(answer) }})
	state, err := watching.LookupPayment(t.Context(), other.PaymentID)
	require.NoError(t, err)
	require.Equal(t, paymentports.ProviderPaymentSucceeded, state.Status)
	b.doubts("another page", func(answer map[string]any) { maps.Copy(answer, theirs) },
		func(p *stripe.Provider) error { _, err := p.LookupPayment(t.Context(), mine.PaymentID); return err })
	require.Equal(t, paymentports.ProviderPaymentOpen, b.lookup(mine.PaymentID).Status)
}

func TestAnswers_AboutACharge_AreBelievedOnlyIfTheyAreThoseOfThePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, lie := range lies() {
		r := b.owing("4242424242424242")
		confirm := func(answer map[string]any) {
			if answer["status"] == "succeeded" {
				lie(answer)
			}
		}
		b.doubts(name, confirm, func(p *stripe.Provider) error { _, err := p.ChargeStoredCard(t.Context(), r); return err })
		require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status, name)
		b.charged(r.PaymentID, 1)
	}
}

func TestAnswers_AboutARefund_AreBelievedOnlyIfTheyAreThoseOfTheRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, lie := range lies() {
		refund := refundOf(b.owing("4242424242424242"), 700)
		if name != "an id of another" {
			b.doubts(name, lie, func(p *stripe.Provider) error { _, err := p.Refund(t.Context(), refund); return err })
		}
		require.Equal(t, paymentports.RefundSucceeded, b.refund(refund).Status, name)
		b.doubts(name, lie, func(p *stripe.Provider) error { _, err := p.Refund(t.Context(), refund); return err })
	}
}

func TestOpen_APageThatStripeRefuses_IsNoOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := pageOf(b.owing("4242424242424242"))
	r.Amount = 1 // of a version that took any capture
	_, err := b.provider.OpenPage(t.Context(), r)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorIs(t, err, paymentports.ErrProviderRefused)
	for kind, outage := range map[stripetest.FaultKind]bool{
		stripetest.FaultBadRequest: false, stripetest.FaultTooManyRequests: true, stripetest.FaultUnavailable: true,
		stripetest.FaultLostBeforeEffect: true,
	} {
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: "/sessions"})
		_, err := b.provider.OpenPage(t.Context(), feeRequest())
		require.ErrorIs(t, err, fault.ErrUnavailable, kind)
		require.Equal(t, !outage, strings.Contains(err.Error(), paymentports.ErrProviderRefused.Error()), kind)
	}
}

func TestCollect_LessThanStripeCharges_TellsThatTheCardCannotBeCharged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	r.Amount = b.provider.LeastCharge() - 1
	require.Equal(t, "card_not_chargeable", b.collect(r).Failure)
	r.PaymentID, r.Amount = newID(), b.provider.LeastCharge()
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status)
}

// TestCollect_ClassOfEveryDeclineCode states the table anew: a code that moves to another class is seen here.
func TestCollect_ClassOfEveryDeclineCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	classes := map[paymentports.ChargeRefusalKind][]string{
		paymentports.ChargeRefusedForNow: {
			"approve_with_id", "call_issuer", "card_velocity_exceeded", "do_not_honor", "duplicate_transaction",
			"generic_decline",
			"insufficient_funds", "invalid_amount", "issuer_not_available", "no_action_taken", "processing_error",
			"reenter_transaction",
			"try_again_later", "withdrawal_count_limit_exceeded", "a_code_of_tomorrow",
		},
		paymentports.ChargeRefusedUntilTenantActs: {
			"authentication_required", "authentication_not_handled", "mobile_device_authentication_required",
			"offline_pin_required",
			"online_or_offline_pin_required", "incorrect_pin", "invalid_pin", "pin_try_exceeded", "incorrect_address",
			"incorrect_cvc",
			"incorrect_zip", "invalid_cvc", "new_account_information_available",
		},
		paymentports.ChargeRefusedForGood: {
			"account_closed", "card_not_supported", "currency_not_supported", "expired_card", "fraudulent", "incorrect_number",
			"invalid_account",
			"invalid_expiry_month", "invalid_expiry_year", "invalid_number", "lost_card", "merchant_blacklist", "not_permitted",
			"pickup_card",
			"restricted_card", "revocation_of_all_authorizations", "revocation_of_authorization", "security_violation",
			"service_not_allowed",
			"stolen_card", "stop_payment_order", "testmode_decline", "transaction_not_allowed", "do_not_try_again",
		},
	}
	r := b.owing("4242424242424242")
	r.Attempt = 0
	for class, codes := range classes {
		for _, code := range codes {
			r.Attempt++
			b.fake.SetOffSessionOutcomes(id.Deposit.Of(r.DepositID), stripetest.ChargeOutcome{DeclineCode: code})
			got := b.collect(r)
			require.Equal(t, paymentports.ProviderPaymentFailed, got.Status)
			require.Equal(t, class, got.Refusal, code)
			if code == "a_code_of_tomorrow" {
				code = "card_declined"
			}
			require.Equal(t, code, got.Failure)
		}
	}
	b.charged(r.PaymentID, 0)
}

func TestCollect_TheAdviceOfTheNetwork_WinsOverTheDeclineCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	for i, c := range []struct {
		outcome stripetest.ChargeOutcome
		want    paymentports.ChargeRefusalKind
		code    string
	}{
		{stripetest.ChargeOutcome{DeclineCode: "insufficient_funds", AdviceCode: "do_not_try_again"},
			paymentports.ChargeRefusedForGood,
			"insufficient_funds"},
		{stripetest.ChargeOutcome{DeclineCode: "lost_card", AdviceCode: "try_again_later"}, paymentports.ChargeRefusedForNow,
			"lost_card"},
		{stripetest.ChargeOutcome{DeclineCode: "generic_decline", AdviceCode: "confirm_card_data"},
			paymentports.ChargeRefusedUntilTenantActs,
			"generic_decline"},
		{stripetest.ChargeOutcome{DeclineCode: "generic_decline", AdviceCode: "something_new"},
			paymentports.ChargeRefusedForNow,
			"generic_decline"},
		{stripetest.ChargeOutcome{Code: "expired_card"}, paymentports.ChargeRefusedForGood, "expired_card"},
	} {
		for _, lost := range []bool{false, true} {
			r.Attempt = 2*i + 1
			b.fake.SetOffSessionOutcomes(id.Deposit.Of(r.DepositID), c.outcome)
			if lost {
				r.Attempt++
				b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLostAfterEffect, Path: "/confirm"})
				_, err := b.provider.ChargeStoredCard(t.Context(), r)
				require.Error(t, err)
			}
			got := b.collect(r)
			require.Equal(t, c.want, got.Refusal, "%+v, lost %v", c.outcome, lost)
			require.Equal(t, c.code, got.Failure)
		}
	}
}

func TestCollect_TheAdviceCannotBeRead_IsAskedForAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	b.fake.SetOffSessionOutcomes(id.Deposit.Of(r.DepositID),
		stripetest.ChargeOutcome{DeclineCode: "insufficient_funds", AdviceCode: "do_not_try_again"})
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultUnavailable, Path: "/v1/charges/"})
	_, err := b.provider.ChargeStoredCard(t.Context(), r)
	require.Error(t, err)
	require.Equal(t, paymentports.ChargeRefusedForGood, b.collect(r).Refusal)
	require.Len(t, b.confirms(), 1)
}
