package stripe

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClient_FollowsNoRedirectionAndNoProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	require.Nil(t, transport().Proxy)
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(other.Close)
	moved := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, moved.URL, http.NoBody)
	require.NoError(t, err)
	response, err := client(transport()).Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusTemporaryRedirect, response.StatusCode)
	require.False(t, reached.Load())
}
