package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/secret"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

type api struct {
	backend stripe.Backend
	key     secret.Text
}

// request is a request to Stripe's API.
type request struct {
	call   string // The name of the request to Stripe in the failpoints payment.<call>.before, .sent and .answered.
	method string
	path   string
	// The Idempotency-Key of the request to Stripe. If it is "", stripe-go makes one up, for a request that may safely
	// be repeated.
	key  string
	body string // The parameters of the request to Stripe, encoded as a form.
}

// waits are the pauses before a request to Stripe is repeated because another process is sending one under the same
// Idempotency-Key.
var waits = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond}

// send sends a request to Stripe and decodes the response into out. replayed reports whether Stripe repeated the
// stored response of the Idempotency-Key (true) or handled the request now (false).
//
// Returns refused for an error that Stripe responded with, and service_unavailable for all other failures.
func (a api) send(ctx context.Context, r request, out stripe.LastResponseSetter) (replayed bool, err error) {
	for _, wait := range waits {
		replayed, err = a.sendOnce(ctx, r, out)
		var no *responseError
		if !errors.As(err, &no) || no.status != http.StatusConflict {
			return replayed, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false, err
		}
	}
	return a.sendOnce(ctx, r, out)
}

func (a api) sendOnce(ctx context.Context, r request, out stripe.LastResponseSetter) (replayed bool, err error) {
	seen := &lastResponse{LastResponseSetter: out}
	params := &stripe.Params{Context: traced(ctx, r.call)}
	if r.key != "" {
		params.IdempotencyKey = &r.key
	}
	failpoint.Hit("payment." + r.call + ".before")
	err = a.backend.CallRaw(r.method, r.path, a.key.Reveal(), []byte(r.body), params, seen)
	failpoint.Hit("payment." + r.call + ".answered")
	if err != nil {
		return false, plain(err)
	}
	return isReplayed(seen.last), nil
}

// get reads an object or a list from Stripe.
func (a api) get(ctx context.Context, path string, query url.Values, out stripe.LastResponseSetter) error {
	_, err := a.send(ctx, request{call: "read", method: http.MethodGet, path: path, body: query.Encode()}, out)
	return err
}

// lastResponse keeps the raw bytes of Stripe's response beside the object into which they are decoded.
type lastResponse struct {
	stripe.LastResponseSetter
	last *stripe.APIResponse
}

// SetLastResponse stores Stripe's raw response.
func (l *lastResponse) SetLastResponse(r *stripe.APIResponse) {
	l.last = r
	l.LastResponseSetter.SetLastResponse(r)
}

// UnmarshalJSON decodes Stripe's response into the wrapped object.
func (l *lastResponse) UnmarshalJSON(text []byte) error { return decode(text, l.LastResponseSetter) }

func isReplayed(r *stripe.APIResponse) bool {
	return r != nil && r.Header.Get("Idempotent-Replayed") == "true"
}

// responseError is an error response of Stripe without its texts, because those contain addresses and client secrets.
type responseError struct {
	status                         int
	kind, code, decline, param, id string
	// Stripe's id of the charge that was refused; the text of the error does not contain this id.
	charge   string
	replayed bool
}

func (r *responseError) Error() string {
	return fmt.Sprintf("stripe: status %d, type %q, code %q, decline code %q, parameter %q, request %q", r.status, r.kind,
		r.code, r.decline, r.param, r.id)
}

// read reports whether Stripe processed the request and refused it: true means that Stripe works and accepts the
// secret key; false means a wrong key, a limit or a fault of Stripe.
func (r *responseError) read() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return r.status >= http.StatusBadRequest && r.status < http.StatusInternalServerError
}

// definite reports whether a refused request had no effect and will never have one under its Idempotency-Key: true
// if Stripe processed and refused it; false if a repetition may still take effect.
func (r *responseError) definite() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return r.status >= http.StatusBadRequest && r.status < http.StatusInternalServerError &&
		r.kind != string(stripe.ErrorTypeIdempotency)
}

// spent reports whether Stripe has stored an error of its own server under the Idempotency-Key. True: the request
// may have had an effect, and repeating it under the same key has none. False: it has stored no such error.
func (r *responseError) spent() bool { return r.status >= http.StatusInternalServerError && r.replayed }

// bounded matches the texts of Stripe that may be printed: codes, ids and names of parameters.
var bounded = regexp.MustCompile(`^[A-Za-z0-9_.\[\]]{1,80}$`)

func bound(text string) string {
	if text == "" || bounded.MatchString(text) {
		return text
	}
	return "?"
}

// plain reduces an error of stripe-go to codes and ids, since its full text contains private data.
func plain(err error) error {
	var found *stripe.Error
	if !errors.As(err, &found) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return fault.ErrUnavailable.WithCause(fmt.Errorf("stripe: %w", context.DeadlineExceeded))
		}
		return fault.ErrUnavailable.WithCause(errors.New("stripe: " + cause(err)))
	}
	return &responseError{
		status: found.HTTPStatusCode, kind: bound(string(found.Type)), code: bound(string(found.Code)),
		decline: bound(string(found.DeclineCode)),
		param:   bound(found.Param), id: bound(found.RequestID), charge: bound(found.ChargeID),
		replayed: isReplayed(found.LastResponse),
	}
}

// cause returns a text for a network error. A response that is not JSON may contain anything, so it is not quoted.
func cause(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		text := failed.Err.Error()
		return strings.ToValidUTF8(text, "?")
	}
	return "the answer was not understood"
}

// answered wraps an error of a request to which Stripe responded: the caller gets service_unavailable, but the
// circuit breaker counts no failure (paymentports.ErrProviderRefused).
func answered(err error) error {
	return fault.ErrUnavailable.WithCause(fmt.Errorf("%w: %w", paymentports.ErrProviderRefused, err))
}

// unavailable turns an error of Stripe or of the database into service_unavailable.
func unavailable(err error) error { return fault.ErrUnavailable.WithCause(err) }

// asRefused returns the error response of Stripe inside an error; nil if there is none.
func asRefused(err error) *responseError {
	var no *responseError
	if errors.As(err, &no) {
		return no
	}
	return nil
}
