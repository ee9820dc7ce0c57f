package dispatch

import (
	"time"

	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// Config bounds the dispatcher.
type Config struct {
	// The settings of WEBHOOK_…: required, because process/config states their defaults.
	Schedule            webhook.Schedule
	Timeout             time.Duration // of an attempt, all in all
	Concurrency         int           // POSTs in flight in this process, over all subscriptions and lanes
	EndpointConcurrency int           // POSTs in flight in this process to a subscription

	// Zero fields take defaults.
	RelayEvery time.Duration // the outbox is polled this often while no doorbell works
	ScanEvery  time.Duration // due deliveries are searched this often while no doorbell works, or while there are some
	Batch      int           // events relayed in a transaction
	JobSize    int           // claims in a job
	Window     int           // claims of all subscriptions, over all dispatchers
	Lease      time.Duration // of a claim: the attempt and the wait before it
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

// slowSlots is how many of the process's slots the slow lane may use.
func (c Config) slowSlots() int { return max(c.Concurrency/2, 1) }

// partnerSlots is how many of the process's slots a partner may use while another partner waits for one.
func (c Config) partnerSlots() int { return max(c.Concurrency/4, c.EndpointConcurrency) }

// more is how many of all slots, or of the whole window, a partner may take that holds some already, while left are
// free. The last quarter is for partners that hold few: less than a quarter of what is left, so that each finds some.
func more(all, left, held int) int {
	if reserve := all / 4; left > reserve {
		return left - reserve
	}
	return min(max(left/4, 1)-held, left)
}

// jobs is how many jobs of each lane the process works on. A job has at least one claim, so these jobs can fill all
// slots.
func (c Config) jobs() map[webhookports.Lane]int {
	return map[webhookports.Lane]int{webhookports.FastLane: c.Concurrency, webhookports.SlowLane: c.slowSlots()}
}
