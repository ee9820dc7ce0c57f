package partnerapi

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/adapters/http/middleware/jsonresponse"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
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
	apiKey secret.Text       // of an explanation
	more   []ports.LimitRule // beside those of every request
	path   string
	query  string                // raw
	key    *ports.IdempotencyKey // nil: none sent, or a malformed one; without a fingerprint until checkIdempotencyKey
	keyErr error                 // of a malformed Idempotency-Key
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
	caller, err := a.Partners.Authenticate(c.UserContext(), c.Get(headerAPIKey), c.Get(fiber.HeaderAuthorization),
		ui.NetworkOf(c.IP()))
	if errors.Is(err, fault.ErrRateLimited) {
		a.OnRateLimited()
		tellLimit(c, partners.UnknownKeys, partners.UnknownKeysPerMinute, 0, fault.Of(err).RetryAfter)
	}
	if err != nil {
		return err
	}
	middleware.LogWho(c, slog.String("partner", id.Partner.Of(caller.Partner.ID)),
		slog.String("key", id.APIKey.Of(caller.Key.ID)))
	req := &request{caller: caller, path: c.Path(), query: string(c.Request().URI().QueryString())}
	c.SetUserContext(context.WithValue(c.UserContext(), requestKey{}, req))
	return c.Next()
}

// countExplanation has limitRate count the request as an explanation too, and keeps the API key for it.
func (a *api) countExplanation(c *fiber.Ctx) error {
	req := requestOf(c.UserContext())
	key, err := partner.PresentedKey(a.Environment, c.Get(headerAPIKey), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	req.apiKey = secret.Text(key)
	req.more = []ports.LimitRule{partners.ExplanationRule(req.caller.Partner, a.ExplanationsPerMinute)}
	return c.Next()
}

// countAlso has limitRate count the request under a further rule of its partner.
func countAlso(rule func(partner.Partner) ports.LimitRule) fiber.Handler {
	return func(c *fiber.Ctx) error {
		req := requestOf(c.UserContext())
		req.more = []ports.LimitRule{rule(req.caller.Partner)}
		return c.Next()
	}
}

// limitRate counts the request against the partner's rate limits and reports the remaining requests in the headers. A
// cached response of an idempotency key is looked up with it; the checks that follow decide whether it is used.
//
// Returns rate_limited.
func (a *api) limitRate(c *fiber.Ctx) error {
	req := requestOf(c.UserContext())
	rules := append(a.Partners.RulesOf(req.caller.Partner, !reads(c.Method())), req.more...)
	var d ports.LimitDecision
	if req.key == nil {
		d = a.Limiter.Allow(c.UserContext(), rules...)
	} else {
		d = a.Idempotent.Admit(c.UserContext(), req.key, rules...)
	}
	tellLimit(c, d.Name, d.Max, d.Remaining, d.Reset)
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

// readIdempotencyKey reads the Idempotency-Key, if sent. checkIdempotencyKey refuses a malformed key later, because the
// order of checks (api.md §1) puts other refusals first.
func readIdempotencyKey(c *fiber.Ctx) error {
	sent := c.Request().Header.PeekAll(headerIdempotencyKey)
	if len(sent) == 0 {
		return c.Next()
	}
	req := requestOf(c.UserContext())
	key, err := idempotent.ParseKey(string(sent[0]))
	if len(sent) > 1 {
		err = ports.ErrInvalidKey
	}
	if req.keyErr = err; err == nil {
		req.key = &ports.IdempotencyKey{
			Owner: req.caller.Partner.ID, Route: c.Method() + " " + strings.TrimRight(req.path, "/"), Key: key,
		}
	}
	return c.Next()
}

// checkIdempotencyKey runs between the JSON and the field checks (api.md §1, "Codes"). A key that has a stored
// response, or that belongs to another body, is answered before the field checks could refuse the request.
//
// Returns invalid_idempotency_key, idempotency_key_in_use or idempotency_key_reused.
func (a *api) checkIdempotencyKey(c *fiber.Ctx) error {
	req := requestOf(c.UserContext())
	if req.keyErr != nil {
		return req.keyErr
	}
	if req.key == nil {
		return c.Next()
	}
	req.key.Fingerprint = idempotent.Fingerprint(jsonbody.Of(c))
	err := c.Next()
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
	encoded, err := jsonresponse.Encode(body)
	return idempotent.Response{Code: status, Body: encoded}, err
}

// encodedResponse is the response of a keyed route: encoded by its use case, or replayed.
type encodedResponse idempotent.Response

func (r encodedResponse) send(c *fiber.Ctx) error {
	failpoint.Hit("api.answering")
	if r.Replayed {
		c.Set(headerReplayed, "true")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Status(r.Code).Send(r.Body)
}

// VisitCreateDepositResponse sends the response.
func (r encodedResponse) VisitCreateDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCancelDepositResponse sends the response.
func (r encodedResponse) VisitCancelDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitReleaseDepositResponse sends the response.
func (r encodedResponse) VisitReleaseDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCaptureDepositResponse sends the response.
func (r encodedResponse) VisitCaptureDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitSendDepositLinkResponse sends the response.
func (r encodedResponse) VisitSendDepositLinkResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitSendDepositLinkBatchResponse sends the response.
func (r encodedResponse) VisitSendDepositLinkBatchResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCreateClientResponse sends the response.
func (r encodedResponse) VisitCreateClientResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitUpdateClientResponse sends the response.
func (r encodedResponse) VisitUpdateClientResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCreateWebhookResponse sends the response.
func (r encodedResponse) VisitCreateWebhookResponse(c *fiber.Ctx) error { return r.send(c) }
