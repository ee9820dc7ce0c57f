package middleware_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/servetest"
)

const requestIDPattern = `^req_[0-7][0-9a-hjkmnp-tv-z]{25}$`

// bench is a server with all middleware and a few routes.
type bench struct {
	addr string
	log  *syncBuffer

	draining atomic.Bool

	mu       sync.Mutex
	observed []middleware.RequestObservation
}

func (b *bench) observe(o middleware.RequestObservation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observed = append(b.observed, o)
}

func (b *bench) seen() []middleware.RequestObservation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]middleware.RequestObservation(nil), b.observed...)
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func setup(t *testing.T, tune ...func(*fiber.Config)) *bench {
	t.Helper()
	b := &bench{log: &syncBuffer{}}
	log := slog.New(slog.NewJSONHandler(b.log, nil))
	cfg := middleware.FiberConfig(middleware.ServerConfig{ErrorHandler: problem.Handler(problem.Config{Logger: log})})
	for _, f := range tune {
		f(&cfg)
	}
	app := fiber.New(cfg)
	middleware.HardenServer(app, middleware.ServerHooks{Observe: b.observe, Draining: b.draining.Load})
	app.Use(middleware.RequestID(), middleware.AccessLog(log, b.observe), middleware.Recover(),
		middleware.SecurityHeaders(true),
		middleware.LimitHandlerTime(50*time.Millisecond), middleware.RefuseSmuggling(), middleware.Compress(),
		jsonbody.ParseBody)

	app.Post("/api/echo/:id", func(c *fiber.Ctx) error {
		echo, err := json.Marshal(jsonbody.ParsedObject(c)) // Numbers of a request are json.Number, which no response has.
		if err != nil {
			return err
		}
		return c.Send(echo)
	})
	app.Get("/api/echo/:id", func(c *fiber.Ctx) error { return c.SendString(c.Params("id")) })
	app.Get("/api/panic", func(*fiber.Ctx) error { panic("kaboom svc_pk_test_secret") })
	app.Get("/api/unknown", func(*fiber.Ctx) error { return errors.New("pq: password authentication failed") })
	app.Get("/api/slow", func(c *fiber.Ctx) error {
		<-c.UserContext().Done()
		return fmt.Errorf("query: %w", c.UserContext().Err())
	})
	app.Get("/api/busy", func(*fiber.Ctx) error { return fault.ErrRateLimited.WithRetryAfter(1500 * time.Millisecond) })
	app.Get("/api/who", func(c *fiber.Ctx) error {
		middleware.AddSenderToAccessLog(c, slog.String("partner", "prt_1"), slog.String("key", "key_1"))
		return fault.ErrUnavailable
	})
	app.Get("/api/context", func(c *fiber.Ctx) error { return c.SendString(problem.RequestIDOf(c.UserContext())) })
	app.Get("/checkout/:token", func(c *fiber.Ctx) error { return c.SendString("a < b & c") })
	b.addr = servetest.ServeApp(t, app)
	return b
}

// requireEnvelope checks that a is an error envelope and nothing more.
func requireEnvelope(t *testing.T, a servetest.Answer, status int, code string) problem.ErrorDetail {
	t.Helper()
	require.Equal(t, status, a.Status, a.Body)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	var raw map[string]map[string]string
	require.NoError(t, json.Unmarshal([]byte(a.Body), &raw), a.Body)
	require.Len(t, raw, 1)
	require.Len(t, raw["error"], 3)
	var e problem.ErrorEnvelope
	require.NoError(t, json.Unmarshal([]byte(a.Body), &e))
	require.Equal(t, code, e.Error.Code)
	require.NotEmpty(t, e.Error.Message)
	require.Regexp(t, requestIDPattern, e.Error.RequestID)
	require.Equal(t, e.Error.RequestID, a.Header.Get("X-Request-Id"))
	return e.Error
}

