// Package paymentcallbacks takes the callbacks that the payment provider sends (operations.md, "Callbacks of the
// payment provider"). The route asks neither Postgres nor Redis before the provider's signature is verified, and never
// the provider.
package paymentcallbacks

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/app/payments/callbacks"
)

// Mount adds the route that the provider names. It has no limit per address: the provider sends all callbacks from few
// addresses, and a limit costs a command of Redis for each forged one.
func Mount(app fiber.Router, s *callbacks.Service) {
	route := s.Route()
	app.Post(route.Path, func(c *fiber.Ctx) error {
		if err := s.Take(c.UserContext(), c.Request().Body(), c.Get(route.Header)); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	})
}
