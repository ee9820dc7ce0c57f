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

type request struct {
	call   string // The name of the request to Stripe in the failpoints payment.<call>.before, .sent and .answered.
	method string
	path   string
	// The Idempotency-Key of the request to Stripe; "" for a request that may safely be repeated.
	key  string
	body string // The parameters of the request to Stripe, encoded as a form.
}

// waits are the pauses before repeating a request to Stripe whose Idempotency-Key another process is using.
var waits = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond}

// send sends a request to Stripe and decodes the response into out. replayed reports whether the response is a
// stored one. Returns responseError for an error of Stripe, otherwise service_unavailable.
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

func (a api) get(ctx context.Context, path string, query url.Values, out stripe.LastResponseSetter) error {
	_, err := a.send(ctx, request{call: "read", method: http.MethodGet, path: path, body: query.Encode()}, out)
	return err
}

// lastResponse keeps the raw bytes of Stripe's response beside the decoded object.
type lastResponse struct {
	stripe.LastResponseSetter
	last *stripe.APIResponse
}

func (l *lastResponse) SetLastResponse(r *stripe.APIResponse) {
	l.last = r
	l.LastResponseSetter.SetLastResponse(r)
}

func (l *lastResponse) UnmarshalJSON(text []byte) error { return decode(text, l.LastResponseSetter) }

func isReplayed(r *stripe.APIResponse) bool {
	return r != nil && r.Header.Get("Idempotent-Replayed") == "true"
}

// responseError is an error response of Stripe without its texts, which contain addresses and client secrets.
type responseError struct {
	status                         int
	kind, code, decline, param, id string
	// Stripe's id of the charge that was refused.
	charge   string
	replayed bool
}

func (r *responseError) Error() string {
	return fmt.Sprintf("stripe: status %d, type %q, code %q, decline code %q, parameter %q, request %q", r.status, r.kind,
		r.code, r.decline, r.param, r.id)
}

// read reports whether Stripe processed the request and refused it; false means a wrong key, a limit or a fault
// of Stripe.
func (r *responseError) read() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return r.status >= http.StatusBadRequest && r.status < http.StatusInternalServerError
}

// definite reports whether a refused request has no effect and never will under its Idempotency-Key.
func (r *responseError) definite() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return r.status >= http.StatusBadRequest && r.status < http.StatusInternalServerError &&
		r.kind != string(stripe.ErrorTypeIdempotency)
}

// spent reports whether Stripe has stored a server error under the Idempotency-Key: repeating the request then
// has no effect.
func (r *responseError) spent() bool { return r.status >= http.StatusInternalServerError && r.replayed }

// bounded matches the texts of Stripe that may be printed: codes, ids and names of parameters.
var bounded = regexp.MustCompile(`^[A-Za-z0-9_.\[\]]{1,80}$`)

func bound(text string) string {
	if text == "" || bounded.MatchString(text) {
		return text
	}
	return "?"
}

// plain reduces an error of stripe-go to codes and ids, since its text contains private data.
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

// cause returns a text for a network error. It quotes no response, which may contain anything.
func cause(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		text := failed.Err.Error()
		return strings.ToValidUTF8(text, "?")
	}
	return "the answer was not understood"
}

// answered wraps an error with which Stripe responded: service_unavailable, but no failure for the circuit
// breaker (paymentports.ErrProviderRefused).
func answered(err error) error {
	return fault.ErrUnavailable.WithCause(fmt.Errorf("%w: %w", paymentports.ErrProviderRefused, err))
}

// unavailable turns an error of Stripe or of the database into service_unavailable.
func unavailable(err error) error { return fault.ErrUnavailable.WithCause(err) }

// asRefused returns the error response of Stripe inside an error; nil if none.
func asRefused(err error) *responseError {
	var no *responseError
	if errors.As(err, &no) {
		return no
	}
	return nil
}
