package stripe

import (
	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/ports"
)

// codeAuthentication: the issuer of the card wants the tenant to authenticate.
const codeAuthentication = "authentication_required"

// codeDeclined stands for every code that is not listed here.
const codeDeclined = "card_declined"

// refusals classify Stripe's decline codes (docs.stripe.com/declines/codes).
var refusals = map[string]ports.Refusal{
	// The issuer may accept the same card later.
	"approve_with_id":                 ports.RefusedForNow,
	"call_issuer":                     ports.RefusedForNow,
	"card_velocity_exceeded":          ports.RefusedForNow,
	codeDeclined:                      ports.RefusedForNow,
	"do_not_honor":                    ports.RefusedForNow,
	"duplicate_transaction":           ports.RefusedForNow,
	"generic_decline":                 ports.RefusedForNow,
	"insufficient_funds":              ports.RefusedForNow,
	"invalid_amount":                  ports.RefusedForNow,
	"issuer_not_available":            ports.RefusedForNow,
	"no_action_taken":                 ports.RefusedForNow,
	"processing_error":                ports.RefusedForNow,
	"reenter_transaction":             ports.RefusedForNow,
	"try_again_later":                 ports.RefusedForNow,
	"withdrawal_count_limit_exceeded": ports.RefusedForNow,

	// The tenant has to authenticate, or to type the card again.
	codeAuthentication:                      ports.RefusedForTenant,
	"authentication_not_handled":            ports.RefusedForTenant,
	"payment_intent_authentication_failure": ports.RefusedForTenant,
	"mobile_device_authentication_required": ports.RefusedForTenant,
	"offline_pin_required":                  ports.RefusedForTenant,
	"online_or_offline_pin_required":        ports.RefusedForTenant,
	"incorrect_pin":                         ports.RefusedForTenant,
	"invalid_pin":                           ports.RefusedForTenant,
	"pin_try_exceeded":                      ports.RefusedForTenant,
	"incorrect_address":                     ports.RefusedForTenant,
	"incorrect_cvc":                         ports.RefusedForTenant,
	"incorrect_zip":                         ports.RefusedForTenant,
	"invalid_cvc":                           ports.RefusedForTenant,
	"new_account_information_available":     ports.RefusedForTenant,

	// The card must not be charged again.
	"account_closed":                   ports.RefusedForGood,
	"card_not_supported":               ports.RefusedForGood,
	"currency_not_supported":           ports.RefusedForGood,
	"expired_card":                     ports.RefusedForGood,
	"fraudulent":                       ports.RefusedForGood,
	"incorrect_number":                 ports.RefusedForGood,
	"invalid_account":                  ports.RefusedForGood,
	"invalid_expiry_month":             ports.RefusedForGood,
	"invalid_expiry_year":              ports.RefusedForGood,
	"invalid_number":                   ports.RefusedForGood,
	"lost_card":                        ports.RefusedForGood,
	"merchant_blacklist":               ports.RefusedForGood,
	"not_permitted":                    ports.RefusedForGood,
	"pickup_card":                      ports.RefusedForGood,
	"restricted_card":                  ports.RefusedForGood,
	"revocation_of_all_authorizations": ports.RefusedForGood,
	"revocation_of_authorization":      ports.RefusedForGood,
	"security_violation":               ports.RefusedForGood,
	"service_not_allowed":              ports.RefusedForGood,
	"stolen_card":                      ports.RefusedForGood,
	"stop_payment_order":               ports.RefusedForGood,
	"testmode_decline":                 ports.RefusedForGood,
	"transaction_not_allowed":          ports.RefusedForGood,
	"card_decline_rate_limit_exceeded": ports.RefusedForGood,
	"do_not_try_again":                 ports.RefusedForGood,
}

// advices classify the advice of the card network, which wins over the decline code.
var advices = map[string]ports.Refusal{
	string(stripe.ChargeOutcomeAdviceCodeTryAgainLater):   ports.RefusedForNow,
	string(stripe.ChargeOutcomeAdviceCodeConfirmCardData): ports.RefusedForTenant,
	string(stripe.ChargeOutcomeAdviceCodeDoNotTryAgain):   ports.RefusedForGood,
}

// classify gives the failure, from a closed list, and the class of a refused charge.
func classify(code, decline, advice string) (failure string, refusal ports.Refusal) {
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
