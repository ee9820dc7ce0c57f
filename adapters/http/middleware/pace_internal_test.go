package middleware

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace_EndsWhoIsSlowerThanTheLeastRate(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		begun int // bytes that came at once
		rate  int // bytes of each second after them
		lasts time.Duration
	}{
		"nothing":                    {0, 0, 5 * time.Second},
		"a byte a second":            {0, 1, 6 * time.Second},
		"5 kB a second":              {0, 5_000, 7 * time.Second},
		"19 kB a second":             {0, 19_000, 100 * time.Second},
		"20 kB a second":             {0, 20_000, time.Hour},
		"much, and then nothing":     {10 << 20, 0, 30 * time.Second},
		"100 kB, and then nothing":   {100_000, 0, 10 * time.Second},
		"much, and then 5 kB a time": {10 << 20, 5_000, 40 * time.Second},
	} {
		p := NewMinRateGuard()
		p.RecordBytes(c.begun, 0)
		lasted := time.Duration(0)
		for p.Left > 0 && lasted < time.Hour {
			p.RecordBytes(c.rate, time.Second)
			lasted += time.Second
		}
		require.Equal(t, c.lasts, lasted, what)
	}
}
