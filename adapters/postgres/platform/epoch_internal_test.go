package platform

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	ports "partnerdeposits/ports/platform"
)

// A process that was suspended, or that has lost Postgres, may have missed a restore.
func TestEpoch_NotReadForSeconds_IsUnknown(t *testing.T) {
	t.Parallel()
	var e Epoch
	e.known.Store(&knownEpoch{epoch: ports.Epoch{1}, readAt: time.Now()})
	require.Equal(t, ports.Epoch{1}, e.Current())
	e.known.Store(&knownEpoch{epoch: ports.Epoch{1}, readAt: time.Now().Add(-epochHolds - time.Second)})
	require.Zero(t, e.Current())
}
