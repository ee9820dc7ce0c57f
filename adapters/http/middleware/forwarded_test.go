package middleware_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/lab/servetest"
)

func TestForwarded_NoticesAPeerOnceInAnInterval(t *testing.T) {
	t.Parallel()
	const realIP, chain = "X-Real-IP", "X-Forwarded-For"
	proxy := []string{"127.0.0.1"}
	untrusted := func(header string) []middleware.ProxyHeaderWarning {
		return []middleware.ProxyHeaderWarning{{Peer: "127.0.0.1", Header: header}}
	}
	for name, c := range map[string]struct {
		trusted  []string
		believed string
		headers  []string
		noticed  []middleware.ProxyHeaderWarning
	}{
		realIP:            {nil, "", []string{realIP}, untrusted("X-Real-Ip")},
		chain:             {[]string{"10.0.0.0/8"}, "", []string{chain}, untrusted(chain)},
		"Forwarded":       {nil, "", []string{"Forwarded"}, untrusted("Forwarded")},
		"no such header":  {nil, "", []string{"X-Other"}, nil},
		"a trusted proxy": {proxy, "", []string{chain}, nil},
		"a trusted range": {[]string{"127.0.0.0/8"}, "", []string{realIP}, nil},

		"a trusted proxy with both": {proxy, "", []string{chain, realIP},
			[]middleware.ProxyHeaderWarning{{Peer: "127.0.0.1", Header: "X-Real-Ip", Both: true}}},
		"both, and the believed is named":  {proxy, realIP, []string{chain, realIP}, nil},
		"both, and the other is believed":  {proxy, chain, []string{chain, realIP}, nil},
		"an untrusted peer with both":      {nil, "", []string{chain, realIP}, untrusted("X-Real-Ip")},
		"an untrusted peer with the other": {nil, chain, []string{realIP}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			noticed := make(chan middleware.ProxyHeaderWarning, 10)
			app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{TrustedProxies: c.trusted}))
			app.Use(middleware.ClientAddress(c.trusted, c.believed))
			app.Use(middleware.WarnProxyHeaders(time.Hour, func(_ *fiber.Ctx, n middleware.ProxyHeaderWarning) bool {
				noticed <- n
				return true
			}))
			app.Get("/", func(c *fiber.Ctx) error { return c.SendStatus(http.StatusOK) })
			address := servetest.ServeApp(t, app)
			for range 3 {
				requestWith(t, address, c.headers...)
			}
			close(noticed)
			var got []middleware.ProxyHeaderWarning
			for n := range noticed {
				got = append(got, n)
			}
			require.Equal(t, c.noticed, got)
		})
	}
}

func TestForwarded_WhoseNoteIsLost_IsNoticedAgain(t *testing.T) {
	t.Parallel()
	var noticed atomic.Int64
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
	app.Use(middleware.WarnProxyHeaders(time.Hour, func(*fiber.Ctx, middleware.ProxyHeaderWarning) bool {
		return noticed.Add(1) == 3
	}))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendStatus(http.StatusOK) })
	address := servetest.ServeApp(t, app)
	for range 5 {
		requestWith(t, address, "X-Real-IP")
	}
	require.EqualValues(t, 3, noticed.Load())
}

// requestWith requests a page with an address of another client in each of the headers.
func requestWith(t *testing.T, address string, headers ...string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
	require.NoError(t, err)
	for _, header := range headers {
		req.Header.Set(header, "192.0.2.1")
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
}
