package stripetest

import "net/http"

// apiError is an error in the form of Stripe's API.
type apiError struct {
	status  int
	Kind    string         `json:"type"`
	Code    string         `json:"code,omitempty"`
	Decline string         `json:"decline_code,omitempty"`
	Param   string         `json:"param,omitempty"`
	Message string         `json:"message"`
	Charge  string         `json:"charge,omitempty"`
	Intent  map[string]any `json:"payment_intent,omitempty"`
}

func invalid(param, message string) *apiError {
	err := wrongState("parameter_invalid", message)
	err.Param = param
	return err
}

// leastCharge is Stripe's smallest charge in cents of a euro
// (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts).
const leastCharge = 50

func tooSmall(param string) *apiError {
	err := invalid(param, "The amount must convert to at least 50 cents.")
	err.Code = "amount_too_small"
	return err
}

func missing(id string) *apiError {
	return &apiError{status: http.StatusNotFound, Kind: "invalid_request_error", Code: "resource_missing", Param: "id",
		Message: "No such object: '" + id + "'"}
}

func wrongState(code, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, Kind: "invalid_request_error", Code: code, Message: message}
}

// keeps reports whether Stripe stores the answer under its Idempotency-Key: not for a request that was refused
// before it began.
func (e *apiError) keeps() bool {
	switch {
	case e == nil, e.status == http.StatusPaymentRequired, e.status >= http.StatusInternalServerError:
		return true
	case e.Code == "payment_intent_unexpected_state", e.Code == "charge_already_refunded":
		return true
	}
	return false
}
