package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

func TestProxies_ThatAreTrusted_AreNotNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "TRUSTED_PROXIES=127.0.0.1")
	p := w.http(t)
	getThrough(t, w.baseURL+"/login")
	require.Zero(t, p.stop(t)) // the log is complete
	require.NotContains(t, p.log.String(), "TRUSTED_PROXIES")
	require.Contains(t, doctorOnProxies(t, w, "TRUSTED_PROXIES="), `"ok":true`, "no note was kept, even for a doctor that trusts no proxy")
}
