package webhooks

import (
	"context"
)

// Lane is a queue of deliveries with workers of its own. Two lanes separate subscriptions that answer quickly
// from slow and failing ones (delivery.md, point 9).
type Lane string

// The lanes of deliveries. Each has a queue and workers of its own.
const (
	FastLane Lane = "fast"
	SlowLane Lane = "slow"
)

// Lanes lists the two lanes, the fast and the slow one.
var Lanes = []Lane{FastLane, SlowLane}

// Job carries claims of a lane to a worker. A lost job delays its deliveries until their leases end.
type Job struct {
	Lane Lane
	// true: a job with test deliveries, which wait for a slot ahead of their endpoint's others; false: an ordinary
	// job.
	Urgent bool
	// true: the process that enqueues the job has room for it, so other dispatchers are not notified; false: they
	// are.
	Kept bool
	// true: the job's claims are not committed yet, and the queue takes the job even if it still has one of a relay
	// that failed; false: they are committed.
	Ahead  bool
	Claims []Claim
}

// QueueMode is the way in which jobs reach workers.
type QueueMode string

// The ways in which jobs reach workers.
const (
	QueueUsed QueueMode = "queue" // Jobs go through the queue, to the workers of any dispatcher.
	// Jobs go straight to the workers of this process, while the queue's store takes no jobs.
	QueueDirect QueueMode = "direct"
)

// QueueModes lists the ways in which jobs reach workers.
var QueueModes = []QueueMode{QueueUsed, QueueDirect}

// JobQueue carries jobs to the workers of all dispatchers.
type JobQueue interface {
	// Enqueue adds jobs to the queue and returns the jobs that could not be added. A job that is in the queue
	// already counts as added.
	Enqueue(ctx context.Context, jobs []Job) (left []Job, err error)
	// Serve runs handle for each job of the queue until ctx ends, and then waits for the running ones.
	Serve(ctx context.Context, concurrency map[Lane]int, handle func(context.Context, Job)) error
	// Probe writes a key beside the jobs of every lane, and returns an error while a job could not be written there.
	Probe(ctx context.Context) error
	// Epoch sets a marker beside the jobs of every lane. lost is true if an earlier marker is gone, and the jobs
	// with it; false if it is there. lost counts even together with an error, which concerns another lane.
	Epoch(ctx context.Context) (lost bool, err error)
	// Tidy removes jobs that the queue archived.
	Tidy(ctx context.Context) error
}
