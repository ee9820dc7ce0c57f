package middleware_test

import (
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/lab/servetest"
)

func TestClientAddress_IsTheLastThatIsNoTrustedProxy(t *testing.T) {
	t.Parallel()
	ip := func(trusted []string, headers ...string) string {
		app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{TrustedProxies: trusted}))
		app.Use(middleware.ClientAddress(trusted))
		app.Get("/", func(c *fiber.Ctx) error { return c.SendString(c.IP()) })
		return servetest.Raw(t, servetest.Serve(t, app), request("GET", "/", headers...)).Body
	}
	ours := []string{"127.0.0.0/8", "10.1.2.3"}
	for _, c := range []struct {
		headers []string
		want    string
	}{
		{nil, "127.0.0.1"},
		{[]string{"X-Forwarded-For: 198.51.100.1"}, "198.51.100.1"},
		{[]string{"X-Forwarded-For: 198.51.100.1, 10.1.2.3"}, "198.51.100.1"},
		{[]string{"X-Forwarded-For: 203.0.113.66, 198.51.100.1,10.1.2.3"}, "198.51.100.1"},
		{[]string{"X-Forwarded-For: 203.0.113.66", "X-Forwarded-For: 198.51.100.1"}, "198.51.100.1"},
		{[]string{"X-Forwarded-For: 2001:db8::7"}, "2001:db8::7"},
		{[]string{"X-Forwarded-For: ::ffff:198.51.100.1"}, "198.51.100.1"},
		{[]string{"X-Forwarded-For: 198.51.100.1, unknown"}, "127.0.0.1"},
		{[]string{"X-Forwarded-For: 10.1.2.3"}, "127.0.0.1"},
		{[]string{"X-Forwarded-For: 198.51.100.1", "X-Real-IP: 203.0.113.9"}, "203.0.113.9"},
	} {
		require.Equal(t, c.want, ip(ours, c.headers...), c.headers)
	}
	require.Equal(t, "127.0.0.1", ip([]string{"192.0.2.1"}, "X-Forwarded-For: 198.51.100.1"), "the peer is no trusted proxy")
}
