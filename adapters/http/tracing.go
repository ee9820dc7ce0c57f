package http

import (
	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"partnerdeposits/adapters/http/middleware"
)

// tracing makes a span of every request, named after its route. Neither path nor query is in it: both can be credentials.
// Where no provider was set up a span costs next to nothing.
func tracing() fiber.Handler {
	tracer := otel.Tracer("partnerdeposits/http")
	return func(c *fiber.Ctx) error {
		parent := c.UserContext()
		ctx, span := tracer.Start(
			otel.GetTextMapPropagator().Extract(parent, propagation.HeaderCarrier(c.GetReqHeaders())),
			c.Method(), trace.WithSpanKind(trace.SpanKindServer),
		)
		defer span.End()
		c.SetUserContext(ctx)
		err := c.Next()
		c.SetUserContext(parent)
		span.SetName(c.Method() + " " + c.Route().Path)
		span.SetAttributes(attribute.String("surface", middleware.Surface(c.Path())), attribute.String("http.route", c.Route().Path))
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		return err
	}
}
