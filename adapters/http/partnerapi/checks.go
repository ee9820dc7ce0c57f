package partnerapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/partners"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

const (
	headerAPIKey          = "X-Api-Key"
	headerRateLimit       = "RateLimit"
	headerRateLimitPolicy = "RateLimit-Policy"
	headerIdempotencyKey  = "Idempotency-Key"
	headerReplayed        = "Idempotent-Replayed"
)

// request holds the facts that the checks have established, for the handlers.
type request struct {
	caller partner.Caller
	path   string
	query  string                // raw
	key    *ports.IdempotencyKey // nil: none sent
	// reachedUseCase: the use case has checked the idempotency key, whatever error it returned.
	reachedUseCase bool
}

type requestKey struct{}

// requestOf returns the request that authenticate put into ctx.
func requestOf(ctx context.Context) *request {
	return ctx.Value(requestKey{}).(*request) // every route is behind authenticate
}

// authenticate checks the API key and puts its partner into the user context.
//
// Returns missing_api_key, invalid_api_key, api_key_revoked or rate_limited.
func (a *api) authenticate(c *fiber.Ctx) error {
	caller, err := a.Partners.Authenticate(c.UserContext(), c.Get(headerAPIKey), c.Get(fiber.HeaderAuthorization), ui.NetworkOf(c.IP()))
	if errors.Is(err, fault.ErrRateLimited) {
		a.OnRateLimited()
		tellLimit(c, partners.UnknownKeys, partners.UnknownKeysPerMinute, 0, fault.Of(err).RetryAfter)
	}
	if err != nil {
		return err
	}
	req := &request{caller: caller, path: c.Path(), query: string(c.Request().URI().QueryString())}
	c.SetUserContext(context.WithValue(c.UserContext(), requestKey{}, req))
	return c.Next()
}

// limitRate counts the request against the partner's rate limits and reports the remaining requests in the headers.
//
// Returns rate_limited.
func (a *api) limitRate(c *fiber.Ctx) error {
	p := requestOf(c.UserContext()).caller.Partner
	limits := a.Partners.LimitsOf(p)
	counter := "partner:" + p.ID.Encode()
	rules := []ports.LimitRule{{Name: "default", Key: counter, PerMinute: limits.PerMinute}}
	if !reads(c.Method()) {
		rules = append(rules, ports.LimitRule{Name: "writes", Key: counter, PerMinute: limits.WritesPerMinute})
	}
	d := a.Limiter.Allow(c.UserContext(), rules...)
	tellLimit(c, d.Name, d.Most, d.Remaining, d.Reset)
	if !d.Allowed {
		a.OnRateLimited()
		return fault.ErrRateLimited.WithRetryAfter(max(d.RetryAfter, time.Second))
	}
	return c.Next()
}

// tellLimit sets the headers of a limit of a minute.
func tellLimit(c *fiber.Ctx, name string, most, remaining int, reset time.Duration) {
	policy := `"` + name + `"`
	c.Set(headerRateLimitPolicy, policy+";q="+strconv.Itoa(most)+";w=60")
	c.Set(headerRateLimit, policy+";r="+strconv.Itoa(remaining)+";t="+strconv.Itoa(secondsRoundedUp(reset)))
}

// reads reports whether requests of this method change nothing.
func reads(method string) bool {
	return method == fiber.MethodGet || method == fiber.MethodHead || method == fiber.MethodOptions
}

// secondsRoundedUp rounds up, so that a caller who waits the reported seconds has waited long enough.
func secondsRoundedUp(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// checkIdempotencyKey reads the Idempotency-Key, if sent, and runs between the JSON and the field checks
// (api.md §1, "Codes"). The key takes precedence over a refusal by a later check: it may hold a stored
// response, or belong to another body.
//
// Returns invalid_idempotency_key, idempotency_key_in_use or idempotency_key_reused.
func (a *api) checkIdempotencyKey(c *fiber.Ctx) error {
	sent := c.Request().Header.PeekAll(headerIdempotencyKey)
	if len(sent) == 0 {
		return c.Next()
	}
	if len(sent) > 1 {
		return ports.ErrInvalidKey
	}
	key, err := idempotent.ParseKey(string(sent[0]))
	if err != nil {
		return err
	}
	req := requestOf(c.UserContext())
	req.key = &ports.IdempotencyKey{
		PartnerID: req.caller.Partner.ID, Route: c.Method() + " " + strings.TrimRight(req.path, "/"),
		Key: key, Fingerprint: idempotent.Fingerprint(jsonbody.Of(c)),
	}
	err = c.Next()
	if err == nil || req.reachedUseCase {
		return err
	}
	response, err := a.Idempotent.Refuse(c.UserContext(), req.key, a.Clock.Now(), err)
	if err != nil {
		return err
	}
	return encodedResponse(response).send(c)
}

// keyedCall returns the idempotency key and the encoder of the result, for the use case of a keyed route.
func keyedCall[T any](ctx context.Context, encode func(T) (idempotent.Response, error)) idempotent.Call[T] {
	req := requestOf(ctx)
	req.reachedUseCase = true
	return idempotent.Call[T]{Key: req.key, Encode: encode}
}

// encodeResponse renders body as JSON. The use case stores these bytes and sends them again on a replay.
func encodeResponse(status int, body any) (idempotent.Response, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return idempotent.Response{}, err
	}
	return idempotent.Response{Status: status, Body: bytes.TrimSuffix(b.Bytes(), []byte{'\n'})}, nil
}

// encodedResponse is the response of a keyed route: encoded by its use case, or replayed.
type encodedResponse idempotent.Response

func (r encodedResponse) send(c *fiber.Ctx) error {
	failpoint.Hit("api.answering")
	if r.Replayed {
		c.Set(headerReplayed, "true")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Status(r.Status).Send(r.Body)
}

// VisitCreateDepositResponse sends the response.
func (r encodedResponse) VisitCreateDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCancelDepositResponse sends the response.
func (r encodedResponse) VisitCancelDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCaptureDepositResponse sends the response.
func (r encodedResponse) VisitCaptureDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCreateClientResponse sends the response.
func (r encodedResponse) VisitCreateClientResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCreateWebhookResponse sends the response.
func (r encodedResponse) VisitCreateWebhookResponse(c *fiber.Ctx) error { return r.send(c) }
