package dispatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPolls_AreCalmWhileTheBellWorks_AndQuickAfterASurprise(t *testing.T) {
	const quick = 50 * time.Millisecond
	works := true
	p := polls{quick: quick, works: func() bool { return works }}
	now := time.Unix(1_790_000_000, 0)
	require.Equal(t, calmPoll, p.wait(now))

	works = false
	require.Equal(t, quick, p.wait(now), "rings may be lost")
	works = true

	p.surprised(now)
	p.rung(now.Add(lateRing - 1))
	require.Equal(t, calmPoll, p.wait(now.Add(lateRing)), "the poll came between a commit and its ring")

	p.surprised(now)
	p.rung(now.Add(lateRing))
	require.Equal(t, quick, p.wait(now.Add(suspicion-1)), "that ring announced another event")
	require.Equal(t, calmPoll, p.wait(now.Add(suspicion)))
}

func TestRegistry_CountsMatter_WhenAWindowFillsUp(t *testing.T) {
	r := newRegistry(Config{Concurrency: 256, EndpointConcurrency: 4, Window: 1000}, time.Now) // windows of 32
	require.False(t, r.used())
	sub := line{r: r, sub: [16]byte{1}}.sub
	now := time.Unix(1_790_000_000, 0)
	for range r.window()/fillingShare - 1 {
		require.True(t, r.admit(sub, now))
	}
	require.True(t, r.used())
	require.False(t, r.crowded())
	require.Empty(t, r.crowding)
	require.True(t, r.admit(sub, now))
	require.True(t, r.crowded())
	require.Len(t, r.crowding, 1)
}
