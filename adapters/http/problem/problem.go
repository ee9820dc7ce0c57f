// Package problem alone turns errors into HTTP responses: the envelope {"error":{"code","message","requestId"}} of the
// partner API, or an error page for people.
//
// A caller reads only messages of faults (package core/fault). The text of any other error stays in the log: fiber and
// fasthttp quote the raw request in their errors, API key included.
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

// statuses maps every kind of fault to its HTTP status.
var statuses = map[fault.Kind]int{
	fault.Invalid:          http.StatusBadRequest,
	fault.Unauthenticated:  http.StatusUnauthorized,
	fault.Forbidden:        http.StatusForbidden,
	fault.NotFound:         http.StatusNotFound,
	fault.MethodNotAllowed: http.StatusMethodNotAllowed,
	fault.Conflict:         http.StatusConflict,
	fault.Gone:             http.StatusGone,
	fault.TooLarge:         http.StatusRequestEntityTooLarge,
	fault.Unsupported:      http.StatusUnsupportedMediaType,
	fault.Unprocessable:    http.StatusUnprocessableEntity,
	fault.RateLimited:      http.StatusTooManyRequests,
	fault.Unavailable:      http.StatusServiceUnavailable,
	fault.Internal:         http.StatusInternalServerError,
}

// Status returns the HTTP status of a kind of fault; 500 for an unknown kind.
func Status(k fault.Kind) int {
	if s, ok := statuses[k]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// ErrMalformed answers bytes that could not be read as an HTTP request.
var ErrMalformed = fault.ErrInvalidField.WithField("request", "could not be read as HTTP/1.1")

// ErrSlowRequest answers a request that did not arrive in full within the read timeout.
var ErrSlowRequest = fault.ErrInvalidField.WithField("request", "did not arrive in full in time")

// frameworkFaults maps the statuses of fiber's own errors. Any other status below 500 becomes ErrMalformed.
var frameworkFaults = map[int]*fault.Error{
	http.StatusNotFound:                    fault.ErrRoute,
	http.StatusMethodNotAllowed:            fault.ErrMethod,
	http.StatusRequestTimeout:              ErrSlowRequest,
	http.StatusRequestEntityTooLarge:       fault.ErrTooLarge,
	http.StatusRequestHeaderFieldsTooLarge: fault.ErrTooLarge.WithMessage("The request headers are larger than 16 KiB."),
	http.StatusUnsupportedMediaType:        fault.ErrMediaType,
	http.StatusUnprocessableEntity:         fault.ErrMediaType,
	http.StatusServiceUnavailable:          fault.ErrUnavailable,
	http.StatusBadGateway:                  ErrMalformed, // fiber's status for a connection that broke during the read
}

// Of returns the fault to answer err with: the fault inside err; ErrUnavailable for an ended context; frameworkFaults
// for an error of fiber; ErrInternal for any other error.
func Of(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fault.ErrUnavailable.Because(err)
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
			return ErrMalformed
		}
	}
	return fault.ErrInternal.Because(err)
}

// Page is the content of an error page.
type Page struct {
	Status    int
	Code      string
	Message   string
	RequestID string
}

// Config of Handler.
type Config struct {
	Logger *slog.Logger

	// RenderPage writes an error page for people; status and headers are set already. With a nil RenderPage every error
	// becomes an envelope.
	RenderPage func(c *fiber.Ctx, p Page) error

	// Unavailable takes the requests that failed with 503, so that an outage does not flood the log. With a nil
	// Unavailable the log has no line about the end of an outage.
	Unavailable *outage.Log

	// IsPage reports whether a failed request is answered with a page. Only needed with RenderPage.
	IsPage func(c *fiber.Ctx) bool
}

// Handler returns fiber's ErrorHandler. The handler always writes a response and never returns an error.
func Handler(cfg Config) fiber.ErrorHandler {
	if cfg.Unavailable == nil {
		cfg.Unavailable = outage.New(cfg.Logger)
	}
	return func(c *fiber.Ctx, err error) error {
		f := Of(err)
		status := Status(f.Kind)
		requestID := RequestID(c)
		if status >= http.StatusInternalServerError {
			logFailure(cfg, c, f, status, requestID)
		}
		prepare(c, f, status)
		if cfg.RenderPage != nil && cfg.IsPage(c) {
			pageErr := cfg.RenderPage(c, Page{Status: status, Code: f.Code, Message: f.Message, RequestID: requestID})
			if pageErr == nil {
				return nil
			}
			cfg.Logger.ErrorContext(c.UserContext(), "error page failed", "request_id", requestID, "error", pageErr)
		}
		writeEnvelope(c, f, requestID)
		return nil
	}
}

// prepare drops a half-written response and sets the status and headers of the error.
func prepare(c *fiber.Ctx, f *fault.Error, status int) {
	c.Response().ResetBody()
	c.Status(status)
	if !bytes.Contains(c.Response().Header.Peek(fiber.HeaderLink), []byte(`rel="deprecation"`)) {
		c.Response().Header.Del(fiber.HeaderLink)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff") // an error ahead of the middleware has no security headers yet
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(seconds)))
	}
}

// Envelope is the body of every error of the partner API.
type Envelope struct {
	Error Detail `json:"error"`
}

// Detail is the content of an envelope.
type Detail struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"requestId"`
}

func writeEnvelope(c *fiber.Ctx, f *fault.Error, requestID string) {
	body, err := json.Marshal(Envelope{Error: Detail{Code: f.Code, Message: f.Message, RequestID: requestID}})
	if err != nil { // three strings always encode
		panic("problem: envelope does not encode: " + err.Error())
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Response().SetBodyRaw(body)
}

// stacked is a cause with a stack trace: a recovered panic.
type stacked interface{ Stack() string }

// logFailure logs a request that failed with 500 or more. The line has no path: a checkout path is a secret.
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
		cfg.Unavailable.Failed(c.UserContext(), "request failed", attrs...)
		return
	}
	cfg.Logger.ErrorContext(c.UserContext(), "request failed", attrs...)
}

// HeaderRequestID carries the id of the request on every response.
const HeaderRequestID = "X-Request-Id"

type requestIDKey struct{}

// RequestID returns the id of this request, `req_` and 26 characters. The first call makes the id, sets the header and
// puts the id into the user context for RequestIDOf. An id sent by the caller is ignored: ids must be unique.
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

// RequestIDOf returns the id of the request that ctx belongs to; "" outside a request.
func RequestIDOf(ctx context.Context) string {
	return ports.RequestIDOf(ctx)
}
