package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/world"
)

func TestClient_KeyedCallsCarryAFreshUUIDEach_AndARefusalOrACloseEndsNothing(t *testing.T) {
	t.Parallel()
	var keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch r.URL.Path {
		case world.APIPathPrefix + "/refused":
			w.WriteHeader(http.StatusConflict)
		case world.APIPathPrefix + "/last":
			w.Header().Set("Connection", "close")
		}
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("x-api-key")+" "+string(body))
	}))
	t.Cleanup(server.Close)
	c := newClient(server.URL)
	_, err := c.do(request{method: "POST", path: "/refused", apiKey: "k", body: "{}"})
	require.EqualError(t, err, "POST /refused: 409 POST k {}")
	for range 2 {
		answer, err := c.do(request{method: "PUT", path: "/last", apiKey: "k", body: "[]", keyed: true})
		require.NoError(t, err)
		require.Equal(t, "PUT k []", string(answer))
	}

	require.Empty(t, keys[0])
	require.NotEqual(t, keys[1], keys[2])
	require.Equal(t, uuid.Version(4), uuid.MustParse(keys[1]).Version())
}

func TestDepositIn_IsTheFirstOfItsKind(t *testing.T) {
	t.Parallel()
	found, err := depositIn([]byte(`{"event":"deposit.cancelled","id":"evt_1","data":{"id":"dep_1","next":"dep_2"}}`))
	require.NoError(t, err)
	require.Equal(t, "dep_1", found)
	_, err = depositIn([]byte(strings.Repeat("x", 9)))
	require.Error(t, err)
}
