package stripetest

import (
	"net/http"
	"time"
)

// keyLife is how long the fake keeps the answer to an Idempotency-Key, the least that Stripe promises.
const keyLife = 24 * time.Hour

// stored is the answer that the fake replays for an Idempotency-Key.
type stored struct {
	// Method, path and parameters of the first request with the key.
	request string
	at      time.Time
	flying  bool
	answer  answer
}

// begin reserves an Idempotency-Key. If taken, a is the answer to the earlier request, or a refusal.
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
