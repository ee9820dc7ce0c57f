package dispatch

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// probes gives the number of successful probes until the queue is used again.
func probes(p *proof, at time.Time) (n int) {
	for n = 1; !p.enough(nil, at); n++ {
	}
	return n
}

func TestProof_AQueueThatRelapses_NeedsMoreAndMoreProbes(t *testing.T) {
	var p proof
	at := time.Now()
	for _, want := range []int{3, 6, 12, 24, 48, 96, 120, 120} {
		require.Equal(t, want, probes(&p, at))
		at = at.Add(relapseSpan - time.Second)
	}
	require.Equal(t, leastProof, probes(&p, at.Add(2*time.Second)), "reliable for long enough")
}

func TestProof_AFailedProbe_BeginsAnew(t *testing.T) {
	var p proof
	at := time.Now()
	for range 10 {
		require.False(t, p.enough(nil, at))
		require.False(t, p.enough(nil, at))
		require.False(t, p.enough(errors.New("OOM"), at))
	}
	require.Equal(t, leastProof, probes(&p, at))
}
