//go:build broken_no_scan

package dispatch

import (
	"time"

	"partnerdeposits/ports"
)

// Nobody looks for what is due: what is not delivered at once is forgotten.
const (
	scans      = false
	leaseSpare = 20 * time.Second
)

func (*Dispatcher) beforePost(ports.Loaded)        {}
func (*Dispatcher) leftToQueue(ports.Outcome) bool { return false }
func (*Dispatcher) jobEnded(ports.Job)             {}