func request(method, path string, headers ...string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

func post(body string, headers ...string) string {
	return request("POST", "/api/echo/1", append(headers, fmt.Sprintf("Content-Length: %d", len(body)))...) + body
}

const jsonType = "Content-Type: application/json"

func TestEveryRefusal_IsEnveloped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const key = "x-api-key: svc_pk_test_topsecret"
	chunked := func(size int) string {
		return request("POST", "/api/echo/1", jsonType, "Transfer-Encoding: chunked") +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, strings.Repeat("a", size))
	}
	cases := []struct {
		name, request, code string
		status              int
	}{
		{"unknown route", request("GET", "/api/nothing"), "route_not_found", 404},
		{"unknown page", request("GET", "/nothing"), "route_not_found", 404},
		{"path with markup", request("GET", "/api/<script>"), "route_not_found", 404},
		{"wrong method", request("DELETE", "/api/echo/1"), "method_not_allowed", 405},
		{"rare method", request("TRACE", "/api/echo/1"), "method_not_allowed", 405},
		{"unknown method", request("BREW", "/api/echo/1", key), "method_not_allowed", 405},
		{"lower-case method", request("get", "/api/echo/1", key), "method_not_allowed", 405},
		{"no request", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "invalid_field", 400},
		{"no method", " /api HTTP/1.1\r\nHost: x\r\n" + key + "\r\n\r\n", "invalid_field", 400},
		{"blank in a header name", request("GET", "/api/echo/1", key, "Foo : bar"), "invalid_field", 400},
		{"content length is no number", request("POST", "/api/echo/1", key, "Content-Length: ten"), "invalid_field", 400},
		{"content length is negative", request("POST", "/api/echo/1", key, "Content-Length: -1"), "invalid_field", 400},
		{"two content lengths", request("POST", "/api/echo/1", jsonType, "Content-Length: 2", "Content-Length: 2") + "{}",
			"invalid_field", 400},
		{"content length and chunks", request("POST", "/api/echo/1", jsonType, "Content-Length: 4",
			"Transfer-Encoding: chunked") + "2\r\n{}\r\n0\r\n\r\n", "invalid_field", 400},
		{"chunks and content length", request("POST", "/api/echo/1", jsonType, "transfer-encoding: chunked",
			"content-length: 4") + "2\r\n{}\r\n0\r\n\r\n", "invalid_field", 400},
		{"other transfer encoding", request("POST", "/api/echo/1", jsonType, "Transfer-Encoding: gzip, chunked") +
			"2\r\n{}\r\n0\r\n\r\n", "invalid_field", 400},
		{"broken chunk", request("POST", "/api/echo/1", jsonType, "Transfer-Encoding: chunked") + "zz\r\n{}\r\n0\r\n\r\n",
			"invalid_field", 400},
		{"no host", "GET /api/echo/1 HTTP/1.1\r\n\r\n", "invalid_field", 400},
		{"large headers", request("GET", "/api/echo/1", key, "Foo: "+strings.Repeat("a", 20<<10)), "payload_too_large", 413},
		{"large body", post(`{"a":"`+strings.Repeat("a", 100<<10)+`"}`, jsonType), "payload_too_large", 413},
		{"one byte too many", post(`{"a":"`+strings.Repeat("a", 64<<10-7)+`"}`, jsonType), "payload_too_large", 413},
		{"large chunked body", chunked(100 << 10), "payload_too_large", 413},
		{"gzip", post(`{}`, jsonType, "Content-Encoding: gzip"), "unsupported_media_type", 415},
		{"identity", post(`{}`, jsonType, "Content-Encoding: identity"), "unsupported_media_type", 415},
		{"encoding without a body", request("POST", "/api/echo/1", "Content-Encoding: br", "Content-Length: 0"),
			"unsupported_media_type", 415},
		{"form", post(`a=1`, "Content-Type: application/x-www-form-urlencoded"), "unsupported_media_type", 415},
		{"multipart", post("--x\r\n", "Content-Type: multipart/form-data; boundary=x"), "unsupported_media_type", 415},
		{"text", post(`{}`, "Content-Type: text/json"), "unsupported_media_type", 415},
		{"no content type", post(`{}`), "unsupported_media_type", 415},
		{"other charset", post(`{}`, jsonType+"; charset=latin1"), "unsupported_media_type", 415},
		{"broken JSON", post(`{`, jsonType), "invalid_json", 400},
		{"list", post(`[]`, jsonType), "invalid_json", 400},
		{"duplicate key", post(`{"a":1,"a":2}`, jsonType), "invalid_json", 400},
		{"NUL", post(`{"a":{"b":"\u0000"}}`, jsonType), "invalid_field", 400},
		{"panic", request("GET", "/api/panic"), "internal_error", 500},
		{"unknown error", request("GET", "/api/unknown"), "internal_error", 500},
		{"deadline", request("GET", "/api/slow"), "service_unavailable", 503},
		{"fault", request("GET", "/api/busy"), "rate_limited", 429},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := servetest.SendRawRequest(t, b.addr, c.request)
			detail := requireEnvelope(t, a, c.status, c.code)
			for _, leak := range []string{"topsecret", "kaboom", "pq:", "fasthttp", "goroutine", "script"} {
				require.NotContains(t, a.Body, leak)
			}
			require.LessOrEqual(t, len(detail.Message), 200)
		})
	}
	t.Cleanup(func() { require.NotContains(t, b.log.String(), "topsecret") })
}

