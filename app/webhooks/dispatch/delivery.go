package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

// This file tells the way of a delivery, step by step from top to bottom. What is not sent at once, or failed, waits in
// Postgres until scan.go finds it due and claims it; then it goes on with step 2.
const (
	// jobPatience is how long a job keeps a worker. The worker may then take the next job while slow POSTs of this
	// job are still in flight, since Postgres stores what is to be delivered.
	jobPatience = 250 * time.Millisecond
	// loadTogether is the least number of deliveries in a job that are read with a query of their own.
	loadTogether = 4
	// queueTimeout is the longest time in which the queue takes jobs, or answers a test.
	queueTimeout = time.Second
)

// Step 1, events become deliveries, and those that there is room for are claimed.

// relay removes up to limit events from the outbox in a transaction and stores their deliveries. A group of events
// that the database refuses is halved until the refused event is alone and is set aside.
func (d *Dispatcher) relay(ctx context.Context, limit int) (taken int, err error) {
	backlog := false
	var partners []id.ID
	n, claims, err := d.Relay.Relay(ctx, limit, d.config.Lease,
		func(events []ports.Event, subscriptions []webhookports.Subscription) []webhookports.Delivery {
			d.registry.observe(subscriptions)
			now := d.Clock.Now()
			planned := plan(events, subscriptions, func(sub id.ID) bool { return d.registry.admit(sub, now) })
			partners, backlog = partnersOf(events), leavesBacklog(planned)
			return planned
		})
	var refused *webhookports.RefusedEventsError
	switch {
	case errors.As(err, &refused) && len(refused.Events) == 1:
		return 1, d.setAside(ctx, refused)
	case errors.As(err, &refused):
		half := (len(refused.Events) + 1) / 2
		if taken, err = d.relay(ctx, half); err != nil {
			return taken, err
		}
		rest, err := d.relay(ctx, len(refused.Events)-half)
		return taken + rest, err
	case err != nil:
		return 0, err
	}
	if n > 0 {
		d.Metrics.CountRelayed(n)
		d.RingFeeds(partners)
		failpoint.Hit("relay.committed")
		d.transport.send(ctx, claims, false)
		failpoint.Hit("relay.enqueued")
	}
	if backlog {
		signal(d.due)
	}
	return n, nil
}

// Step 2, jobs bring the claims to workers: through the queue in Redis, or directly while Redis takes none.

// send brings claims to workers; urgent: they are sent before other deliveries of their endpoints.
func (t *transport) send(ctx context.Context, claims []webhookports.Claim, urgent bool) {
	if len(claims) == 0 {
		return
	}
	jobs := t.jobs(claims, urgent)
	if t.away.Load() {
		t.local(ctx, jobs)
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), queueTimeout)
	defer cancel()
	if left, err := t.d.Queue.Enqueue(bounded, jobs); err != nil {
		t.leave(ctx, err)
		t.renewed(ctx, left)
	}
}

// jobs puts as many claims into each job as fit, and names their partners.
func (t *transport) jobs(claims []webhookports.Claim, urgent bool) (jobs []webhookports.DeliveryJob) {
	for part := range slices.Chunk(claims, t.d.config.JobSize) {
		t.d.registry.namePartners(part)
		jobs = append(jobs, webhookports.DeliveryJob{Urgent: urgent, Kept: t.d.registry.keeps(part), Claims: part})
	}
	return jobs
}

// Step 3, a worker takes a job, and starts each delivery of it when a slot is free.

// handle works on a job until its deliveries are sent, or until jobPatience is over and further POSTs may be in
// flight.
func (d *Dispatcher) handle(ctx context.Context, job webhookports.DeliveryJob) {
	finished := make(chan struct{}, len(job.Claims))
	d.submit(ctx, job, func() { finished <- struct{}{} })
	patience := time.NewTimer(jobPatience)
	defer patience.Stop()
	for left := len(job.Claims); left > 0; {
		select {
		case <-finished:
			left--
		case <-patience.C:
			if !d.registry.saturated() {
				return
			}
			// No further POST may begin here, so the worker keeps its job and another dispatcher takes the next.
			patience.Reset(jobPatience)
		}
	}
}

// submit starts the dispatch of each delivery of a job.
func (d *Dispatcher) submit(ctx context.Context, job webhookports.DeliveryJob, finished func()) {
	claims := make([]webhookports.Claim, 0, len(job.Claims))
	for _, c := range job.Claims {
		if d.registry.begin(c) {
			claims = append(claims, c)
		} else {
			finished()
		}
	}
	if len(claims) == 0 {
		return
	}
	d.posts.Add(len(claims))
	go d.start(context.WithoutCancel(ctx), claims, job.Urgent, finished)
}

// start reads the deliveries of a large job with a single query, and lets their POSTs begin in the order of the
// job.
func (d *Dispatcher) start(ctx context.Context, claims []webhookports.Claim, urgent bool, finished func()) {
	loaded := d.preload(ctx, claims)
	for i, c := range claims {
		var delivery *webhookports.Delivery
		if loaded != nil {
			delivery = &loaded[i]
		}
		wait := d.registry.slot(c, urgent)
		go func() {
			defer d.posts.Done()
			d.dispatch(ctx, c, delivery, wait)
			d.registry.finish(c)
			finished()
			signal(d.freed)
		}()
	}
}

