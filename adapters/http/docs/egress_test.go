package docs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEgress_TellsTheRangesToProgramsAndCaches(t *testing.T) {
	t.Parallel()
	url := serveAs(t, false, "203.0.113.7/32", "2001:db8::/64") + "/egress.json"
	res, body := get(t, url)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, `{"addresses":["203.0.113.7/32","2001:db8::/64"]}`, body)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	require.Equal(t, "public, max-age=300", res.Header.Get("Cache-Control"))
	require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	etag := res.Header.Get("ETag")
	require.NotEmpty(t, etag)
	res, body = get(t, url, "If-None-Match", etag)
	require.Equal(t, 304, res.StatusCode)
	require.Empty(t, body)
	other, _ := get(t, serveAs(t, false, "203.0.113.8/32")+"/egress.json")
	require.NotEqual(t, etag, other.Header.Get("ETag"))
}

func TestEgress_OfAnInstallationThatTellsNone_IsNoFile(t *testing.T) {
	t.Parallel()
	res, _ := get(t, serve(t)+"/egress.json")
	require.Equal(t, 404, res.StatusCode)
}
