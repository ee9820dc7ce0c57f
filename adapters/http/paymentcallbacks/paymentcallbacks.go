// Package paymentcallbacks receives the payment provider's callbacks (operations.md, "Callbacks of the payment
// provider"). It queries neither Postgres nor Redis before the signature is verified, and never calls the
// provider.
package paymentcallbacks

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/app/payments/callbacks"
)

// Mount registers the provider's route, without a rate limit per address: all callbacks come from a few addresses,
// and a limit would cost a Redis command for each forged one.
func Mount(app fiber.Router, s *callbacks.Service) {
	route := s.CallbackRoute()
	app.Post(route.Path, func(c *fiber.Ctx) error {
		if err := s.ReceiveCallback(c.UserContext(), c.Request().Body(), c.Get(route.Header)); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	})
}
