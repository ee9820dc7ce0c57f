//go:build !broken_mark_before_send && !broken_no_scan && !broken_asynq_retries

package wire

import (
	"partnerdeposits/adapters/asynq"
	"partnerdeposits/app/dispatch"
)

// variant returns the dispatcher's ports as they are. Under a broken_… build tag another file of this package decorates
// them, so that the dispatcher loses deliveries and the fault suite can show that it notices (docs/guides/faults.md).
func variant(d dispatch.Deps) dispatch.Deps { return d }

// queueOptions are the options of the job queue; a broken variant has some.
var queueOptions []asynq.Option
