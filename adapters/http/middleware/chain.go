package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/fault"
)

// RequestID returns the middleware that makes every request's id before any other handler (problem.RequestID).
func RequestID() fiber.Handler {
	return func(c *fiber.Ctx) error {
		problem.RequestID(c)
		return c.Next()
	}
}

type whoKey struct{}

// AddSenderToAccessLog adds to a request's access log line the ids of partner and API key, or operator and
// account.
func AddSenderToAccessLog(c *fiber.Ctx, who ...slog.Attr) { c.Locals(whoKey{}, who) }

// AccessLog returns the middleware that logs every request and passes the same facts to observe, which may be nil.
// The line has neither path nor query: a checkout path and a connect query are credentials. It also renders the
// errors of later handlers, so the logged status is the final one.
func AccessLog(log *slog.Logger, observe func(RequestObservation)) fiber.Handler {
	var routes routeNames
	return func(c *fiber.Ctx) error {
		start := time.Now()
		method := c.Method()
		surface := SurfaceOfPath(c.Path())
		if err := c.Next(); err != nil {
			if err := c.App().ErrorHandler(c, err); err != nil {
				return err
			}
		}
		o := RequestObservation{
			Surface: surface, Route: routes.of(c, method), Method: boundedMethod(method),
			Status: c.Response().StatusCode(), Duration: time.Since(start), TraceID: recordedTrace(c.UserContext()),
		}
		observeSent(c.Context(), o, observe)
		who, _ := c.Locals(whoKey{}).([]slog.Attr)
		log.LogAttrs(c.UserContext(), slog.LevelInfo, "request", append([]slog.Attr{
			slog.String("request_id", problem.RequestID(c)),
			slog.String("surface", o.Surface),
			slog.String("method", o.Method),
			slog.String("route", o.Route),
			slog.Int("status", o.Status),
			slog.Float64("duration_ms", float64(o.Duration.Microseconds())/1000),
			slog.Int("bytes_in", bytesIn(c)),
			slog.Int("bytes_out", bytesOut(c)),
			slog.String("remote_ip", c.IP()),
		}, who...)...)
		return nil
	}
}

// recordedTrace returns the id of the trace that records the request of ctx; "" for none.
func recordedTrace(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		return span.TraceID().String()
	}
	return ""
}

// bytesOut returns the response body's length for the access log; 0 for a stream of unknown length, sent after the
// line is logged.
func bytesOut(c *fiber.Ctx) int {
	if c.Response().IsBodyStream() {
		if p, ok := c.Response().BodyStream().(*minRateBody); ok {
			return p.size
		}
		return 0
	}
	return len(c.Response().Body())
}

type panicError struct {
	value any
	stack string
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func (p *panicError) Stack() string { return p.stack }

// Recover returns the middleware that turns a handler's panic into an internal error, so that the process
// continues.
func Recover() fiber.Handler {
	return func(c *fiber.Ctx) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fault.ErrInternal.WithCause(&panicError{value: v, stack: string(debug.Stack())})
			}
		}()
		return c.Next()
	}
}

const (
	apiPolicy  = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	hstsPolicy = "max-age=63072000"
)

// SecurityHeaders returns the middleware that sets every response's security headers; pages set their own
// Content-Security-Policy. hsts adds Strict-Transport-Security, for a service reached over https.
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

// LimitHandlerTime returns the middleware that ends the request's user context after a time. A handler that
// returns the context's error is answered with service_unavailable.
func LimitHandlerTime(after time.Duration) fiber.Handler {
	return func(c *fiber.Ctx) error {
		parent, after := c.UserContext(), after
		if UploadBodyOf(c) != nil {
			after = UploadTimeout
		}
		ctx, cancel := context.WithTimeout(parent, after)
		defer cancel()
		c.SetUserContext(ctx)
		err := c.Next()
		// AccessLog must not log with an ended context, so its parent replaces it.
		c.SetUserContext(parent)
		return err
	}
}

// TraceRequests returns the middleware that records every request as a span named after its route, without path
// and query: both can be credentials.
func TraceRequests() fiber.Handler {
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
		span.SetAttributes(attribute.String("surface", SurfaceOfPath(c.Path())),
			attribute.String("http.route", c.Route().Path))
		if err != nil || c.Response().StatusCode() >= fiber.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		return err
	}
}
