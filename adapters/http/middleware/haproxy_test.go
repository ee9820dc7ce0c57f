package middleware_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/servetest"
)

// Behind a real haproxy, bytes that hide a request in a body never become a request of their own: whoever could smuggle
// a request past the balancer would get the answer of another caller.
func TestHAProxyAndServer_AgreeWhereARequestEnds(t *testing.T) {
	t.Parallel()
	smuggled := request("GET", "/api/echo/smuggled")
	cases := map[string]struct {
		raw    string
		status int // by haproxy or the server; 0: haproxy forwards a request without the doubt
	}{
		"transfer encoding behind a vertical tab": {
			request("POST", "/api/echo/1", jsonType, "Transfer-Encoding: \x0bchunked") + "0\r\n\r\n" + smuggled, 400},
		"line feed in a chunk extension":  {chunked("2;\n{}\r\n0\r\n\r\n" + smuggled), 0},
		"line feed behind the last chunk": {chunked("2\r\n{}\r\n0;\n\r\n" + smuggled), 0},
		"API key in a trailer":            {chunked("2\r\n{}\r\n0\r\nx-api-key: svc_pk_test_topsecret\r\n\r\n"), 400},
		"length and chunks": {request("POST", "/api/echo/1", jsonType, "Content-Length: 5",
			"Transfer-Encoding: chunked") + "0\r\n\r\n" + smuggled, 0},
		"two lengths": {request("POST", "/api/echo/1", jsonType, "Content-Length: 0", "Content-Length: 44") +
			smuggled, 400},
		"an ordinary request": {chunked("2;a=b\r\n{}\r\n0\r\n\r\n"), 200},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			proxy := servetest.StartHAProxy(t, "http-reuse always", "server s "+b.addr)
			sent := servetest.Dial(t, proxy.Addr)
			sent.Send(c.raw + request("GET", "/api/echo/last", "Connection: close"))
			var answers []servetest.Answer
			for _, err := sent.Reader.Peek(1); err == nil; _, err = sent.Reader.Peek(1) { // until the connection ends
				answers = append(answers, sent.Receive(http.MethodGet))
			}
			answered := 0
			if c.status > 0 {
				require.Equal(t, c.status, answers[0].Status, answers[0].Body)
			}
			for _, a := range answers {
				if a.Header.Get("X-Request-Id") != "" { // else haproxy answered by itself
					answered++
				}
			}
			for range 5 { // on the connections that haproxy keeps to the server
				a := servetest.SendRawRequest(t, proxy.Addr, request("GET", "/api/echo/mine", "Connection: close"))
				require.Equal(t, "mine", a.Body)
				answered++
			}
			require.Eventually(t, func() bool { return len(b.seen()) >= answered }, 5*time.Second, time.Millisecond)
			require.Len(t, b.seen(), answered, "the server saw the requests that haproxy forwarded, and no other")
		})
	}
}
