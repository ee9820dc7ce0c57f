package connect_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/secret"
)

const connectSecret secret.Text = "svc_cs_EXAMPLE"

func explain(ts, sig string) connect.Cause {
	values := map[string][]string{"partner": {"acme"}, "external_id": {"hotel-1"}, "ts": {ts}, "sig": {sig}}
	_, found := connect.Explain("acme", values, connect.Keys{Connect: connectSecret}, time.Unix(1780391667, 0))
	return found.Cause
}

func TestExplain_OfTheLargestTimes_Ends(t *testing.T) {
	t.Parallel()
	sig := strings.Repeat("a", 64)
	for _, ts := range []int64{math.MaxInt64, math.MaxInt64 - 120, math.MaxInt64 - 121, math.MaxInt64 - 240, 0} {
		require.Equal(t, connect.CauseMismatch, explain(strconv.FormatInt(ts, 10), sig), ts)
	}
	require.Equal(t, connect.CauseMismatch, explain(strings.Repeat("9", 19), sig))
}

func TestExplain_OfAMessageInMilliseconds_WhateverTheyAre(t *testing.T) {
	t.Parallel()
	for _, ms := range []string{"000", "123", "999"} {
		sig := connect.Sign(connectSecret, "acme", "hotel-1", "1780391667"+ms)
		require.Equal(t, connect.CauseMilliseconds, explain("1780391667", sig), ms)
	}
}

func TestExplain_OfAnEmptySecret(t *testing.T) {
	t.Parallel()
	sig := connect.Sign("", "acme", "hotel-1", "1780391667")
	require.Equal(t, connect.CauseWrongSecretKind, explain("1780391667", sig))
}
