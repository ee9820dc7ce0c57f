package dispatch

import (
	"time"

	"partnerdeposits/core/webhook"
)

type Config struct {
	// The settings whose names begin with WEBHOOK_. All are required here, because process/config has their
	// defaults.
	Schedule webhook.RetrySchedule
	Timeout  time.Duration
	// The largest number of POSTs in flight in this process, over all subscriptions and lanes.
	Concurrency         int
	EndpointConcurrency int

	// Each of the following settings of the dispatcher takes its default when it is zero.
	RelayEvery time.Duration
	// How often due deliveries are searched while no wake-up notifications arrive, or while some are due.
	ScanEvery time.Duration
	Batch     int
	JobSize   int
	Window    int
	// The time for which a delivery is reserved for a dispatcher, which covers the attempt and the wait before it.
	Lease time.Duration
}

// leaseSpare is the part of a lease (the time for which a delivery is reserved for a dispatcher) for the way to
// the POST and the record after it.
const leaseSpare = 20 * time.Second

func (c Config) withDefaults() Config {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	span := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	span(&c.RelayEvery, 50*time.Millisecond)
	span(&c.ScanEvery, 100*time.Millisecond)
	set(&c.Batch, 500)
	set(&c.JobSize, 32)
	set(&c.Window, 4096)
	span(&c.Lease, c.Timeout+leaseSpare)
	return c
}

// slowSlots returns how many of the POSTs that this process may have in flight may be of the slow lane, for slow
// and failing endpoints.
func (c Config) slowSlots() int { return max(c.Concurrency/2, 1) }

// partnerSlots returns how many POSTs of a partner may be in flight in this process while another partner
// waits.
func (c Config) partnerSlots() int { return max(c.Concurrency/4, c.EndpointConcurrency) }

// more returns how many further POSTs, or reserved deliveries, a partner may have. The last quarter of all is
// reserved for partners that hold less than a quarter of what is left.
func more(all, left, held int) int {
	if reserve := all / 4; left > reserve {
		return left - reserve
	}
	return min(max(left/4, 1)-held, left)
}
