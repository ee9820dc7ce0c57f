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

// api sends requests to Stripe.
type api struct {
	backend stripe.Backend
	key     secret.Text
}

// request is a request to Stripe.
type request struct {
	call   string // name of the failpoints: payment.<call>.before, .sent and .answered
	method string
	path   string
	key    string // Idempotency-Key; "": made up, for a request whose repetition is harmless
	body   string // form
}

// waits between repetitions of a request whose key another process holds.
var waits = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond}

// send sends a request and decodes the answer into out. replayed tells that Stripe repeated the stored answer of the
// key.
//
// Returns refused for an answer of Stripe that is an error, and service_unavailable for all others.
func (a api) send(ctx context.Context, r request, out stripe.LastResponseSetter) (replayed bool, err error) {
	for _, wait := range waits {
		replayed, err = a.sendOnce(ctx, r, out)
		var no *refused
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

// get reads an object or a list.
func (a api) get(ctx context.Context, path string, query url.Values, out stripe.LastResponseSetter) error {
	_, err := a.send(ctx, request{call: "read", method: http.MethodGet, path: path, body: query.Encode()}, out)
	return err
}

// lastResponse keeps the response of a call beside the object that it fills.
type lastResponse struct {
	stripe.LastResponseSetter
	last *stripe.APIResponse
}

// SetLastResponse implements stripe.LastResponseSetter.
func (l *lastResponse) SetLastResponse(r *stripe.APIResponse) {
	l.last = r
	l.LastResponseSetter.SetLastResponse(r)
}

// UnmarshalJSON decodes into the object.
func (l *lastResponse) UnmarshalJSON(text []byte) error { return decode(text, l.LastResponseSetter) }

func isReplayed(r *stripe.APIResponse) bool {
	return r != nil && r.Header.Get("Idempotent-Replayed") == "true"
}

// refused is an error of Stripe, without its texts: those contain addresses and client secrets.
type refused struct {
	status                         int
	kind, code, decline, param, id string
	charge                         string // of a refused card; not printed
	replayed                       bool
}

func (r *refused) Error() string {
	return fmt.Sprintf("stripe: status %d, type %q, code %q, decline code %q, parameter %q, request %q", r.status, r.kind,
		r.code, r.decline, r.param, r.id)
}

// read reports that Stripe has read the request and refused it, so that Stripe works and takes our key.
func (r *refused) read() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return r.status >= http.StatusBadRequest && r.status < http.StatusInternalServerError
}

// definite reports that the request was read and refused: it has had no effect and will have none under its key.
func (r *refused) definite() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return r.status >= http.StatusBadRequest && r.status < http.StatusInternalServerError &&
		r.kind != string(stripe.ErrorTypeIdempotency)
}

// spent reports that Stripe has stored an error of its own under the key. The request may have had an effect, and will
// have no other.
func (r *refused) spent() bool { return r.status >= http.StatusInternalServerError && r.replayed }

// bounded are the texts of Stripe that may be printed: codes, ids, and names of parameters.
var bounded = regexp.MustCompile(`^[A-Za-z0-9_.\[\]]{1,80}$`)

func bound(text string) string {
	if text == "" || bounded.MatchString(text) {
		return text
	}
	return "?"
}

// plain takes codes and ids out of an error of stripe-go, which otherwise prints everything.
func plain(err error) error {
	var found *stripe.Error
	if !errors.As(err, &found) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return fault.ErrUnavailable.Because(fmt.Errorf("stripe: %w", context.DeadlineExceeded))
		}
		return fault.ErrUnavailable.Because(errors.New("stripe: " + cause(err)))
	}
	return &refused{
		status: found.HTTPStatusCode, kind: bound(string(found.Type)), code: bound(string(found.Code)),
		decline: bound(string(found.DeclineCode)),
		param:   bound(found.Param), id: bound(found.RequestID), charge: bound(found.ChargeID),
		replayed: isReplayed(found.LastResponse),
	}
}

// cause describes an error of the network. An answer that is no JSON may contain anything and is not quoted.
func cause(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		text := failed.Err.Error()
		return strings.ToValidUTF8(text, "?")
	}
	return "the answer was not understood"
}

// answered wraps an error of a request that Stripe answered: service_unavailable for the caller, and no failure for the
// circuit breaker (paymentports.ErrProviderAnswered).
func answered(err error) error {
	return fault.ErrUnavailable.Because(fmt.Errorf("%w: %w", paymentports.ErrProviderAnswered, err))
}

// unavailable turns an error of Stripe or of the database into service_unavailable.
func unavailable(err error) error { return fault.ErrUnavailable.Because(err) }

// asRefused gives the error of Stripe, nil for any other.
func asRefused(err error) *refused {
	var no *refused
	if errors.As(err, &no) {
		return no
	}
	return nil
}
