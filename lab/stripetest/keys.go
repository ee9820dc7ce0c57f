package stripetest

import (
	"net/http"
	"net/url"
	"time"
)

// keyLife is the time for which an Idempotency-Key is remembered. Stripe promises at least as much.
const keyLife = 24 * time.Hour

// stored is the first answer under an Idempotency-Key.
type stored struct {
	endpoint, params string
	at               time.Time
	flying           bool
	answer           answer
}

// answer is an answer of the API.
type answer struct {
	status   int
	body     []byte
	request  string // the id of the request
	replayed bool
}

// begin claims a key for a request. It gives a stored answer, or an error where the key is taken.
func (f *Fake) begin(key, endpoint string, params url.Values) (*answer, *apiError) {
	if key == "" {
		return nil, nil
	}
	first := f.keys[key]
	if first == nil {
		f.keys[key] = &stored{endpoint: endpoint, params: params.Encode(), at: f.now(), flying: true}
		return nil, nil
	}
	switch {
	case first.endpoint != endpoint:
		return nil, &apiError{status: http.StatusBadRequest, Kind: "idempotency_error",
			Message: "Keys for idempotent requests can only be used for the same endpoint they were first used for."}
	case first.params != params.Encode():
		return nil, &apiError{status: http.StatusBadRequest, Kind: "idempotency_error",
			Message: "Keys for idempotent requests can only be used with the same parameters they were first used with."}
	case first.flying:
		return nil, &apiError{status: http.StatusConflict, Kind: "invalid_request_error", Code: "idempotency_key_in_use",
			Message: "There is currently another in-progress request using this Idempotent Key."}
	}
	again := first.answer
	again.replayed = true
	return &again, nil
}

// finish keeps the answer of a request under its key, or frees the key.
func (f *Fake) finish(key string, a answer, keep bool) {
	if key == "" {
		return
	}
	if !keep {
		delete(f.keys, key)
		return
	}
	if first := f.keys[key]; first != nil {
		first.flying, first.answer = false, a
	}
}
