package middleware_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/lab/servetest"
)

// An alert about a route must see the requests that never reached the route.
func TestRefusal_BeforeTheRoute_CarriesTheRouteOfItsPath(t *testing.T) {
	t.Parallel()
	const api, other, none = middleware.SurfaceAPI, middleware.SurfaceOther, middleware.UnmatchedRouteLabel
	large := func(method, path string, size int) string {
		return request(method, path, fmt.Sprintf("Content-Length: %d", size)) + strings.Repeat("x", size)
	}
	for name, c := range map[string]struct {
		sent string
		want middleware.RequestObservation
	}{
		"a body above the limit": {large("POST", "/api/echo/1", middleware.MaxBodyBytes+1),
			middleware.RequestObservation{Surface: api, Route: "/api/echo/:id", Method: "POST", Status: 413}},
		"a body that is not read": {large("POST", "/api/echo/1/?x=1", 512<<10),
			middleware.RequestObservation{Surface: api, Route: "/api/echo/:id", Method: "POST", Status: 413}},
		"… to a path without a route": {large("POST", "/api/echo/1/2", 512<<10),
			middleware.RequestObservation{Surface: api, Route: none, Method: "POST", Status: 413}},
		"… to a route of a method": {large("PUT", "/api/echo/1", 512<<10),
			middleware.RequestObservation{Surface: api, Route: none, Method: "PUT", Status: 413}},
		"an ambiguous length": {request("POST", "/api/echo/1", "Content-Length: 1", "Transfer-Encoding: chunked") +
			"0\r\n\r\n", middleware.RequestObservation{Surface: api, Route: "/api/echo/:id", Method: "POST", Status: 400}},
		"a broken chunk": {request("POST", "/api/echo/1", "Transfer-Encoding: chunked") + "z\r\n\r\n",
			middleware.RequestObservation{Surface: api, Route: "/api/echo/:id", Method: "POST", Status: 400}},
		"a path without parameters": {request("GET", "/api/context", "Content-Encoding: gzip"),
			middleware.RequestObservation{Surface: api, Route: "/api/context", Method: "GET", Status: 415}},
		"a line that is no request": {"nonsense\r\nHost: x\r\n\r\n",
			middleware.RequestObservation{Surface: other, Route: none, Method: "OTHER", Status: 400}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			require.Equal(t, c.want.Status, servetest.SendRawRequest(t, b.addr, c.sent).Status)
			require.Eventually(t, func() bool { return len(b.seen()) > 0 }, 5*time.Second, time.Millisecond)
			got := b.seen()
			got[0].Duration = 0
			require.Equal(t, []middleware.RequestObservation{c.want}, got)
		})
	}
}
