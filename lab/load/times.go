package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// DurationHistogram is a histogram of durations up to an hour, exact to a microsecond or, for long ones, to a
// thousandth of their length. It is safe for concurrent use.
type DurationHistogram struct {
	mu   sync.Mutex
	kept *hdrhistogram.Histogram
}

// NewDurationHistogram returns an empty histogram of durations.
func NewDurationHistogram() *DurationHistogram {
	return &DurationHistogram{kept: hdrhistogram.New(1, time.Hour.Microseconds(), 3)}
}

// Add adds a duration to the histogram; more than an hour counts as an hour.
func (t *DurationHistogram) Add(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The error is impossible, since the duration is in the histogram's range.
	_ = t.kept.RecordValue(min(max(took, 0), time.Hour).Microseconds())
}

// Count returns the number of durations that were added to the histogram.
func (t *DurationHistogram) Count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(t.kept.TotalCount())
}

// Percentile returns the duration in milliseconds that p percent of the calls do not exceed; 0 if there are no
// calls.
func (t *DurationHistogram) Percentile(p float64) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return float64(t.kept.ValueAtQuantile(p)) / 1000
}
