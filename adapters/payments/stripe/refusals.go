package stripe

import (
	"github.com/stripe/stripe-go/v85"

	paymentports "partnerdeposits/ports/payments"
)

// codeAuthentication is the failure code of a charge for which the card's bank wants the tenant to authenticate.
const codeAuthentication = "authentication_required"

// codeDeclined is the failure code for every decline code of Stripe that is not listed in this file.
const codeDeclined = "card_declined"

// refusals maps Stripe's decline codes to the kind of refusal (docs.stripe.com/declines/codes).
var refusals = map[string]paymentports.ChargeRefusalKind{
	// Decline codes after which the bank may accept the same card later.
	"approve_with_id":                 paymentports.ChargeRefusedForNow,
	"call_issuer":                     paymentports.ChargeRefusedForNow,
	"card_velocity_exceeded":          paymentports.ChargeRefusedForNow,
	codeDeclined:                      paymentports.ChargeRefusedForNow,
	"do_not_honor":                    paymentports.ChargeRefusedForNow,
	"duplicate_transaction":           paymentports.ChargeRefusedForNow,
	"generic_decline":                 paymentports.ChargeRefusedForNow,
	"insufficient_funds":              paymentports.ChargeRefusedForNow,
	"invalid_amount":                  paymentports.ChargeRefusedForNow,
	"issuer_not_available":            paymentports.ChargeRefusedForNow,
	"no_action_taken":                 paymentports.ChargeRefusedForNow,
	"processing_error":                paymentports.ChargeRefusedForNow,
	"reenter_transaction":             paymentports.ChargeRefusedForNow,
	"try_again_later":                 paymentports.ChargeRefusedForNow,
	"withdrawal_count_limit_exceeded": paymentports.ChargeRefusedForNow,

	// Decline codes after which the tenant has to authenticate or to type the card again.
	codeAuthentication:                      paymentports.ChargeRefusedUntilTenantActs,
	"authentication_not_handled":            paymentports.ChargeRefusedUntilTenantActs,
	"payment_intent_authentication_failure": paymentports.ChargeRefusedUntilTenantActs,
	"mobile_device_authentication_required": paymentports.ChargeRefusedUntilTenantActs,
	"offline_pin_required":                  paymentports.ChargeRefusedUntilTenantActs,
	"online_or_offline_pin_required":        paymentports.ChargeRefusedUntilTenantActs,
	"incorrect_pin":                         paymentports.ChargeRefusedUntilTenantActs,
	"invalid_pin":                           paymentports.ChargeRefusedUntilTenantActs,
	"pin_try_exceeded":                      paymentports.ChargeRefusedUntilTenantActs,
	"incorrect_address":                     paymentports.ChargeRefusedUntilTenantActs,
	"incorrect_cvc":                         paymentports.ChargeRefusedUntilTenantActs,
	"incorrect_zip":                         paymentports.ChargeRefusedUntilTenantActs,
	"invalid_cvc":                           paymentports.ChargeRefusedUntilTenantActs,
	"new_account_information_available":     paymentports.ChargeRefusedUntilTenantActs,

	// Decline codes after which the card must not be charged again.
	"account_closed":                   paymentports.ChargeRefusedForGood,
	"card_not_supported":               paymentports.ChargeRefusedForGood,
	"currency_not_supported":           paymentports.ChargeRefusedForGood,
	"expired_card":                     paymentports.ChargeRefusedForGood,
	"fraudulent":                       paymentports.ChargeRefusedForGood,
	"incorrect_number":                 paymentports.ChargeRefusedForGood,
	"invalid_account":                  paymentports.ChargeRefusedForGood,
	"invalid_expiry_month":             paymentports.ChargeRefusedForGood,
	"invalid_expiry_year":              paymentports.ChargeRefusedForGood,
	"invalid_number":                   paymentports.ChargeRefusedForGood,
	"lost_card":                        paymentports.ChargeRefusedForGood,
	"merchant_blacklist":               paymentports.ChargeRefusedForGood,
	"not_permitted":                    paymentports.ChargeRefusedForGood,
	"pickup_card":                      paymentports.ChargeRefusedForGood,
	"restricted_card":                  paymentports.ChargeRefusedForGood,
	"revocation_of_all_authorizations": paymentports.ChargeRefusedForGood,
	"revocation_of_authorization":      paymentports.ChargeRefusedForGood,
	"security_violation":               paymentports.ChargeRefusedForGood,
	"service_not_allowed":              paymentports.ChargeRefusedForGood,
	"stolen_card":                      paymentports.ChargeRefusedForGood,
	"stop_payment_order":               paymentports.ChargeRefusedForGood,
	"testmode_decline":                 paymentports.ChargeRefusedForGood,
	"transaction_not_allowed":          paymentports.ChargeRefusedForGood,
	"card_decline_rate_limit_exceeded": paymentports.ChargeRefusedForGood,
	"do_not_try_again":                 paymentports.ChargeRefusedForGood,
}

// advices maps the card network's advice, which takes precedence over the decline code, to the kind of refusal.
var advices = map[string]paymentports.ChargeRefusalKind{
	string(stripe.ChargeOutcomeAdviceCodeTryAgainLater):   paymentports.ChargeRefusedForNow,
	string(stripe.ChargeOutcomeAdviceCodeConfirmCardData): paymentports.ChargeRefusedUntilTenantActs,
	string(stripe.ChargeOutcomeAdviceCodeDoNotTryAgain):   paymentports.ChargeRefusedForGood,
}

// classify returns the failure code and the kind of a charge's refusal: whether and by whom it may be tried
// again.
func classify(code, decline, advice string) (failure string, refusal paymentports.ChargeRefusalKind) {
	failure = codeDeclined
	for _, told := range []string{decline, code} {
		if _, known := refusals[told]; known {
			failure = told
			break
		}
	}
	if class, known := advices[advice]; known {
		return failure, class
	}
	return failure, refusals[failure]
}

func adviceOf(c *stripe.Charge) string {
	if c == nil || c.Outcome == nil {
		return ""
	}
	return string(c.Outcome.AdviceCode)
}
