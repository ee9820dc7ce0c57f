package system_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

var (
	_ ports.Clock   = system.Clock{}
	_ ports.Entropy = system.Entropy{}
)

func TestClock_IsUTCInMicroseconds(t *testing.T) {
	t.Parallel()
	now := system.Clock{}.Now()
	require.Equal(t, time.UTC, now.Location())
	require.Equal(t, now, now.Truncate(time.Microsecond))
	require.WithinDuration(t, time.Now(), now, time.Second)
}

func TestNewID_IsVersion7InOrderAndOfNow(t *testing.T) {
	t.Parallel()
	var last id.ID
	for range 10_000 {
		next := system.Entropy{}.NewID()
		require.Positive(t, bytes.Compare(next[:], last[:]))
		require.EqualValues(t, 7, next[6]>>4)
		require.EqualValues(t, 2, next[8]>>6)
		last = next
	}
	require.WithinDuration(t, time.Now(), last.Time(), time.Second)
}

func TestNewID_ManyAtOnce_NeverRepeats(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[id.ID]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1_000 {
				next := system.Entropy{}.NewID()
				mu.Lock()
				seen[next] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, 8_000)
}

func TestBytes_AreAsManyAsAskedAndNotTheSame(t *testing.T) {
	t.Parallel()
	require.Empty(t, system.Entropy{}.Bytes(0))
	require.Len(t, system.Entropy{}.Bytes(24), 24)
	require.NotEqual(t, system.Entropy{}.Bytes(24), system.Entropy{}.Bytes(24))
}
