package e2e_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/servetest"
)

// getThrough requests a page as a proxy does for a client at 192.0.2.1.
func getThrough(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set("X-Forwarded-For", "192.0.2.1")
	res, err := plain.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
}

// doctorOnProxies runs the doctor, whose exit code does not matter, and gives its finding about proxies.
func doctorOnProxies(t *testing.T, w *deployment, environ ...string) string {
	t.Helper()
	_, stdout, stderr := run(t, append(w.environ[:len(w.environ):len(w.environ)], environ...), "admin", "doctor", "--json")
	_, about, found := strings.Cut(stdout, `"check":"proxies"`)
	require.True(t, found, stdout+stderr)
	about, _, _ = strings.Cut(about, "}")
	return about
}

func TestProxies_ThatAreNotTrusted_AreNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.http(t)
	require.Contains(t, doctorOnProxies(t, w), `"ok":true`)
	for range 3 {
		getThrough(t, w.baseURL+"/login")
	}
	require.Equal(t, 1, strings.Count(p.log.String(), "not in TRUSTED_PROXIES"), "warned once")

	about := doctorOnProxies(t, w)
	require.Contains(t, about, `"ok":false`)
	require.Contains(t, about, "127.0.0.1 sent X-Forwarded-For and is not in TRUSTED_PROXIES")
	require.Contains(t, doctorOnProxies(t, w, "TRUSTED_PROXIES=127.0.0.0/8"), `"ok":true`, "mended since")
}

// behindHAProxy runs http behind a real haproxy that tells the client's address by a line of its configuration. A
// client at 127.0.0.2 that makes up its address by both headers tries four passwords, where a minute has three.
func behindHAProxy(t *testing.T, tells string, environ ...string) (w *deployment, p *process, lastTry int) {
	t.Helper()
	w = newWorld(t, append(environ, "TRUSTED_PROXIES=127.0.0.1", "AUTH_ATTEMPTS_PER_MINUTE=3")...)
	proxy := "http://" + servetest.StartHAProxy(t, tells, "server s "+strings.TrimPrefix(w.baseURL, "http://")).Addr
	w.environ = append(w.environ, "DASHBOARD_BASE_URL="+proxy)
	p = w.http(t)
	transport := &http.Transport{
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	b := formbrowser.New(soon, formbrowser.RandomAddressTransport{RoundTripper: madeUp{transport}})
	page, err := b.Get(t.Context(), proxy+"/login")
	require.NoError(t, err)
	for range 4 {
		answer, err := b.Submit(t.Context(), page, "password",
			map[string]string{"email": "x@example.com", "password": "a-wrong-password"})
		require.NoError(t, err)
		lastTry = answer.Status
	}
	return w, p, lastTry
}

// madeUp adds an X-Forwarded-For that the client makes up.
type madeUp struct{ http.RoundTripper }

func (m madeUp) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Forwarded-For", "203.0.113.66")
	return m.RoundTripper.RoundTrip(r)
}

const sentBoth = "a trusted proxy sent both X-Real-IP and X-Forwarded-For"

func TestProxyHeader_IsTheOnlyOneThatCounts(t *testing.T) {
	t.Parallel()
	w, p, last := behindHAProxy(t, "option forwardfor", "TRUSTED_PROXY_HEADER=X-Forwarded-For")
	require.Equal(t, http.StatusTooManyRequests, last, "an address that the client makes up is no way round the limit")
	require.Contains(t, doctorOnProxies(t, w, "TRUSTED_PROXIES="), `"ok":true`,
		"no note was kept, even for a doctor that trusts no proxy")
	require.Zero(t, p.stop(t)) // the log is complete
	log := p.log.String()
	require.Equal(t, 5, strings.Count(log, `"remote_ip":"127.0.0.2"`), log)
	require.NotContains(t, log, sentBoth)
	require.NotContains(t, log, "TRUSTED_PROXIES")
}

func TestProxyHeader_ThatIsMissing_IsAskedForWhereBothCome(t *testing.T) {
	t.Parallel()
	w, p, _ := behindHAProxy(t, "option forwardfor")
	require.Equal(t, 1, strings.Count(p.log.String(), sentBoth), "warned once")
	about := doctorOnProxies(t, w)
	require.Contains(t, about, `"ok":false`)
	require.Contains(t, about, "127.0.0.1 sent both X-Real-IP and X-Forwarded-For")
	require.Contains(t, about, "TRUSTED_PROXY_HEADER")
	require.Contains(t, doctorOnProxies(t, w, "TRUSTED_PROXY_HEADER=X-Forwarded-For"), `"ok":true`, "mended since")
}
