// Package problem is the one place that turns an error into an answer: the envelope of the partner API
// {"error":{"code","message","requestId"}} or, on pages for people, an error page.
//
// What a caller reads was written by us, in a fault. The text of any other error, fiber's included, stays in the log:
// fiber and fasthttp quote the raw request in theirs, API key and all.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/fault"
)

// statuses is the one table from kinds of fault to HTTP statuses.
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

// Status gives the HTTP status that a kind is answered with; 500 for a kind that is not in the table.
func Status(k fault.Kind) int {
	if s, ok := statuses[k]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// ErrMalformed answers what could not be read as an HTTP request.
var ErrMalformed = fault.ErrInvalidField.WithField("request", "could not be read as HTTP/1.1")

// ErrSlowRequest answers a request that did not arrive in full within the read timeout.
var ErrSlowRequest = fault.ErrInvalidField.WithField("request", "did not arrive in full in time")

// frameworkFaults maps the errors that fiber makes itself. Any other of them below 500 is ErrMalformed.
var frameworkFaults = map[int]*fault.Error{
	http.StatusNotFound:                    fault.ErrRoute,
	http.StatusMethodNotAllowed:            fault.ErrMethod,
	http.StatusRequestTimeout:              ErrSlowRequest,
	http.StatusRequestEntityTooLarge:       fault.ErrTooLarge,
	http.StatusRequestHeaderFieldsTooLarge: fault.ErrTooLarge.WithMessage("The request headers are larger than 16 KiB."),
	http.StatusUnsupportedMediaType:        fault.ErrMediaType,
	http.StatusUnprocessableEntity:         fault.ErrMediaType,
	http.StatusServiceUnavailable:          fault.ErrUnavailable,
	http.StatusBadGateway:                  ErrMalformed, // fiber's name for a connection that broke while being read
}

// Of finds what may be said about err: its fault; a deadline that passed is ErrUnavailable; what fiber made is
// translated; the rest is ErrInternal.
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

// Page is what an error page has to say.
type Page struct {
	Status    int
	Code      string
	Message   string
	RequestID string
}

// Config of Handler.
type Config struct {
	Logger *slog.Logger

	// RenderPage writes the error page of the surfaces for people; status and headers are set already. Where it is nil,
	// every error is an envelope.
	RenderPage func(c *fiber.Ctx, p Page) error

	// IsPage tells which requests are answered with a page. Called only where RenderPage is set.
	IsPage func(c *fiber.Ctx) bool
}

// Handler makes fiber's ErrorHandler. It always writes an answer and never returns an error.
func Handler(cfg Config) fiber.ErrorHandler {
	return func(c *fiber.Ctx, err error) error {
		f := Of(err)
		status := Status(f.Kind)
		requestID := RequestID(c)
		if status >= http.StatusInternalServerError {
			logFailure(cfg.Logger, c, f, status, requestID)
		}
		prepare(c, f, status)
		if cfg.RenderPage != nil && cfg.IsPage(c) {
			pageErr := cfg.RenderPage(c, Page{Status: status, Code: f.Code, Message: f.Message, RequestID: requestID})
			if pageErr == nil {
				return nil
			}
			cfg.Logger.Error("error page failed", "request_id", requestID, "error", pageErr)
		}
		writeEnvelope(c, f, requestID)
		return nil
	}
}

// prepare drops what a handler had begun to answer and sets what every error carries.
func prepare(c *fiber.Ctx, f *fault.Error, status int) {
	c.Response().ResetBody()
	c.Status(status)
	c.Response().Header.Del(fiber.HeaderLink)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff") // also on what failed ahead of the middleware
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(seconds)))
	}
}

// Envelope is the body of every error of the partner API.
type Envelope struct {
	Error Detail `json:"error"`
}

// Detail is what an envelope holds.
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

// stacked is a cause that knows where it happened: a recovered panic.
type stacked interface{ Stack() string }

// logFailure writes the one line of a failed request. The path is left out: a checkout path is a secret.
func logFailure(log *slog.Logger, c *fiber.Ctx, f *fault.Error, status int, requestID string) {
	attrs := []any{"request_id", requestID, "status", status, "code", f.Code, "method", c.Method(), "route", c.Route().Path}
	if cause := errors.Unwrap(f); cause != nil {
		attrs = append(attrs, "cause", cause.Error())
		var s stacked
		if errors.As(cause, &s) {
			attrs = append(attrs, "stack", s.Stack())
		}
	}
	if f.Kind == fault.Unavailable {
		log.Warn("request failed", attrs...)
		return
	}
	log.Error("request failed", attrs...)
}
