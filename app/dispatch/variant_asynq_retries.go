//go:build broken_asynq_retries

package dispatch

import (
	"slices"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// Retries and recovery are the queue's: a delivery is its claim for as long as the queue remembers the job.
const (
	scans      = false
	leaseSpare = 24 * time.Hour
)

var failed sync.Map // by delivery

func (*Dispatcher) beforePost(ports.Loaded) {}

// leftToQueue does not record a failure; the job is to be run again.
func (*Dispatcher) leftToQueue(o ports.Outcome) bool {
	if o.Attempt.OK() {
		failed.Delete(o.Claim.DeliveryID)
		return false
	}
	failed.Store(o.Claim.DeliveryID, true)
	return true
}

// jobEnded waits for the POSTs of the job and fails it when one of them failed, as the queue wants it: by a panic.
func (d *Dispatcher) jobEnded(job ports.Job) {
	underWay := func(held []id.ID) bool {
		return slices.ContainsFunc(job.Claims, func(c ports.Claim) bool { return slices.Contains(held, c.DeliveryID) })
	}
	for underWay(d.endpoints.busy()) {
		<-time.After(10 * time.Millisecond)
	}
	for _, c := range job.Claims {
		if _, again := failed.Load(c.DeliveryID); again {
			panic("again")
		}
	}
}
