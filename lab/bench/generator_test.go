package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// api answers every request with its own body, in the status that the path names; in keys are the idempotency keys.
func api(t *testing.T, keys *[]string) (base string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*keys = append(*keys, r.Header.Get("Idempotency-Key"))
		if r.URL.Path == world.APIPrefix+"/refused" {
			w.WriteHeader(http.StatusConflict)
		}
		if r.URL.Path == world.APIPrefix+"/last" {
			w.Header().Set("Connection", "close")
		}
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("x-api-key")+" "+string(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestClient_KeyedCalls_CarryAFreshUUIDEach(t *testing.T) {
	t.Parallel()
	var keys []string
	c := newClient(api(t, &keys))
	for range 3 {
		answer, err := c.do(request{method: "POST", path: "/deposits", apiKey: "k", body: "{}", keyed: true})
		require.NoError(t, err)
		require.Equal(t, "POST k {}", string(answer))
	}
	_, err := c.do(request{method: "GET", path: "/deposits", apiKey: "k"})
	require.NoError(t, err)

	require.Empty(t, keys[3])
	require.NotEqual(t, keys[0], keys[1])
	for _, key := range keys[:3] {
		parsed, err := uuid.Parse(key)
		require.NoError(t, err)
		require.Equal(t, uuid.Version(4), parsed.Version())
		require.Equal(t, uuid.RFC4122, parsed.Variant())
	}
}

func TestClient_RefusedOrClosed_GoesOnWithTheNextCall(t *testing.T) {
	t.Parallel()
	var keys []string
	c := newClient(api(t, &keys))
	_, err := c.do(request{method: "POST", path: "/refused", apiKey: "k", body: "{}"})
	require.EqualError(t, err, "POST /refused: 409 POST k {}")
	for range 2 {
		_, err = c.do(request{method: "GET", path: "/last", apiKey: "k"})
		require.NoError(t, err)
	}
}

func TestIDIn(t *testing.T) {
	t.Parallel()
	found, err := idIn([]byte(`{"event":"deposit.cancelled","data":{"id":"dep_1","client":{"id":"cli_2"}}}`), id.Deposit)
	require.NoError(t, err)
	require.Equal(t, "dep_1", found)
	_, err = idIn([]byte(strings.Repeat("x", 9)), id.Deposit)
	require.Error(t, err)
}
