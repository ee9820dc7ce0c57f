package middleware_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/lab/servetest"
)

func TestCompress_TextsOfSomeSizeForThoseWhoAcceptIt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a deposit and its rental contract; ", 200)
	cases := map[string]struct {
		contentType, body, accept string
		compressed, varies        bool
	}{
		"page":         {"text/html; charset=utf-8", long, "gzip, deflate, br", true, true},
		"list":         {"application/json", `{"data":"` + long + `"}`, "gzip", true, true},
		"any coding":   {"text/css; charset=utf-8", long, "br, *;q=0.1", true, true},
		"not accepted": {"text/html; charset=utf-8", long, "", false, true},
		"refused":      {"text/html; charset=utf-8", long, "*, gzip;q=0", false, true},
		"small":        {"application/json", `{"data":{"id":"dep_1"}}`, "gzip", false, false},
		"image":        {"image/png", long, "gzip", false, false},
		"page with a form": {"text/html; charset=utf-8",
			long + `<input type="hidden" name="csrf_token" value="0">`, "gzip", false, false},
		"list with a checkout URL": {"application/json", `{"depositUrl":"https://x/checkout/abc","name":"` + long + `"}`,
			"gzip", false, false},
		"webhook with its secret": {"application/json", `{"secret":"svc_whsec_a","url":"` + long + `"}`, "gzip", false,
			false},
		"text that quotes an API key": {"text/html", long + "svc_pk_test_a", "gzip", false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
			app.Use(middleware.Compress())
			app.Get("/", func(ctx *fiber.Ctx) error {
				ctx.Set(fiber.HeaderContentType, c.contentType)
				return ctx.SendString(c.body)
			})
			a := servetest.SendRawRequest(t, servetest.ServeApp(t, app), request("GET", "/", "Accept-Encoding: "+c.accept))
			require.Equal(t, 200, a.Status)
			require.Equal(t, c.varies, a.Header.Get("Vary") == "Accept-Encoding")
			if !c.compressed {
				require.Empty(t, a.Header.Get("Content-Encoding"))
				require.Equal(t, c.body, a.Body)
				return
			}
			require.Equal(t, "gzip", a.Header.Get("Content-Encoding"))
			require.Less(t, len(a.Body), len(c.body)/4)
			plain, err := gzip.NewReader(bytes.NewReader([]byte(a.Body)))
			require.NoError(t, err)
			text, err := io.ReadAll(plain)
			require.NoError(t, err)
			require.Equal(t, c.body, string(text))
		})
	}
}
