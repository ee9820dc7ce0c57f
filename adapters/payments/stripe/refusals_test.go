package stripe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

// TestCollect_ClassOfEveryDeclineCode states the table anew: a code that moves to another class is seen here.
func TestCollect_ClassOfEveryDeclineCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	classes := map[paymentports.Refusal][]string{
		paymentports.RefusedForNow: {
			"approve_with_id", "call_issuer", "card_velocity_exceeded", "do_not_honor", "duplicate_transaction",
			"generic_decline",
			"insufficient_funds", "invalid_amount", "issuer_not_available", "no_action_taken", "processing_error",
			"reenter_transaction",
			"try_again_later", "withdrawal_count_limit_exceeded", "a_code_of_tomorrow",
		},
		paymentports.RefusedForTenant: {
			"authentication_required", "authentication_not_handled", "mobile_device_authentication_required",
			"offline_pin_required",
			"online_or_offline_pin_required", "incorrect_pin", "invalid_pin", "pin_try_exceeded", "incorrect_address",
			"incorrect_cvc",
			"incorrect_zip", "invalid_cvc", "new_account_information_available",
		},
		paymentports.RefusedForGood: {
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
			b.fake.OffSession(id.Deposit.Of(r.DepositID), stripetest.Outcome{DeclineCode: code})
			got := b.collect(r)
			require.Equal(t, paymentports.ProviderFailed, got.Status)
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
		outcome stripetest.Outcome
		want    paymentports.Refusal
		code    string
	}{
		{stripetest.Outcome{DeclineCode: "insufficient_funds", AdviceCode: "do_not_try_again"}, paymentports.RefusedForGood,
			"insufficient_funds"},
		{stripetest.Outcome{DeclineCode: "lost_card", AdviceCode: "try_again_later"}, paymentports.RefusedForNow,
			"lost_card"},
		{stripetest.Outcome{DeclineCode: "generic_decline", AdviceCode: "confirm_card_data"}, paymentports.RefusedForTenant,
			"generic_decline"},
		{stripetest.Outcome{DeclineCode: "generic_decline", AdviceCode: "something_new"}, paymentports.RefusedForNow,
			"generic_decline"},
		{stripetest.Outcome{Code: "expired_card"}, paymentports.RefusedForGood, "expired_card"},
	} {
		for _, lost := range []bool{false, true} {
			r.Attempt = 2*i + 1
			b.fake.OffSession(id.Deposit.Of(r.DepositID), c.outcome)
			if lost {
				r.Attempt++
				b.fake.Fail(stripetest.Fault{Kind: stripetest.LostAfter, Path: "/confirm"})
				_, err := b.provider.Collect(t.Context(), r)
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
	b.fake.OffSession(id.Deposit.Of(r.DepositID),
		stripetest.Outcome{DeclineCode: "insufficient_funds", AdviceCode: "do_not_try_again"})
	b.fake.Fail(stripetest.Fault{Kind: stripetest.Unready, Path: "/v1/charges/"})
	_, err := b.provider.Collect(t.Context(), r)
	require.Error(t, err)
	require.Equal(t, paymentports.RefusedForGood, b.collect(r).Refusal)
	require.Len(t, b.confirms(), 1)
}
