package middleware_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/lab/servetest"
)

func TestForwarded_NoticesAnUntrustedPeerOnceInAnInterval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trusted []string
		header  string
		noticed []string
	}{
		"X-Real-IP":       {nil, "X-Real-IP", []string{"127.0.0.1 X-Real-Ip"}},
		"X-Forwarded-For": {[]string{"10.0.0.0/8"}, "X-Forwarded-For", []string{"127.0.0.1 X-Forwarded-For"}},
		"Forwarded":       {nil, "Forwarded", []string{"127.0.0.1 Forwarded"}},
		"no such header":  {nil, "X-Other", nil},
		"a trusted proxy": {[]string{"127.0.0.1"}, "X-Forwarded-For", nil},
		"a trusted range": {[]string{"127.0.0.0/8"}, "X-Real-IP", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			noticed := make(chan string, 10)
			app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{TrustedProxies: c.trusted}))
			app.Use(middleware.Forwarded(time.Hour, func(_ *fiber.Ctx, peer, header string) { noticed <- peer + " " + header }))
			app.Get("/", func(c *fiber.Ctx) error { return c.SendStatus(http.StatusOK) })
			address := servetest.Serve(t, app)
			for range 3 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
				require.NoError(t, err)
				req.Header.Set(c.header, "192.0.2.1")
				res, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
				require.Equal(t, http.StatusOK, res.StatusCode)
			}
			close(noticed)
			var got []string
			for n := range noticed {
				got = append(got, n)
			}
			require.Equal(t, c.noticed, got)
		})
	}
}
