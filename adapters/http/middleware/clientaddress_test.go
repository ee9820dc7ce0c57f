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
	ip := func(trusted []string, headers ...string) string { return clientIP(t, trusted, "", headers...) }
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
	require.Equal(t, "127.0.0.1", ip([]string{"192.0.2.1"}, "X-Forwarded-For: 198.51.100.1"),
		"the peer is no trusted proxy")
}

// clientIP gives the address that a handler sees.
func clientIP(t *testing.T, trusted []string, believed string, headers ...string) string {
	t.Helper()
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{TrustedProxies: trusted}))
	app.Use(middleware.ClientAddress(trusted, believed))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString(c.IP()) })
	return servetest.SendRawRequest(t, servetest.ServeApp(t, app), request("GET", "/", headers...)).Body
}

func TestClientAddress_BelievesTheNamedHeaderAlone(t *testing.T) {
	t.Parallel()
	const realIP, chain = "x-real-ip: 203.0.113.9", "X-Forwarded-For: 203.0.113.66, 198.51.100.1"
	for _, c := range []struct {
		believed string
		headers  []string
		want     string
	}{
		{"X-Forwarded-For", []string{chain, realIP}, "198.51.100.1"},
		{"X-Forwarded-For", []string{realIP, chain, realIP}, "198.51.100.1"},
		{"X-Forwarded-For", []string{realIP}, "127.0.0.1"},
		{"X-Forwarded-For", []string{realIP, "X-Forwarded-For: unknown"}, "127.0.0.1"},
		{"X-Real-IP", []string{chain, realIP}, "203.0.113.9"},
		{"X-Real-IP", []string{chain}, "127.0.0.1"},
		{"X-Real-IP", nil, "127.0.0.1"},
	} {
		require.Equal(t, c.want, clientIP(t, []string{"127.0.0.0/8"}, c.believed, c.headers...), "%+v", c)
	}
}
