package partnerapi

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

const (
	headerAPIKey          = "X-Api-Key"
	headerRateLimit       = "RateLimit"
	headerRateLimitPolicy = "RateLimit-Policy"
)

// call is what the middleware found out about a request, for the handlers.
type call struct {
	caller partner.Caller
	path   string
	query  string
	key    *ports.IdempotencyKey // nil: none sent
	// decided tells that the request has reached its use case, which has weighed its key.
	decided bool
}

type callKey struct{}

// callOf gives the call that authenticate put into ctx.
func callOf(ctx context.Context) *call {
	return ctx.Value(callKey{}).(*call) // every route is behind authenticate
}

// authenticate finds out who calls.
//
// Returns missing_api_key, invalid_api_key or api_key_revoked.
func (a *api) authenticate(c *fiber.Ctx) error {
	caller, err := a.Partners.Authenticate(c.UserContext(), c.Get(headerAPIKey), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	found := &call{caller: caller, path: c.Path(), query: string(c.Request().URI().QueryString())}
	c.SetUserContext(context.WithValue(c.UserContext(), callKey{}, found))
	return c.Next()
}

// limit counts the request and tells the caller where it stands.
//
// Returns rate_limited.
func (a *api) limit(c *fiber.Ctx) error {
	p := callOf(c.UserContext()).caller.Partner
	limits := a.Partners.LimitsOf(p)
	counted := "partner:" + p.ID.Encode()
	rules := []ports.LimitRule{{Name: "default", Key: counted, PerMinute: limits.PerMinute}}
	if !reads(c.Method()) {
		rules = append(rules, ports.LimitRule{Name: "writes", Key: counted, PerMinute: limits.WritesPerMinute})
	}
	d := a.Limiter.Allow(c.UserContext(), rules...)
	policy := `"` + d.Name + `"`
	c.Set(headerRateLimitPolicy, policy+";q="+strconv.Itoa(d.PerMinute)+";w=60")
	c.Set(headerRateLimit, policy+";r="+strconv.Itoa(d.Remaining)+";t="+strconv.Itoa(seconds(d.Reset)))
	if !d.Allowed {
		a.OnRateLimited()
		return fault.ErrRateLimited.WithRetryAfter(max(d.RetryAfter, time.Second))
	}
	return c.Next()
}

func reads(method string) bool {
	return method == fiber.MethodGet || method == fiber.MethodHead || method == fiber.MethodOptions
}

// seconds rounds up, so that who waits as long as told has waited long enough.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
