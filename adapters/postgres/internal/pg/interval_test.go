package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/webhook"
)

func TestInterval_IsTheTextOfWholeSeconds(t *testing.T) {
	require.Equal(t, "interval '10 seconds'", pg.Interval(webhook.ClaimCounts))
	require.Equal(t, "interval '3600 seconds'", pg.Interval(time.Hour))
}
