package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/ports"
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

func TestSizeClass_GrowsEightfold(t *testing.T) {
	t.Parallel()
	for live, want := range map[int64]int{-1: 0, 0: 0, 1: 1, 7: 1, 8: 2, 63: 2, 64: 3, 1 << 20: 7, 1 << 40: 7} {
		require.Equal(t, want, sizeClass(live), live)
	}
}