func TestBody_UpTo64KiB_IsAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := `{"a":"` + strings.Repeat("a", 64<<10-8) + `"}`
	require.Len(t, body, 64<<10)
	for _, contentType := range []string{"application/json", "Application/JSON; charset=UTF-8",
		`application/problem+json;charset="utf-8"`} {
		a := servetest.SendRawRequest(t, b.addr, post(body, "Content-Type: "+contentType))
		require.Equal(t, 200, a.Status, a.Body)
		require.Equal(t, body, a.Body)
	}
}

func TestRefusedBody_LeavesTheConnectionUsable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := servetest.Dial(t, b.addr)
	c.Send(post(strings.Repeat("a", 100<<10), jsonType))
	requireEnvelope(t, c.Receive("POST"), 413, "payload_too_large")
	c.Send(post(`{"a":1}`, jsonType))
	require.Equal(t, `{"a":1}`, c.Receive("POST").Body)
}

// An ordinary client that pushes megabytes reads the refusal, not a broken connection.
func TestHugeBody_FromAnOrdinaryClient_GetsItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 3 {
		res, err := http.Post("http://"+b.addr+"/api/echo/1", "application/json",
			io.LimitReader(zeros{}, 8<<20)) //nolint:noctx // bounded by the server
		require.NoError(t, err)
		require.Equal(t, 413, res.StatusCode)
		require.NoError(t, res.Body.Close())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestRequestID_IsUniqueAndOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := servetest.Dial(t, b.addr)
	seen := map[string]bool{}
	for range 20 {
		c.Send(request("GET", "/api/context", "X-Request-Id: mine"))
		a := c.Receive("GET")
		require.Regexp(t, requestIDPattern, a.Body)
		require.Equal(t, a.Body, a.Header.Get("X-Request-Id"))
		require.False(t, seen[a.Body])
		seen[a.Body] = true
	}
	c.Send("nonsense\r\n\r\n") // answered by Harden, ahead of the middleware
	id := requireEnvelope(t, c.Receive("GET"), 400, "invalid_field").RequestID
	require.False(t, seen[id])
}

func TestFailure_IsLoggedOnceWithItsCause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := requireEnvelope(t, servetest.SendRawRequest(t, b.addr, request("GET", "/api/unknown")), 500,
		"internal_error").RequestID
	panicID := requireEnvelope(t, servetest.SendRawRequest(t, b.addr, request("GET", "/api/panic")), 500,
		"internal_error").RequestID
	requireEnvelope(t, servetest.SendRawRequest(t, b.addr, request("GET", "/api/nothing")), 404, "route_not_found")

	var failures []map[string]any
	require.Eventually(t, func() bool {
		failures = linesOf(t, b.log.String(), "request failed")
		return len(failures) == 2
	}, 5*time.Second, time.Millisecond)
	require.Equal(t, id, failures[0]["request_id"])
	require.Equal(t, "pq: password authentication failed", failures[0]["cause"])
	require.Equal(t, "/api/unknown", failures[0]["route"])
	require.Equal(t, panicID, failures[1]["request_id"])
	require.Contains(t, failures[1]["stack"], "middleware_test.go")
}

