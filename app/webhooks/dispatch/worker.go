package dispatch

import (
	"context"
	"fmt"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
	webhookports "partnerdeposits/ports/webhooks"
)

const (
	// jobPatience is how long a job keeps a worker of its lane. Postgres stores what is to be delivered, so the
	// worker may go on to the next job while slow POSTs of this job are still in flight.
	jobPatience = 250 * time.Millisecond
	// freshTries bounds how often a delivery is loaded: it is loaded again if loading took longer than
	// webhook.Freshness.
	freshTries = 5
	// loadTogether is the least number of claims of a job that are loaded by a query of their own.
	loadTogether = 4
	// Bounds of the search for a delivery that is not found. Its first claim may come from a relay that has yet to
	// commit, or that will repeat a failed commit, unless the event was committed longer than awaitAge ago. A worker
	// loads the delivery again after firstAwait, and after twice as long each time, until awaitMost.
	firstAwait, awaitMost, awaitAge = 2 * time.Millisecond, 256 * time.Millisecond, 5 * time.Second
	// leaseMargin is the time that a lease must have left after the longest attempt.
	leaseMargin = time.Second
)

// handle works on a job until its claims are finished, or until jobPatience is over and the lane has slots for
// other jobs.
func (d *Dispatcher) handle(ctx context.Context, job webhookports.Job) {
	finished := make(chan struct{}, len(job.Claims))
	d.submit(ctx, job, func() { finished <- struct{}{} })
	patience := time.NewTimer(jobPatience)
	defer patience.Stop()
	for left := len(job.Claims); left > 0; {
		select {
		case <-finished:
			left--
		case <-patience.C:
			if !d.registry.saturated(job.Lane) {
				return
			}
			patience.Reset(jobPatience) // the worker keeps its job, so that another dispatcher takes the next one
		}
	}
}

