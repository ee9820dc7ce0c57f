package metrics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/metrics"
)

func TestClock_WhilePostgresIsAway_HasNoSeries(t *testing.T) {
	r := metrics.NewRegistry(quiet)
	known := true
	r.RegisterClockSkew(func() (time.Duration, bool) { return 2 * time.Second, known })
	require.Equal(t, "2", scrape(t, r)["svc_clock_skew_seconds"])
	known = false
	require.NotContains(t, scrape(t, r), "svc_clock_skew_seconds")
}
