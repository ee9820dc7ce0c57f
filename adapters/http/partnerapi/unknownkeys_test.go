package partnerapi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/partners"
)

func unknownKey(n int) string { return fmt.Sprintf("svc_pk_test_unknown%025d", n) }

func TestUnknownKeys_OfAnAddress_AreRefusedBeforeTheDatabaseIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known, fresh := w.caller(t, "acme"), w.caller(t, "fresh")
	for n := range partners.UnknownKeysPerMinute - 1 {
		known.get("/me", "x-api-key", unknownKey(n)).refused(401, "invalid_api_key")
	}
	known.get("/me").ok(200) // each would be the last unknown key
	w.caller(t, "another").get("/me").ok(200)
	known.get("/me", "x-api-key", unknownKey(-1)).refused(401, "invalid_api_key")
	queries := w.Pool.Stat().AcquireCount()
	refused := known.get("/me", "x-api-key", unknownKey(partners.UnknownKeysPerMinute))
	refused.refused(429, "rate_limited")
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Equal(t, queries, w.Pool.Stat().AcquireCount())
	require.EqualValues(t, 1, w.limited.Load())

	known.get("/me").ok(200) // a partner behind the same address goes on
	fresh.get("/me").refused(429, "rate_limited")
}
