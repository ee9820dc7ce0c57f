package webhooks

import (
	"context"
)

// Lane separates subscriptions that answer quickly from slow and failing ones (delivery.md, point 9).
type Lane string

// The lanes. Each has a queue and workers of its own.
const (
	FastLane Lane = "fast"
	SlowLane Lane = "slow"
)

// Lanes lists the lanes.
var Lanes = []Lane{FastLane, SlowLane}

// Job carries claims of a lane to a worker. A lost job delays its deliveries until their leases end.
type Job struct {
	Lane   Lane
	Urgent bool // test deliveries: they wait for a slot ahead of their endpoint's others
	Kept   bool // the process that enqueues the job has room for it, so other dispatchers are not told
	Ahead  bool // its claims are not committed yet; the queue takes it whatever it has of a relay that failed
	Claims []Claim
}

// QueueMode is the way of jobs to workers.
type QueueMode string

// The modes.
const (
	QueueUsed   QueueMode = "queue"  // through the queue, to the workers of any dispatcher
	QueueDirect QueueMode = "direct" // straight to the workers of this process, while the queue's store takes no jobs
)

// QueueModes lists the modes.
var QueueModes = []QueueMode{QueueUsed, QueueDirect}

// JobQueue carries jobs to the workers of all dispatchers.
type JobQueue interface {
	// Enqueue adds jobs and returns the jobs that could not be added. A job that the queue has already counts as added.
	Enqueue(ctx context.Context, jobs []Job) (left []Job, err error)
	// Serve runs handle for each job until ctx ends, and then waits for the running ones.
	Serve(ctx context.Context, concurrency map[Lane]int, handle func(context.Context, Job)) error
	// Probe writes beside the jobs of every lane, and returns an error while a job could not be written there.
	Probe(ctx context.Context) error
	// Epoch sets a marker beside the jobs of every lane, and reports lost when an earlier marker is gone: the jobs are
	// gone with it. lost counts even beside an error, which concerns another lane.
	Epoch(ctx context.Context) (lost bool, err error)
	// Tidy removes jobs that the queue archived.
	Tidy(ctx context.Context) error
}
