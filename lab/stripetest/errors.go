package stripetest

import "net/http"

// apiError is an error in Stripe's form.
type apiError struct {
	status                                      int
	kind, code, decline, advice, param, message string
	charge                                      string
	intent, method                              map[string]any
}

func (e *apiError) body() map[string]any {
	inner := map[string]any{"type": e.kind, "message": e.message}
	for name, value := range map[string]string{"code": e.code, "decline_code": e.decline, "advice_code": e.advice, "param": e.param, "charge": e.charge} {
		if value != "" {
			inner[name] = value
		}
	}
	if e.intent != nil {
		inner["payment_intent"] = e.intent
	}
	if e.method != nil {
		inner["payment_method"] = e.method
	}
	return map[string]any{"error": inner}
}

func invalid(param, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "invalid_request_error", code: "parameter_invalid", param: param, message: message}
}

func missing(id string) *apiError {
	return &apiError{status: http.StatusNotFound, kind: "invalid_request_error", code: "resource_missing", param: "id", message: "No such object: '" + id + "'"}
}

func wrongState(code, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "invalid_request_error", code: code, message: message}
}

func broken() *apiError {
	return &apiError{status: http.StatusInternalServerError, kind: "api_error", message: "An unknown error occurred"}
}

// keeps reports whether Stripe keeps the answer under its key: not for requests that never began.
func (e *apiError) keeps() bool {
	switch {
	case e == nil, e.status == http.StatusPaymentRequired, e.status >= http.StatusInternalServerError:
		return true
	case e.code == "payment_intent_unexpected_state", e.code == "charge_already_refunded":
		return true
	}
	return false
}