func linesOf(t *testing.T, log, msg string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(log) {
		var entry map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &entry))
		if entry["msg"] == msg {
			out = append(out, entry)
		}
	}
	return out
}

func TestAccessLog_NamesRoutesByPatternAndShowsNoSecret(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, "a < b & c",
		servetest.SendRawRequest(t, b.addr, request("GET", "/checkout/topsecret?sig=topsecret")).Body)
	servetest.SendRawRequest(t, b.addr, request("GET", "/api/nothing/topsecret"))
	servetest.SendRawRequest(t, b.addr, request("PURGE", "/api/echo/topsecret"))
	servetest.SendRawRequest(t, b.addr, "topsecret\r\n\r\n")

	require.Eventually(t, func() bool { return len(b.seen()) == 4 }, 5*time.Second, time.Millisecond)
	seen := b.seen()
	for i := range seen {
		seen[i].Duration = 0
	}
	require.Equal(t, []middleware.RequestObservation{
		{Surface: "checkout", Route: "/checkout/:token", Method: "GET", Status: 200},
		{Surface: "partner_api", Route: "unmatched", Method: "GET", Status: 404},
		{Surface: "other", Route: "unmatched", Method: "OTHER", Status: 405},
		{Surface: "other", Route: "unmatched", Method: "OTHER", Status: 400},
	}, seen)
	require.NotContains(t, b.log.String(), "topsecret")
	require.Len(t, linesOf(t, b.log.String(), "request"), 2)
}

func TestAccessLog_NamesWhoGotARefusal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	servetest.SendRawRequest(t, b.addr, request("GET", "/api/who"))
	require.Eventually(t, func() bool { return len(linesOf(t, b.log.String(), "request")) == 1 }, 5*time.Second,
		time.Millisecond)
	line := linesOf(t, b.log.String(), "request")[0]
	require.Equal(t, []any{"prt_1", "key_1", 503.0}, []any{line["partner"], line["key"], line["status"]})
}

func TestSecurityHeaders_AreOnEveryAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/checkout/x", "/api/nothing", "/api/panic"} {
		a := servetest.SendRawRequest(t, b.addr, request("GET", path))
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", a.Header.Get("Referrer-Policy"))
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.NotContains(t, a.Header.Get("Content-Security-Policy"), "unsafe")
		require.NotEmpty(t, a.Header.Get("Strict-Transport-Security"))
		require.Empty(t, a.Header.Get("Server"))
	}
}

func TestRetryAfter_IsRoundedUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, "2", servetest.SendRawRequest(t, b.addr, request("GET", "/api/busy")).Header.Get("Retry-After"))
	require.Equal(t, "1", servetest.SendRawRequest(t, b.addr, request("GET", "/api/slow")).Header.Get("Retry-After"))
}

func TestMethodNotAllowed_SaysWhichAre(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Contains(t, servetest.SendRawRequest(t, b.addr, request("DELETE", "/api/echo/1")).Header.Get("Allow"), "POST")
}

// Values that a handler keeps must not change when the connection serves the next request.
func TestValues_DoNotLeakBetweenRequests(t *testing.T) {
	t.Parallel()
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
	var mu sync.Mutex
	kept := map[string]string{}
	app.Get("/:id", func(c *fiber.Ctx) error {
		id, header := c.Params("id"), c.Get("X-Marker")
		mu.Lock()
		defer mu.Unlock()
		kept[id] = header
		return nil
	})
	c := servetest.Dial(t, servetest.ServeApp(t, app))
	for i := range 50 {
		c.Send(request("GET", fmt.Sprintf("/id%02d", i), fmt.Sprintf("X-Marker: id%02d", i)))
		require.Equal(t, 200, c.Receive("GET").Status)
	}
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, kept, 50)
	for id, marker := range kept {
		require.Equal(t, id, marker)
	}
}
