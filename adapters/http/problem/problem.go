// Package problem is the only place that turns errors into HTTP responses: the envelope
// {"error":{"code","message","requestId"}} of the partner API, or an error page for people.
//
// A caller sees only messages of faults (package core/fault): fiber and fasthttp quote the raw request in their
// errors, API key included.
package problem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/outage"
)

var statuses = map[fault.Kind]int{
	fault.Invalid:              http.StatusBadRequest,
	fault.Unauthenticated:      http.StatusUnauthorized,
	fault.Forbidden:            http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.Conflict:             http.StatusConflict,
	fault.Gone:                 http.StatusGone,
	fault.TooLarge:             http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.Unprocessable:        http.StatusUnprocessableEntity,
	fault.RateLimited:          http.StatusTooManyRequests,
	fault.Unavailable:          http.StatusServiceUnavailable,
	fault.Internal:             http.StatusInternalServerError,
}

// HTTPStatus returns the HTTP status of a kind of fault; 500 for an unknown kind.
func HTTPStatus(k fault.Kind) int {
	if s, ok := statuses[k]; ok {
		return s
	}
	return http.StatusInternalServerError
}

var ErrMalformedRequest = fault.ErrInvalidField.WithField("request", "could not be read as HTTP/1.1")

// ErrSlowRequest is the fault for a request that did not arrive within the read timeout.
var ErrSlowRequest = fault.ErrInvalidField.WithField("request", "did not arrive in full in time")

// frameworkFaults maps the statuses of fiber's own errors to faults; others below 500 become ErrMalformedRequest.
var frameworkFaults = map[int]*fault.Error{
	http.StatusNotFound:              fault.ErrRouteNotFound,
	http.StatusMethodNotAllowed:      fault.ErrMethodNotAllowed,
	http.StatusRequestTimeout:        ErrSlowRequest,
	http.StatusRequestEntityTooLarge: fault.ErrPayloadTooLarge,
	http.StatusRequestHeaderFieldsTooLarge: fault.ErrPayloadTooLarge.WithMessage(
		"The request headers are larger than 16 KiB."),
	http.StatusUnsupportedMediaType: fault.ErrUnsupportedMediaType,
	http.StatusUnprocessableEntity:  fault.ErrUnsupportedMediaType,
	http.StatusServiceUnavailable:   fault.ErrUnavailable,
	// Fiber uses status 502 for a connection that broke during a request.
	http.StatusBadGateway: ErrMalformedRequest,
}

// FaultOf returns the fault with which to answer an error: the one that err wraps; ErrUnavailable for an ended
// context; that of frameworkFaults for fiber's errors; otherwise ErrInternal.
func FaultOf(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fault.ErrUnavailable.WithCause(err)
	}
	if f != nil {
		return f
	}
	var framework *fiber.Error
	if errors.As(err, &framework) {
		if known, ok := frameworkFaults[framework.Code]; ok {
			return known
		}
		if framework.Code < http.StatusInternalServerError {
			return ErrMalformedRequest
		}
	}
	return fault.ErrInternal.WithCause(err)
}

type ErrorPage struct {
	Status    int
	Code      string
	Message   string
	RequestID string
}

type Config struct {
	Logger *slog.Logger

	// RenderPage writes an error page for people; status and headers are set already. With nil every error becomes a
	// JSON envelope.
	RenderPage func(c *fiber.Ctx, p ErrorPage) error

	// Unavailable collects requests that failed with 503, so that an outage does not flood the log. With nil the log
	// gets no line when the outage ends.
	Unavailable *outage.Log

	// IsPage reports whether a failed request is answered with a page and not a JSON envelope. Only called if
	// RenderPage is set.
	IsPage func(c *fiber.Ctx) bool
}

// Handler returns fiber's ErrorHandler, which always writes a response and never returns an error.
func Handler(cfg Config) fiber.ErrorHandler {
	if cfg.Unavailable == nil {
		cfg.Unavailable = outage.New(cfg.Logger)
	}
	return func(c *fiber.Ctx, err error) error {
		f := FaultOf(err)
		status := HTTPStatus(f.Kind)
		requestID := RequestID(c)
		if status >= http.StatusInternalServerError {
			logFailure(cfg, c, f, status, requestID)
		}
		prepare(c, f, status)
		if cfg.RenderPage != nil && cfg.IsPage(c) {
			pageErr := cfg.RenderPage(c, ErrorPage{Status: status, Code: f.Code, Message: f.Message, RequestID: requestID})
			if pageErr == nil {
				return nil
			}
			cfg.Logger.ErrorContext(c.UserContext(), "error page failed", "request_id", requestID, "error", pageErr)
		}
		writeEnvelope(c, f, requestID)
		return nil
	}
}

// prepare drops a half-written response and sets status and headers of the error.
func prepare(c *fiber.Ctx, f *fault.Error, status int) {
	c.Response().ResetBody()
	c.Status(status)
	if !bytes.Contains(c.Response().Header.Peek(fiber.HeaderLink), []byte(`rel="deprecation"`)) {
		c.Response().Header.Del(fiber.HeaderLink)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	// The response to an error before the middleware ran has no security headers yet.
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(seconds)))
	}
}

type ErrorEnvelope struct {
	Error ErrorDetail `json:"error"`
}

type ErrorDetail struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"requestId"`
}

func writeEnvelope(c *fiber.Ctx, f *fault.Error, requestID string) {
	body, err := json.Marshal(ErrorEnvelope{Error: ErrorDetail{Code: f.Code, Message: f.Message, RequestID: requestID}})
	if err != nil { // The error is ignored: encoding three strings as JSON never fails.
		panic("problem: envelope does not encode: " + err.Error())
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Response().SetBodyRaw(body)
}

// stacked is an error with a stack trace, such as a recovered panic.
type stacked interface{ Stack() string }

// logFailure logs a request that failed with status 500 or higher, without its path, since a checkout path is a
// secret.
func logFailure(cfg Config, c *fiber.Ctx, f *fault.Error, status int, requestID string) {
	attrs := []any{"request_id", requestID, "status", status, "code", f.Code, "method", c.Method(), "route",
		c.Route().Path}
	if cause := errors.Unwrap(f); cause != nil {
		attrs = append(attrs, "cause", cause.Error())
		var s stacked
		if errors.As(cause, &s) {
			attrs = append(attrs, "stack", s.Stack())
		}
	}
	if f.Kind == fault.Unavailable {
		cfg.Unavailable.RecordFailure(c.UserContext(), "request failed", attrs...)
		return
	}
	cfg.Logger.ErrorContext(c.UserContext(), "request failed", attrs...)
}

const HeaderRequestID = "X-Request-Id"

type requestIDKey struct{}

// RequestID returns the id of the HTTP request: `req_` and 26 characters. The first call makes it and sets the
// response header. An id sent by the caller is ignored: ids must be unique.
func RequestID(c *fiber.Ctx) string {
	if s, ok := c.Locals(requestIDKey{}).(string); ok {
		return s
	}
	s := id.Request.Of(id.ID(uuid.Must(uuid.NewV7())))
	c.Locals(requestIDKey{}, s)
	c.SetUserContext(ports.WithRequestID(c.UserContext(), s))
	c.Set(HeaderRequestID, s)
	return s
}

// RequestIDOf returns the id of the HTTP request of ctx; "" outside a request.
func RequestIDOf(ctx context.Context) string {
	return ports.RequestIDOf(ctx)
}
