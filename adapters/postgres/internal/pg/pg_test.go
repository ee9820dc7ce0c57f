package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

func TestInterval_IsTheTextOfWholeSeconds(t *testing.T) {
	require.Equal(t, "interval '10 seconds'", pg.IntervalSQL(webhook.EndedLeaseGrace))
	require.Equal(t, "interval '3600 seconds'", pg.IntervalSQL(time.Hour))
}

// A response sealed by an older version opens, and an older version that still runs holds the same lock.
func TestKeyScope_IsTheTextOfEveryVersion(t *testing.T) {
	t.Parallel()
	k := ports.IdempotencyKey{Owner: id.ID{1, 0xab}, Route: "POST /api/partner/v1/deposits", Key: [16]byte{0x0f, 15: 0xff}}
	require.Equal(t, "01ab0000-0000-0000-0000-000000000000|POST /api/partner/v1/deposits|0f0000000000000000000000000000ff",
		pg.IdempotencyKeyScope(k))
	require.Equal(t, "idempotent_response:"+pg.IdempotencyKeyScope(k), string(pg.ResponseAAD(k)))
}
