package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Times is a histogram of times up to an hour, exact to a microsecond or a thousandth. It is safe for concurrent use.
type Times struct {
	mu   sync.Mutex
	kept *hdrhistogram.Histogram // in microseconds
}

// NewTimes makes an empty histogram.
func NewTimes() *Times {
	return &Times{kept: hdrhistogram.New(1, time.Hour.Microseconds(), 3)}
}

// Add keeps a time; more than an hour counts as an hour.
func (t *Times) Add(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.kept.RecordValue(min(max(took, 0), time.Hour).Microseconds()) // in range
}

// N is the number of times.
func (t *Times) N() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(t.kept.TotalCount())
}

// Percentile is the time in ms that p % of the calls do not exceed; 0 without calls.
func (t *Times) Percentile(p float64) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return float64(t.kept.ValueAtQuantile(p)) / 1000
}
