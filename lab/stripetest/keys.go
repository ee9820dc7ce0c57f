package stripetest

import (
	"net/http"
	"time"
)

// keyLife is how long the fake stores the answer to an Idempotency-Key. Stripe promises at least as much.
const keyLife = 24 * time.Hour

// stored is the answer that the fake keeps for an Idempotency-Key, and replays to repeated requests.
type stored struct {
	// The method, path and parameters of the request that used the key first.
	request string
	at      time.Time
	flying  bool
	answer  answer
}

// begin reserves an Idempotency-Key for a request. If an earlier request has used the key, taken is true, and a
// is the answer to that request, or a refusal.
func (f *Fake) begin(c call) (a answer, taken bool) {
	request := c.Method + " " + c.Path + "?" + c.Params.Encode()
	first := f.keys[c.Key]
	switch {
	case c.Key == "":
		return answer{}, false
	case first == nil:
		f.keys[c.Key] = &stored{request: request, at: f.now(), flying: true}
		return answer{}, false
	case first.request != request:
		return refusal(&apiError{status: http.StatusBadRequest, Kind: "idempotency_error",
			Message: "Keys can only be used with the endpoint and the parameters they were first used with."}), true
	case first.flying:
		return refusal(&apiError{status: http.StatusConflict, Kind: "invalid_request_error", Code: "idempotency_key_in_use",
			Message: "There is currently another in-progress request using this Idempotent Key."}), true
	}
	a = first.answer
	a.replayed = true
	return a, true
}
