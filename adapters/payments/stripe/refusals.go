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
	"approve_with_id":                 paymentports.RefusedForNow,
	"call_issuer":                     paymentports.RefusedForNow,
	"card_velocity_exceeded":          paymentports.RefusedForNow,
	codeDeclined:                      paymentports.RefusedForNow,
	"do_not_honor":                    paymentports.RefusedForNow,
	"duplicate_transaction":           paymentports.RefusedForNow,
	"generic_decline":                 paymentports.RefusedForNow,
	"insufficient_funds":              paymentports.RefusedForNow,
	"invalid_amount":                  paymentports.RefusedForNow,
	"issuer_not_available":            paymentports.RefusedForNow,
	"no_action_taken":                 paymentports.RefusedForNow,
	"processing_error":                paymentports.RefusedForNow,
	"reenter_transaction":             paymentports.RefusedForNow,
	"try_again_later":                 paymentports.RefusedForNow,
	"withdrawal_count_limit_exceeded": paymentports.RefusedForNow,

	// Decline codes after which the tenant has to authenticate or to type the card again.
	codeAuthentication:                      paymentports.RefusedUntilTenantActs,
	"authentication_not_handled":            paymentports.RefusedUntilTenantActs,
	"payment_intent_authentication_failure": paymentports.RefusedUntilTenantActs,
	"mobile_device_authentication_required": paymentports.RefusedUntilTenantActs,
	"offline_pin_required":                  paymentports.RefusedUntilTenantActs,
	"online_or_offline_pin_required":        paymentports.RefusedUntilTenantActs,
	"incorrect_pin":                         paymentports.RefusedUntilTenantActs,
	"invalid_pin":                           paymentports.RefusedUntilTenantActs,
	"pin_try_exceeded":                      paymentports.RefusedUntilTenantActs,
	"incorrect_address":                     paymentports.RefusedUntilTenantActs,
	"incorrect_cvc":                         paymentports.RefusedUntilTenantActs,
	"incorrect_zip":                         paymentports.RefusedUntilTenantActs,
	"invalid_cvc":                           paymentports.RefusedUntilTenantActs,
	"new_account_information_available":     paymentports.RefusedUntilTenantActs,

	// Decline codes after which the card must not be charged again.
	"account_closed":                   paymentports.RefusedForGood,
	"card_not_supported":               paymentports.RefusedForGood,
	"currency_not_supported":           paymentports.RefusedForGood,
	"expired_card":                     paymentports.RefusedForGood,
	"fraudulent":                       paymentports.RefusedForGood,
	"incorrect_number":                 paymentports.RefusedForGood,
	"invalid_account":                  paymentports.RefusedForGood,
	"invalid_expiry_month":             paymentports.RefusedForGood,
	"invalid_expiry_year":              paymentports.RefusedForGood,
	"invalid_number":                   paymentports.RefusedForGood,
	"lost_card":                        paymentports.RefusedForGood,
	"merchant_blacklist":               paymentports.RefusedForGood,
	"not_permitted":                    paymentports.RefusedForGood,
	"pickup_card":                      paymentports.RefusedForGood,
	"restricted_card":                  paymentports.RefusedForGood,
	"revocation_of_all_authorizations": paymentports.RefusedForGood,
	"revocation_of_authorization":      paymentports.RefusedForGood,
	"security_violation":               paymentports.RefusedForGood,
	"service_not_allowed":              paymentports.RefusedForGood,
	"stolen_card":                      paymentports.RefusedForGood,
	"stop_payment_order":               paymentports.RefusedForGood,
	"testmode_decline":                 paymentports.RefusedForGood,
	"transaction_not_allowed":          paymentports.RefusedForGood,
	"card_decline_rate_limit_exceeded": paymentports.RefusedForGood,
	"do_not_try_again":                 paymentports.RefusedForGood,
}

// advices maps the card network's advice after a refused charge to the kind of refusal. The advice takes
// precedence over the decline code.
var advices = map[string]paymentports.ChargeRefusalKind{
	string(stripe.ChargeOutcomeAdviceCodeTryAgainLater):   paymentports.RefusedForNow,
	string(stripe.ChargeOutcomeAdviceCodeConfirmCardData): paymentports.RefusedUntilTenantActs,
	string(stripe.ChargeOutcomeAdviceCodeDoNotTryAgain):   paymentports.RefusedForGood,
}

// classify returns, for a refused charge, the failure code (one of a closed list) and the kind of refusal: whether
// and by whom the charge may be tried again.
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
