//go:build failpoints

package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// leaveRetriesToTheQueue makes the queue own retries and recovery: nothing scans, leases take a day, failures are not
// recorded, and a job fails when one of its POSTs failed.
func leaveRetriesToTheQueue(d dispatch.Deps) dispatch.Deps {
	results := &results{}
	d.Relay = dayLeases{d.Relay}
	d.Claims = noScan{d.Claims}
	d.Work = onlySuccesses{d.Work, results}
	d.Queue = failingJobs{d.Queue, results}
	return d
}

const day = 24 * time.Hour

type dayLeases struct{ webhookports.RelayStore }

func (s dayLeases) Relay(
	ctx context.Context, limit int, _ time.Duration,
	plan webhookports.Plan, ahead func([]webhookports.Claim),
) (int, []webhookports.Claim, error) {
	return s.RelayStore.Relay(ctx, limit, day, plan, ahead)
}

// results tells the handler of a job how the POST of each claim ended: false when the POST failed, and true when it
// succeeded or was not made.
type results struct{ byClaim sync.Map }

func (r *results) await(c webhookports.Claim) <-chan bool {
	ended := make(chan bool, 1)
	r.byClaim.Store(c, ended)
	return ended
}

func (r *results) end(c webhookports.Claim, ok bool) {
	if ended, waits := r.byClaim.LoadAndDelete(c); waits {
		ended.(chan bool) <- ok //nolint:forcetypeassert // of await
	}
}

type onlySuccesses struct {
	webhookports.WorkStore
	results *results
}

func (s onlySuccesses) Load(ctx context.Context, claims []webhookports.Claim) ([]webhookports.Delivery, error) {
	loaded, err := s.WorkStore.Load(ctx, claims)
	for i, c := range claims {
		if err != nil || !loaded[i].Current {
			s.results.end(c, err == nil)
		}
	}
	return loaded, err
}

func (s onlySuccesses) Record(
	ctx context.Context, outcomes []webhookports.Outcome, _ []id.ID, limit int, now time.Time,
) ([]bool, map[id.ID]webhook.Health, error) {
	successes := slices.DeleteFunc(slices.Clone(outcomes), func(o webhookports.Outcome) bool { return !o.Attempt.OK() })
	if len(successes) > 0 {
		if _, _, err := s.WorkStore.Record(ctx, successes, nil, limit, now); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range outcomes {
		s.results.end(o.Delivery.Claim, o.Attempt.OK())
	}
	return make([]bool, len(outcomes)), nil, nil
}

func (s onlySuccesses) Release(ctx context.Context, claims []webhookports.Claim) error {
	err := s.WorkStore.Release(ctx, claims)
	for _, c := range claims {
		s.results.end(c, true)
	}
	return err
}

func (s onlySuccesses) Renew(ctx context.Context, claims []webhookports.Claim,
	_ time.Duration) ([]webhookports.Claim, error) {
	return s.WorkStore.Renew(ctx, claims, day)
}

type failingJobs struct {
	webhookports.JobQueue
	results *results
}

// Serve has a job end with its last POST, and panic when a POST failed: the queue then runs the job again.
func (q failingJobs) Serve(
	ctx context.Context, concurrency map[webhookports.Lane]int, handle func(context.Context, webhookports.Job),
) error {
	return q.JobQueue.Serve(ctx, concurrency, func(ctx context.Context, job webhookports.Job) {
		var ended []<-chan bool
		for _, c := range job.Claims {
			ended = append(ended, q.results.await(c))
		}
		handle(ctx, job)
		const longest = time.Minute
		timeout := time.After(longest)
		failed := false
		for _, e := range ended {
			select {
			case ok := <-e:
				failed = failed || !ok
			case <-timeout:
				return
			}
		}
		if failed {
			panic("a POST of the job failed")
		}
	})
}
