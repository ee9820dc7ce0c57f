package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// api answers every request with its own body, in the status that the path names; in keys are the idempotency keys.
func api(t *testing.T, keys *[]string) (base string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*keys = append(*keys, r.Header.Get("Idempotency-Key"))
		if r.URL.Path == prefix+"/refused" {
			w.WriteHeader(http.StatusConflict)
		}
		if r.URL.Path == prefix+"/last" {
			w.Header().Set("Connection", "close")
		}
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("x-api-key")+" "+string(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestCaller_KeyedCalls_CarryAFreshUUIDEach(t *testing.T) {
	t.Parallel()
	var keys []string
	c := newCaller(api(t, &keys))
	defer c.close()
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

func TestCaller_RefusedOrClosed_GoesOnWithTheNextCall(t *testing.T) {
	t.Parallel()
	var keys []string
	c := newCaller(api(t, &keys))
	defer c.close()
	_, err := c.do(request{method: "POST", path: "/refused", apiKey: "k", body: "{}"})
	require.EqualError(t, err, "POST /refused: 409 POST k {}")
	for range 2 {
		_, err = c.do(request{method: "GET", path: "/last", apiKey: "k"})
		require.NoError(t, err)
	}
}

func TestPaced_CallsThatHang_MakeLaterCallsLate(t *testing.T) {
	t.Parallel()
	w := &world{api: "http://127.0.0.1:1"}
	release := make(chan struct{})
	time.AfterFunc(300*time.Millisecond, func() { close(release) })

	late, err := w.paced(t.Context(), mostOpen+1, 10_000, func(*caller, int) error { <-release; return nil })

	require.NoError(t, err)
	require.Less(t, late.median(), 100.0)
	require.Greater(t, late[mostOpen], 100.0)
}

func TestEach_AnErrorOfACall_EndsTheLoop(t *testing.T) {
	t.Parallel()
	w := &world{api: "http://127.0.0.1:1"}
	_, err := w.each(t.Context(), calls(1000), 4, func(c *caller, _ int) error {
		_, err := c.do(request{method: "GET", path: "/"})
		return err
	})
	require.ErrorContains(t, err, "connection refused")

	n, err := w.each(t.Context(), calls(1000), 4, func(*caller, int) error { return nil })
	require.NoError(t, err)
	require.Equal(t, 1000, n)
}

func TestIDIn(t *testing.T) {
	t.Parallel()
	found, err := idIn([]byte(`{"event":"deposit.cancelled","data":{"id":"dep_1","client":{"id":"cli_2"}}}`))
	require.NoError(t, err)
	require.Equal(t, "dep_1", found)
	_, err = idIn([]byte(strings.Repeat("x", 9)))
	require.Error(t, err)
}
