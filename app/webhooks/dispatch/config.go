package dispatch

import (
	"time"

	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// Config holds the bounds and intervals of the dispatcher.
type Config struct {
	// The values of the settings WEBHOOK_…, which are required, because process/config has their defaults.
	Schedule webhook.Schedule
	Timeout  time.Duration // The longest time of a whole attempt.
	// The largest number of POSTs in flight in this process, over all subscriptions and lanes.
	Concurrency         int
	EndpointConcurrency int // The largest number of POSTs in flight in this process to a subscription.

	// Each of the following settings of the dispatcher takes its default when it is zero.
	RelayEvery time.Duration // How often the outbox is polled while no doorbell works.
	// How often due deliveries are searched while no doorbell works, or while there are some.
	ScanEvery time.Duration
	Batch     int           // The largest number of events that are relayed in a transaction.
	JobSize   int           // The largest number of claims in a job.
	Window    int           // The largest number of claims of all subscriptions, over all dispatchers.
	Lease     time.Duration // The length of a claim's lease, which covers the attempt and the wait before it.
}

// leaseSpare is the part of a lease for the way to the POST and the record after it.
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

// slowSlots returns how many of the process's slots the slow lane may use.
func (c Config) slowSlots() int { return max(c.Concurrency/2, 1) }

// partnerSlots returns how many of the process's slots a partner may use while another partner waits for a slot.
func (c Config) partnerSlots() int { return max(c.Concurrency/4, c.EndpointConcurrency) }

// more returns how many further slots, or claims of the window, a partner may take: all is their number, left how
// many are free, and held how many the partner has. The last quarter is reserved for partners that hold less than
// a quarter of what is left, so that each finds some.
func more(all, left, held int) int {
	if reserve := all / 4; left > reserve {
		return left - reserve
	}
	return min(max(left/4, 1)-held, left)
}

// jobs returns how many jobs of each lane the process works on at a time. A job has at least one claim, so these
// jobs can fill all slots.
func (c Config) jobs() map[webhookports.Lane]int {
	return map[webhookports.Lane]int{webhookports.FastLane: c.Concurrency, webhookports.SlowLane: c.slowSlots()}
}
