package schedules

import (
	"context"
	"time"

	ports "partnerdeposits/ports/platform"
)

// start is a job that runs only when it has work, and the channel by which its rounds are started.
type start struct {
	Job
	begin chan<- struct{}
	rests time.Duration // The time until the next check whether the job has work.
}

// watch queries the waiting work of all jobs at the shortest of their intervals, and starts the rounds of
// each job that has work. A job whose earlier rounds are still running is not started.
func (s *Scheduler) watch(ctx context.Context, jobs []start) {
	every := jobs[0].looksEvery()
	for _, job := range jobs {
		every = min(every, job.looksEvery())
	}
	for wait := upTo(every); sleep(ctx, wait); wait = jitter(every) {
		waiting, known := s.looks(ctx)
		for i := range jobs {
			job := &jobs[i]
			if job.rests -= wait; job.rests > 0 {
				continue
			}
			if known && !job.Waits(waiting) {
				s.metrics.CountRound(job.Name, true)
			} else if !job.begins() {
				continue
			}
			// The job is skipped until the check that comes closest to the end of its own interval.
			job.rests = job.looksEvery() - every/2
		}
	}
}

// begins reports whether the rounds of the job have begun: true if they did, false while earlier rounds are
// still running.
func (s start) begins() bool {
	select {
	case s.begin <- struct{}{}:
		return true
	default:
		return false
	}
}

func (j Job) looksEvery() time.Duration {
	if j.Rest > 0 {
		return j.Rest
	}
	return j.Every
}

// looks queries which kinds of work wait for the jobs. known is false after an error, else true.
func (s *Scheduler) looks(ctx context.Context) (waiting ports.WaitingWorkFlags, known bool) {
	waiting, err := s.look(ctx)
	switch {
	case err == nil:
		s.answered(ctx, "")
	case !toldToStop(ctx, err):
		s.complain(ctx, "", err, "look for the work of scheduled jobs failed")
	}
	return waiting, err == nil
}

// await waits until watch has found work for a job, runs the job's rounds, and waits again.
func (s *Scheduler) await(ctx context.Context, job Job, begin <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-begin:
			s.rounds(ctx, job)
		}
	}
}

// rounds runs a round of a job, and further rounds at once while a round reports more work. A job with the field
// Rest repeats its rounds at its interval Every until it had no work for restAfter.
func (s *Scheduler) rounds(ctx context.Context, job Job) {
	for idle := time.Duration(0); ; {
		more, _ := s.round(ctx, job)
		var wait time.Duration
		if idle += job.Every; more {
			idle = 0
		} else if wait = jitter(job.Every); job.Rest == 0 || idle > restAfter {
			return
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}
