package middleware

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/fault"
)

// panicked is a recovered panic as the cause of an internal error.
type panicked struct {
	value any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// Stack tells the log where it happened.
func (p *panicked) Stack() string { return p.stack }

// Recover turns a panic into an internal error: one request fails, the process goes on.
func Recover() fiber.Handler {
	return func(c *fiber.Ctx) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fault.ErrInternal.Because(&panicked{value: v, stack: string(debug.Stack())})
			}
		}()
		return c.Next()
	}
}

// Deadline bounds the time that a handler may take. It ends the user context, which everything that waits must watch;
// a handler that comes back with the context's error is answered with service_unavailable.
func Deadline(after time.Duration) fiber.Handler {
	return func(c *fiber.Ctx) error {
		parent := c.UserContext()
		ctx, cancel := context.WithTimeout(parent, after)
		defer cancel()
		c.SetUserContext(ctx)
		err := c.Next()
		c.SetUserContext(parent) // what logs afterwards must not see an ended context
		return err
	}
}

const (
	apiPolicy  = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	hstsPolicy = "max-age=63072000"
)

// SecurityHeaders sets what every answer carries; pages loosen the policy for themselves. hsts where the service is
// reached over https.
func SecurityHeaders(hsts bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set(fiber.HeaderContentSecurityPolicy, apiPolicy)
		if hsts {
			c.Set(fiber.HeaderStrictTransportSecurity, hstsPolicy)
		}
		return c.Next()
	}
}
