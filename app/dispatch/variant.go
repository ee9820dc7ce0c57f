//go:build !broken_mark_before_send && !broken_no_scan && !broken_asynq_retries

package dispatch

import (
	"time"

	"partnerdeposits/ports"
)

// The fault suite breaks the dispatcher on purpose, to show that it would notice (docs/guides/faults.md). Each broken
// variant is a build tag and a file that takes the place of this one. What stands here is the dispatcher as it is to be,
// and costs nothing.
const (
	scans      = true             // what is due, and leases that ran out, are looked for in Postgres
	leaseSpare = 20 * time.Second // of a lease, for the way to the POST and the record after it
)

func (*Dispatcher) beforePost(ports.Loaded)        {}
func (*Dispatcher) leftToQueue(ports.Outcome) bool { return false }
func (*Dispatcher) jobEnded(ports.Job)             {}
