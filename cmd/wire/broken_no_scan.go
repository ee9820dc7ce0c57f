//go:build broken_no_scan

package wire

import (
	"partnerdeposits/adapters/asynq"
	"partnerdeposits/app/dispatch"
)

// variant returns ports whose scan finds nothing: retries and ended leases are forgotten.
func variant(d dispatch.Deps) dispatch.Deps {
	d.Claims = noScan{d.Claims}
	return d
}

var queueOptions []asynq.Option
