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

// request holds what the checks have established about an API request.
type request struct {
	caller partner.Caller
	apiKey secret.Text // The API key as sent; only for requests that explain a signature.
	// Further rate limits of the request, beside the partner's general one.
	more  []ports.LimitRule
	path  string
	query string
	// The idempotency key, which checkIdempotencyKey sets; nil if absent.
	key *ports.IdempotencyKey
	// Whether the use case, which stores or refuses under the idempotency key itself, has been called.
	reachedUseCase bool
}

type requestKey struct{}

// requestOf returns the facts about the API request that authenticate stored in ctx.
func requestOf(ctx context.Context) *request {
	// This type assertion cannot fail, since every route runs authenticate first.
	return ctx.Value(requestKey{}).(*request)
}

// authenticate checks the API key and stores the calling partner in the user context.
//
// Returns missing_api_key, invalid_api_key, api_key_revoked or rate_limited.
func (a *api) authenticate(c *fiber.Ctx) error {
	caller, err := a.Partners.Authenticate(c.UserContext(), c.Get(headerAPIKey), c.Get(fiber.HeaderAuthorization),
		ui.NetworkOfIP(c.IP()))
	if errors.Is(err, fault.ErrRateLimited) {
		a.OnRateLimited()
		tellLimit(c, partners.UnknownKeysLimitName, partners.UnknownKeysPerMinute, 0, fault.FromError(err).RetryAfter)
	}
	if err != nil {
		return err
	}
	middleware.AddSenderToAccessLog(c, slog.String("partner", id.Partner.Of(caller.Partner.ID)),
		slog.String("key", id.APIKey.Of(caller.Key.ID)))
	req := &request{caller: caller, path: c.Path(), query: string(c.Request().URI().QueryString())}
	c.SetUserContext(context.WithValue(c.UserContext(), requestKey{}, req))
	return c.Next()
}

// countExplanation also counts a request under the limit for explanations of signatures, and keeps its API key.
func (a *api) countExplanation(c *fiber.Ctx) error {
	req := requestOf(c.UserContext())
	key, err := partner.APIKeyFromHeaders(a.Environment, c.Get(headerAPIKey), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	req.apiKey = secret.Text(key)
	req.more = []ports.LimitRule{partners.SignatureExplanationLimitRule(req.caller.Partner, a.ExplanationsPerMinute)}
	return c.Next()
}

// countAlso returns a handler that adds a further rate limit of its partner to a request.
func countAlso(rule func(partner.Partner) ports.LimitRule) fiber.Handler {
	return func(c *fiber.Ctx) error {
		req := requestOf(c.UserContext())
		req.more = []ports.LimitRule{rule(req.caller.Partner)}
		return c.Next()
	}
}

// limitRate counts the request against the partner's rate limits and reports the rest in headers.
//
// Returns rate_limited.
func (a *api) limitRate(c *fiber.Ctx) error {
	req := requestOf(c.UserContext())
	rules := append(a.Partners.LimitRulesOf(req.caller.Partner, !reads(c.Method())), req.more...)
	d := a.Limiter.Allow(c.UserContext(), rules...)
	tellLimit(c, d.Name, d.Max, d.Remaining, d.Reset)
	if !d.Allowed {
		a.OnRateLimited()
		return fault.ErrRateLimited.WithRetryAfter(max(d.RetryAfter, time.Second))
	}
	return c.Next()
}

// tellLimit sets the headers RateLimit and RateLimit-Policy for a rate limit per minute.
func tellLimit(c *fiber.Ctx, name string, most, remaining int, reset time.Duration) {
	policy := `"` + name + `"`
	c.Set(headerRateLimitPolicy, policy+";q="+strconv.Itoa(most)+";w=60")
	c.Set(headerRateLimit, policy+";r="+strconv.Itoa(remaining)+";t="+strconv.Itoa(secondsRoundedUp(reset)))
}

// reads reports whether an HTTP method changes nothing: GET, HEAD or OPTIONS.
func reads(method string) bool {
	return method == fiber.MethodGet || method == fiber.MethodHead || method == fiber.MethodOptions
}

// secondsRoundedUp returns whole seconds, rounded up so that a caller waits long enough.
func secondsRoundedUp(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// checkIdempotencyKey reads and looks up the idempotency key between the JSON and the field checks (api.md §1,
// "Codes"), so a stored response or a reused key comes before field errors.
//
// Returns invalid_idempotency_key, idempotency_key_in_use or idempotency_key_reused.
func (a *api) checkIdempotencyKey(c *fiber.Ctx) error {
	req := requestOf(c.UserContext())
	sent := c.Request().Header.PeekAll(headerIdempotencyKey)
	if len(sent) == 0 {
		return c.Next()
	}
	key, err := idempotent.ParseKey(string(sent[0]))
	if err != nil {
		return err
	}
	if len(sent) > 1 {
		return ports.ErrInvalidIdempotencyKey
	}
	req.key = &ports.IdempotencyKey{
		Owner: req.caller.Partner.ID, Route: c.Method() + " " + strings.TrimRight(req.path, "/"), Key: key,
		Fingerprint: idempotent.Fingerprint(jsonbody.ParsedObject(c)),
	}
	a.Idempotent.LookUp(c.UserContext(), req.key)
	err = c.Next()
	if err == nil || req.reachedUseCase {
		return err
	}
	response, err := a.Idempotent.ReplayOrRefuse(c.UserContext(), req.key, a.Clock.Now(), err)
	if err != nil {
		return err
	}
	return encodedResponse(response).send(c)
}

// keyedCall returns the request's idempotency key with the function that encodes the result.
func keyedCall[T any](ctx context.Context, encode func(T) (idempotent.Response, error)) idempotent.KeyAndEncoder[T] {
	req := requestOf(ctx)
	req.reachedUseCase = true
	return idempotent.KeyAndEncoder[T]{Key: req.key, Encode: encode}
}

// encodeResponse renders the JSON that is stored under the idempotency key and sent again on a replay.
func encodeResponse(status int, body any) (idempotent.Response, error) {
	encoded, err := jsonresponse.Encode(body)
	return idempotent.Response{Code: status, Body: encoded}, err
}

// encodedResponse is the response of a route with idempotency keys: freshly encoded, or replayed.
type encodedResponse idempotent.Response

func (r encodedResponse) send(c *fiber.Ctx) error {
	failpoint.Hit("api.answering")
	if r.Replayed {
		c.Set(headerReplayed, "true")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Status(r.Code).Send(r.Body)
}

func (r encodedResponse) VisitCreateDepositResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitCancelDepositResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitReleaseDepositResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitCaptureDepositResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitSendDepositLinkResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitSendDepositLinkBatchResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitCreateClientResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitUpdateClientResponse(c *fiber.Ctx) error { return r.send(c) }

func (r encodedResponse) VisitCreateWebhookResponse(c *fiber.Ctx) error { return r.send(c) }