// preload reads the deliveries of a large job with a single query.
func (d *Dispatcher) preload(ctx context.Context, claims []webhookports.Claim) (loaded []webhookports.Delivery) {
	if len(claims) < loadTogether {
		return nil
	}
	defer func() {
		if recover() != nil { // The panic occurs again when the delivery that caused it is read alone.
			loaded = nil
		}
	}()
	loaded, err := d.Work.LoadClaimed(ctx, claims)
	if err != nil {
		return nil
	}
	return loaded
}

// dispatch makes and records an attempt to send a claimed delivery; loaded: nil if not read yet; wait: nil when
// the POST may begin at once.
func (d *Dispatcher) dispatch(ctx context.Context, c webhookports.Claim, loaded *webhookports.Delivery, wait *waiter) {
	if wait != nil && !<-wait.granted {
		return
	}
	outcome, made := d.attempt(ctx, c, loaded, wait == nil || !wait.ownFull)
	d.registry.free(c.SubscriptionID) // The POST has ended: let the next one begin before the outcome is recorded.
	if made {
		d.records.AddAndWait(outcome)
	}
}

// Step 4, the delivery is read once more, signed and POSTed, and the answer is judged.

// attempt reads a delivery, makes the POST and decides about its result; made reports whether there is an outcome
// to record. measured: false if its endpoint held the delivery back. A panic ends this attempt only.
func (d *Dispatcher) attempt(ctx context.Context, c webhookports.Claim, loaded *webhookports.Delivery,
	measured bool) (outcome webhookports.AttemptOutcome, made bool) {
	defer func() {
		if r := recover(); r != nil {
			d.Log.ErrorContext(ctx, "dispatcher: a delivery panicked", "delivery", id.Delivery.Of(c.DeliveryID), "panic",
				fmt.Sprint(r))
			made = false
		}
	}()
	// The process stops: another dispatcher attempts the delivery, or this process after its restart.
	if d.stopping.Load() {
		d.release(ctx, c)
		return outcome, false
	}
	delivery := d.fresh(ctx, c, loaded)
	if delivery == nil {
		return outcome, false
	}
	if !measured {
		delivery.DueAt = time.Time{}
	}
	failpoint.Hit("worker.loaded")
	result, delay := d.post(ctx, delivery)
	failpoint.Hit("worker.answered")
	if result.FailedByService(d.outbound.broken.Load()) {
		return d.putOff(delivery, delay), true
	}
	d.started(delivery, delay)
	d.Metrics.CountAttempt(delivery.Event, result.Result, result.Duration, ports.RecordedTraceIDOf(delivery.TraceParent))
	outcome = webhookports.AttemptOutcome{Delivery: delivery, Attempt: result, StartDelay: delay,
		Verdict: d.config.Schedule.JudgeAttempt(result, delivery.Test, d.Random())}
	d.attempts.made(ctx, outcome, d.Clock.Now())
	return outcome, true
}

// post sends a delivery to its endpoint, unless its secret cannot be read (webhook.UnreadableSecretAttempt). The
// signature has the database's time, so that a wrong clock of this process does no harm.
func (d *Dispatcher) post(ctx context.Context,
	delivery *webhookports.Delivery) (attempt webhook.Attempt, delay time.Duration) {
	lane := string(d.registry.lane(delivery.SubscriptionID))
	d.Metrics.AddInFlight(lane, 1)
	defer d.Metrics.AddInFlight(lane, -1)
	now := d.Clock.Now()
	delay = -1
	if !delivery.DueAt.IsZero() {
		delay = max(now.Add(delivery.Skew).Sub(delivery.DueAt), 0)
	}
	if delivery.SecretErr != nil {
		attempt = webhook.UnreadableSecretAttempt(now)
	} else {
		attempt = d.Sender.Post(ctx, delivery, now.Add(delivery.Skew))
	}
	attempt.Number = delivery.Attempts + 1
	return attempt, delay
}

// Step 5, the outcome is stored: the delivery has ended, or waits for its next attempt.

// record writes a batch of outcomes of attempts in a transaction, and tries again while the database is
// unreachable, since a lost outcome means that its POST is repeated. A batch that the database refuses is split
// until the refused outcome is alone.
func (d *Dispatcher) record(ctx context.Context, outcomes []webhookports.AttemptOutcome) {
	d.successes.tell(outcomes, d.Clock.Now())
	d.outbound.excuse(outcomes)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		failpoint.Hit("record.begun")
		settled, health, err := d.Work.RecordOutcomes(ctx, outcomes, affected(outcomes), d.config.EndpointConcurrency,
			d.Clock.Now())
		switch {
		case err == nil:
			failpoint.Hit("record.committed")
			d.adjust(ctx, health)
			d.countFinished(outcomes, settled)
			d.awaitRetries(outcomes)
			d.RingFeeds(testers(outcomes))
			return
		case errors.Is(err, fault.ErrUnavailable):
			d.complain(ctx, "record attempts", err)
			pause(ctx, wait)
		case len(outcomes) == 1:
			d.Log.ErrorContext(ctx, "dispatcher: an attempt could not be recorded; it will be made again",
				"delivery", id.Delivery.Of(outcomes[0].Delivery.DeliveryID), "error", err)
			return
		default:
			middle := len(outcomes) / 2
			d.record(ctx, outcomes[:middle])
			d.record(ctx, outcomes[middle:])
			return
		}
	}
}
