package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// DurationHistogram holds durations up to an hour, exact to a microsecond or a thousandth. It is safe for
// concurrent use.
type DurationHistogram struct {
	mu   sync.Mutex
	kept *hdrhistogram.Histogram
}

func NewDurationHistogram() *DurationHistogram {
	return &DurationHistogram{kept: hdrhistogram.New(1, time.Hour.Microseconds(), 3)}
}

// Add adds a duration, at most an hour, to the histogram.
func (t *DurationHistogram) Add(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The duration is in the histogram's range.
	_ = t.kept.RecordValue(min(max(took, 0), time.Hour).Microseconds())
}

func (t *DurationHistogram) Count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(t.kept.TotalCount())
}

// Percentile returns the milliseconds that p percent of the calls do not exceed; 0 without calls.
func (t *DurationHistogram) Percentile(p float64) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return float64(t.kept.ValueAtQuantile(p)) / 1000
}
