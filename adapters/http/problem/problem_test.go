package problem_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/servetest"
)

func TestStatus_EveryKindHasOne(t *testing.T) {
	seen := map[int]bool{}
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		s := problem.HTTPStatus(k)
		require.False(t, seen[s], "two kinds are answered with %d", s)
		seen[s] = true
	}
	require.Equal(t, http.StatusInternalServerError, problem.HTTPStatus(fault.Kind(99)))
}

func TestOf_SaysNothingThatIsNotOurs(t *testing.T) {
	conflict := fault.New(fault.Conflict, "deposit_not_cancellable", "The deposit can no longer be cancelled.")
	raw := errors.New(`error when reading request headers: cannot find http request method in "x-api-key: svc_pk_test_1"`)
	cases := []struct {
		name string
		err  error
		want *fault.Error
	}{
		{"fault", conflict, conflict},
		{"wrapped fault", fmt.Errorf("cancel: %w", conflict), conflict},
		{"fault because of a deadline", conflict.WithCause(context.DeadlineExceeded), conflict},
		{"deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), fault.ErrUnavailable},
		{"internal because of a deadline", fault.ErrInternal.WithCause(context.DeadlineExceeded), fault.ErrUnavailable},
		{"canceled", context.Canceled, fault.ErrUnavailable},
		{"unknown", raw, fault.ErrInternal},
		{"no route", fiber.NewError(404, raw.Error()), fault.ErrRouteNotFound},
		{"no method", fiber.ErrMethodNotAllowed, fault.ErrMethodNotAllowed},
		{"malformed", fiber.NewError(400, raw.Error()), problem.ErrMalformedRequest},
		{"slow", fiber.ErrRequestTimeout, problem.ErrSlowRequest},
		{"large", fiber.ErrRequestEntityTooLarge, fault.ErrPayloadTooLarge},
		{"large headers", fiber.ErrRequestHeaderFieldsTooLarge, fault.ErrPayloadTooLarge},
		{"media type", fiber.ErrUnprocessableEntity, fault.ErrUnsupportedMediaType},
		{"teapot", fiber.ErrTeapot, problem.ErrMalformedRequest},
		{"broken connection", fiber.ErrBadGateway, problem.ErrMalformedRequest},
		{"framework failure", fiber.ErrInternalServerError, fault.ErrInternal},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := problem.FaultOf(c.err)
			require.Equal(t, c.want.Code, f.Code)
			require.Equal(t, c.want.Kind, f.Kind)
			require.NotContains(t, f.Message, "svc_pk_test_1")
		})
	}
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }

// Without its database a process refuses hundreds of requests a second.
func TestHandler_AnOutage_IsOneWarning(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: problem.Handler(problem.Config{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})})
	app.Get("/away", func(*fiber.Ctx) error { return fault.ErrUnavailable.WithCause(errors.New("connection refused")) })
	app.Get("/bug", func(*fiber.Ctx) error { return errors.New("a bug") })
	addr := servetest.ServeApp(t, app)
	for range 20 {
		require.Equal(t, 503, servetest.SendRawRequest(t, addr, get("/away")).Status)
		require.Equal(t, 500, servetest.SendRawRequest(t, addr, get("/bug")).Status)
	}
	require.Equal(t, 1, strings.Count(log.String(), "connection refused"))
	require.Equal(t, 20, strings.Count(log.String(), "a bug"), "each mistake of ours has a line")
}

func TestHandler_AnswersPagesWithPages(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: problem.Handler(problem.Config{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		IsPage: func(c *fiber.Ctx) bool { return !strings.HasPrefix(c.Path(), "/api/") },
		RenderPage: func(c *fiber.Ctx, p problem.ErrorPage) error {
			if strings.HasSuffix(c.Path(), "broken") {
				return errors.New("template failed")
			}
			c.Type("html")
			return c.SendString(
				fmt.Sprintf(`<main data-error-code="%s">%d %s %s</main>`, p.Code, p.Status, p.Message, p.RequestID))
		},
	})})
	gone := fault.New(fault.Gone, "expired", "This link has expired.")
	app.Get("/register", func(c *fiber.Ctx) error {
		_ = c.SendString("half a page")
		return gone.WithRetryAfter(time.Minute)
	})
	app.Get("/broken", func(*fiber.Ctx) error { return gone })
	app.Get("/api/x", func(*fiber.Ctx) error { return gone })
	addr := servetest.ServeApp(t, app)

	a := servetest.SendRawRequest(t, addr, get("/register"))
	require.Equal(t, 410, a.Status)
	require.Equal(t, `<main data-error-code="expired">410 This link has expired. `+a.Header.Get("X-Request-Id")+`</main>`,
		a.Body)
	require.Equal(t, "60", a.Header.Get("Retry-After"))
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))

	require.Contains(t, servetest.SendRawRequest(t, addr, get("/nowhere")).Body, `data-error-code="route_not_found"`)

	for _, path := range []string{"/api/x", "/broken"} { // a page that fails falls back to the envelope
		a = servetest.SendRawRequest(t, addr, get(path))
		require.Equal(t, 410, a.Status)
		require.Equal(t, `{"error":{"code":"expired","message":"This link has expired.","requestId":"`+
			a.Header.Get("X-Request-Id")+`"}}`, a.Body)
	}
	require.Contains(t, log.String(), "template failed")
}
