// Package paymentcallbacks receives the callbacks that the payment provider sends (operations.md, "Callbacks of
// the payment provider"). The route queries neither Postgres nor Redis before the provider's signature is
// verified, and it never calls the provider.
package paymentcallbacks

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/app/payments/callbacks"
)

// Mount registers the route at the path that the provider names. The route has no rate limit per address: the
// provider sends all callbacks from a few addresses, and a limit would cost a Redis command for each forged
// callback.
func Mount(app fiber.Router, s *callbacks.Service) {
	route := s.CallbackRoute()
	app.Post(route.Path, func(c *fiber.Ctx) error {
		if err := s.Receive(c.UserContext(), c.Request().Body(), c.Get(route.Header)); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	})
}