// submit starts the dispatch of each claim of a job. finished is called once for each claim.
func (d *Dispatcher) submit(ctx context.Context, job webhookports.Job, finished func()) {
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

// start loads the deliveries of many claims with a single query, and takes slots in the order of the claims.
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

// preload loads the deliveries of many claims with a single query. The result is nil if each claim is to load its
// own delivery: for few claims, and after an error or a panic, so that a row that cannot be read stops only its
// own delivery.
func (d *Dispatcher) preload(ctx context.Context, claims []webhookports.Claim) (loaded []webhookports.Delivery) {
	if len(claims) < loadTogether {
		return nil
	}
	defer func() {
		if recover() != nil { // the panic repeats when the delivery that caused it is loaded alone
			loaded = nil
		}
	}()
	loaded, err := d.Work.Load(ctx, claims)
	if err != nil {
		return nil
	}
	for i := range loaded {
		// the commit of each claim is awaited here, before a shutdown gives up the claims that wait for a slot
		filed(&loaded[i])
	}
	return loaded
}

// filed waits for the commit of a delivery's claim, and reports whether the claim was committed.
func filed(loaded *webhookports.Delivery) bool { return loaded.Filed == nil || loaded.Filed() }

// dispatch makes and records an attempt under a claim. loaded is the delivery, or nil if it is not loaded yet.
// wait is nil when the claim has a slot.
func (d *Dispatcher) dispatch(ctx context.Context, c webhookports.Claim, loaded *webhookports.Delivery, wait *waiter) {
	if wait != nil && !<-wait.granted {
		return
	}
	outcome, made := d.attempt(ctx, c, loaded)
	d.registry.free(c.SubscriptionID) // recording an attempt needs no slot
	if made {
		d.records.Do("", outcome)
	}
}

// attempt loads a delivery, makes the POST and decides about its result. made is true if there is an outcome to
// record, and false when there was no POST. A panic ends this dispatch only: the lease ends and the delivery is
// dispatched again.
func (d *Dispatcher) attempt(ctx context.Context, c webhookports.Claim,
	loaded *webhookports.Delivery) (outcome webhookports.Outcome, made bool) {
	defer func() {
		if r := recover(); r != nil {
			d.Log.ErrorContext(ctx, "dispatcher: a delivery panicked", "delivery", id.Delivery.Of(c.DeliveryID), "panic",
				fmt.Sprint(r))
			made = false
		}
	}()
	// the process stops: another dispatcher makes the attempt, or this process after its restart
	if d.stopping.Load() {
		d.release(ctx, c)
		return outcome, false
	}
	delivery := d.fresh(ctx, c, loaded)
	if delivery == nil {
		return outcome, false
	}
	failpoint.Hit("worker.loaded")
	result, delay := d.post(ctx, delivery)
	failpoint.Hit("worker.answered")
	if result.Ours(d.outbound.broken.Load()) {
		return d.putOff(delivery, delay), true
	}
	d.started(delivery, delay)
	d.Metrics.Attempted(delivery.Event, result.Result, result.Duration, ports.RecordedTraceOf(delivery.TraceParent))
	outcome = webhookports.Outcome{Delivery: delivery, Attempt: result, StartDelay: delay,
		Verdict: d.config.Schedule.Judge(result, delivery.Test, d.Random())}
	d.attempts.made(ctx, outcome, d.Clock.Now())
	return outcome, true
}

// putOff ends a dispatch whose POST failed by a fault of this service: no attempt is used up, and the endpoint's
// health does not change. The delivery starts late by at least the wait until its next dispatch.
func (d *Dispatcher) putOff(delivery *webhookports.Delivery, delay time.Duration) webhookports.Outcome {
	verdict := webhook.PutOff(int(delivery.Seq) - delivery.Attempts)
	if delay >= 0 {
		d.started(delivery, delay+verdict.Wait)
	}
	return webhookports.Outcome{Delivery: delivery, Attempt: webhook.Attempt{Number: delivery.Attempts}, StartDelay: -1,
		Verdict: verdict}
}

// fresh returns the delivery of a claim, loaded within webhook.Freshness, or nil when the delivery must not be
// sent.
func (d *Dispatcher) fresh(ctx context.Context, c webhookports.Claim,
	loaded *webhookports.Delivery) *webhookports.Delivery {
	await, try := firstAwait, 1
	for {
		if loaded == nil {
			loaded = &webhookports.Delivery{Claim: c}
			d.loads.Do("", loaded)
		}
		loaded.Found = filed(loaded) && loaded.Found
		if await <= awaitMost && mayAppear(loaded, c, d.Clock.Now()) {
			pause(ctx, await)
			loaded, await = nil, 2*await
			continue
		}
		switch fateOf(loaded, d.config.Timeout, d.Clock.Now(), try == freshTries, d.KeysetProven()) {
		case fatePost:
			return loaded
		case fateUnread:
			d.complain(ctx, "load a delivery", loaded.LoadErr)
			return nil
		case fateUnsigned:
			d.Log.ErrorContext(ctx, "dispatcher: the secret of a subscription does not decrypt",
				"subscription", id.Subscription.Of(c.SubscriptionID), "error", loaded.SecretErr)
			return nil
		case fateRelease:
			d.release(ctx, c)
			return nil
		case fateLeave:
			return nil
		case fateReload:
			loaded = nil
			try++
		}
	}
}

// mayAppear reports whether a delivery that was not found may be that of a relay that has yet to commit.
func mayAppear(loaded *webhookports.Delivery, c webhookports.Claim, now time.Time) bool {
	return !loaded.Found && loaded.LoadErr == nil && c.Seq == 1 && now.Sub(c.DueAt) < awaitAge
}

// fate is what a worker does with a loaded delivery.
type fate int

const (
	fatePost    fate = iota
	fateReload       // The worker loads the delivery again, since loading took longer than webhook.Freshness.
	fateLeave        // The worker drops the claim, since it is stale, or its lease is too short for the POST.
	fateRelease      // The worker releases the claim, since the subscription is deleted or disabled.
	fateUnread       // The worker logs that the query for the delivery failed.
	// The worker logs that the secret does not decrypt, perhaps only with the keyset of this process.
	fateUnsigned
)

// fateOf decides what a worker does with a delivery. timeout is that of an attempt; last is true if the delivery
// is not loaded again; proven is the result of Deps.KeysetProven. A delivery whose secret is lost has an attempt,
// though not a POST.
func fateOf(loaded *webhookports.Delivery, timeout time.Duration, now time.Time, last, proven bool) fate {
	switch {
	case loaded.LoadErr != nil:
		return fateUnread
	case !loaded.Found || (loaded.Current && !loaded.Enabled):
		return fateRelease
	case !loaded.Current || loaded.LeaseLeft < timeout+leaseMargin:
		return fateLeave
	case now.Sub(loaded.ReadAt) >= webhook.Freshness && !last:
		return fateReload
	case loaded.SecretErr != nil && !proven:
		return fateUnsigned
	}
	return fatePost
}

// load reads a batch of deliveries, whose claims are set, in a single query.
func (d *Dispatcher) load(ctx context.Context, deliveries []*webhookports.Delivery) {
	claims := make([]webhookports.Claim, len(deliveries))
	for i, delivery := range deliveries {
		claims[i] = delivery.Claim
	}
	loaded, err := d.Work.Load(ctx, claims)
	for i, delivery := range deliveries {
		if err != nil {
			delivery.LoadErr = err
			continue
		}
		*delivery = loaded[i]
	}
}

// post sends a delivery to its endpoint; one whose secret cannot be read is not sent (webhook.Unsigned). The
// signature has the database's time, so a wrong clock of this process does not exceed the receiver's tolerance.
// delay is how late the POST began: negative when the due time is not known, or when the delivery waited behind
// an open circuit.
func (d *Dispatcher) post(ctx context.Context,
	delivery *webhookports.Delivery) (attempt webhook.Attempt, delay time.Duration) {
	lane := string(d.registry.lane(delivery.SubscriptionID))
	d.Metrics.Inflight(lane, 1)
	defer d.Metrics.Inflight(lane, -1)
	now := d.Clock.Now()
	delay = -1
	if !delivery.DueAt.IsZero() {
		delay = d.registry.startDelay(delivery, delivery.DueAt.Add(-delivery.Skew), now)
	}
	if delivery.SecretErr != nil {
		attempt = webhook.Unsigned(now)
	} else {
		attempt = d.Sender.Post(ctx, delivery, now.Add(delivery.Skew))
	}
	attempt.Number = delivery.Attempts + 1
	return attempt, delay
}

// started counts the start delay of a delivery to a healthy endpoint.
func (d *Dispatcher) started(delivery *webhookports.Delivery, delay time.Duration) {
	if delivery.Healthy && delay >= 0 {
		d.Metrics.Started(delay, ports.RecordedTraceOf(delivery.TraceParent))
	}
}

// release gives claims up, so that their deliveries are due at once. If that fails, the claims remain until their
// leases end.
func (d *Dispatcher) release(ctx context.Context, claims ...webhookports.Claim) {
	if err := d.Work.Release(ctx, claims); err != nil {
		d.complain(ctx, "release deliveries", err)
	}
}

// giveBack releases claims that wait for a slot.
func (d *Dispatcher) giveBack(ctx context.Context, waiters []*waiter) {
	if len(waiters) == 0 {
		return
	}
	claims := make([]webhookports.Claim, len(waiters))
	for i, w := range waiters {
		claims[i] = w.claim
	}
	d.release(ctx, claims...)
	signal(d.due)
	for _, w := range waiters {
		w.granted <- false
	}
}
