package problem

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"partnerdeposits/core/id"
)

// HeaderRequestID carries the id of the request on every answer.
const HeaderRequestID = "X-Request-Id"

type requestIDKey struct{}

// RequestID gives the id of this request, `req_` and 26 characters. The first call makes it, sets the header, and puts
// it into the user context for RequestIDOf. An id that the caller sent is never taken over: ours are unique.
func RequestID(c *fiber.Ctx) string {
	if s, ok := c.Locals(requestIDKey{}).(string); ok {
		return s
	}
	s := id.Request.Of(id.ID(uuid.Must(uuid.NewV7())))
	c.Locals(requestIDKey{}, s)
	c.SetUserContext(context.WithValue(c.UserContext(), requestIDKey{}, s))
	c.Set(HeaderRequestID, s)
	return s
}

// RequestIDOf gives the id of the request that ctx belongs to; "" outside a request.
func RequestIDOf(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey{}).(string)
	return s
}
