package webhooks

import (
	"context"
)

// Lane is a share of the POSTs in flight. Two lanes separate subscriptions that answer quickly from slow and failing
// ones (delivery.md, point 9).
type Lane string

// The two lanes: for endpoints that answer quickly, and for slow or failing ones.
const (
	FastLane Lane = "fast"
	SlowLane Lane = "slow"
)

// Lanes lists the two lanes, the fast and the slow one.
var Lanes = []Lane{FastLane, SlowLane}

// DeliveryJob carries claims of deliveries to a worker. If a job is lost, its deliveries are found again when the
// leases of the claims end.
type DeliveryJob struct {
	// Whether the job has test deliveries, which are sent before the endpoint's other deliveries.
	Urgent bool
	// Whether the process that adds the job has free workers, so other dispatchers are not notified.
	Kept   bool
	Claims []Claim
}

// QueueMode is the way in which jobs reach workers: through the queue in Redis, or directly.
type QueueMode string

// The values of QueueMode.
const (
	QueueModeQueued QueueMode = "queue"
	// Jobs go straight to the workers of this process, while Redis takes no jobs.
	QueueModeDirect QueueMode = "direct"
)

// QueueModes lists the ways in which jobs reach workers: through the queue in Redis, or directly.
var QueueModes = []QueueMode{QueueModeQueued, QueueModeDirect}

// JobQueue carries jobs to the workers of all dispatchers.
type JobQueue interface {
	// Enqueue adds jobs to the queue and returns the jobs that could not be added. A job that is already in the
	// queue counts as added.
	Enqueue(ctx context.Context, jobs []DeliveryJob) (left []DeliveryJob, err error)
	// Serve runs handle for each job of the queue, concurrency of them at a time, until ctx ends, and then waits for
	// the running ones.
	Serve(ctx context.Context, concurrency int, handle func(context.Context, DeliveryJob)) error
	// CheckWritable writes a test key where the jobs are stored, and returns an error if it could not be written.
	CheckWritable(ctx context.Context) error
	// DetectLoss sets a marker where the jobs are stored; lost reports whether an earlier marker is gone, and the jobs
	// with it.
	DetectLoss(ctx context.Context) (lost bool, err error)
	DeleteArchived(ctx context.Context) error
}
