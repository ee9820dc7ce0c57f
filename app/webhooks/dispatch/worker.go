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
	// jobPatience is how long a job keeps a worker. The worker may then take the next job while slow POSTs of this
	// job are still in flight, since Postgres stores what is to be delivered.
	jobPatience = 250 * time.Millisecond
	// freshTries bounds how often a delivery is read before its POST: it is read again if that took longer than
	// webhook.Freshness, since its subscription may have changed.
	freshTries = 5
	// loadTogether is the least number of deliveries in a job that are read with a query of their own.
	loadTogether = 4
)

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
		d.records.AddAndWait("", outcome)
	}
}

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

// putOff ends a dispatch whose POST failed by a fault of this service: no attempt is used up, and the endpoint's
// health does not change.
func (d *Dispatcher) putOff(delivery *webhookports.Delivery, delay time.Duration) webhookports.AttemptOutcome {
	verdict := webhook.NewUnattemptedVerdict(int(delivery.Seq) - delivery.Attempts)
	d.started(delivery, max(delay, 0)+verdict.Wait)
	return webhookports.AttemptOutcome{Delivery: delivery, Attempt: webhook.Attempt{Number: delivery.Attempts},
		StartDelay: -1,
		Verdict:    verdict}
}

// fresh returns a claimed delivery as read from the database within webhook.Freshness, or nil when it must not
// be sent.
func (d *Dispatcher) fresh(ctx context.Context, c webhookports.Claim,
	loaded *webhookports.Delivery) *webhookports.Delivery {
	for try := 1; ; try++ {
		if loaded == nil {
			loaded = &webhookports.Delivery{Claim: c}
			d.loads.AddAndWait("", loaded)
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
		}
	}
}

// fate is what a worker does with a delivery that it has read.
type fate int

const (
	fatePost   fate = iota
	fateReload      // The worker reads the delivery again, since reading took longer than webhook.Freshness.
	// The worker drops the delivery, since another dispatcher may attempt it, or its lease is too short for the
	// POST.
	fateLeave
	fateRelease // The worker gives the delivery up, since the subscription is deleted or disabled.
	fateUnread
	// The worker logs that the signing secret does not decrypt, perhaps only with the keyset of this process.
	fateUnsigned
)

// fateOf decides what a worker does with a delivery that it has read; last: the delivery is not read again. A
// delivery whose secret is lost has an attempt, though not a POST.
func fateOf(loaded *webhookports.Delivery, timeout time.Duration, now time.Time, last, proven bool) fate {
	switch {
	case loaded.LoadErr != nil:
		return fateUnread
	case !loaded.Found || (loaded.Current && !loaded.Enabled):
		return fateRelease
	case !loaded.Current || loaded.LeaseLeft < timeout+recordSpan:
		return fateLeave
	case now.Sub(loaded.ReadAt) >= webhook.MaxSubscriptionCacheAge && !last:
		return fateReload
	case loaded.SecretErr != nil && !proven:
		return fateUnsigned
	}
	return fatePost
}

func (d *Dispatcher) load(ctx context.Context, deliveries []*webhookports.Delivery) {
	claims := make([]webhookports.Claim, len(deliveries))
	for i, delivery := range deliveries {
		claims[i] = delivery.Claim
	}
	loaded, err := d.Work.LoadClaimed(ctx, claims)
	for i, delivery := range deliveries {
		if err != nil {
			delivery.LoadErr = err
			continue
		}
		*delivery = loaded[i]
	}
}

// post sends a delivery to its endpoint, unless its secret cannot be read (webhook.Unsigned). The signature has
// the database's time, so that a wrong clock of this process does no harm.
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

// started measures how late the POST of a delivery to a healthy endpoint began; delay < 0: not known.
func (d *Dispatcher) started(delivery *webhookports.Delivery, delay time.Duration) {
	if delivery.Healthy && delay >= 0 {
		d.Metrics.ObserveStartDelay(delay, ports.RecordedTraceIDOf(delivery.TraceParent))
	}
}

func (d *Dispatcher) release(ctx context.Context, claims ...webhookports.Claim) {
	if err := d.Work.ReleaseClaims(ctx, claims); err != nil {
		d.complain(ctx, "release deliveries", err)
	}
}

// giveBack gives up the deliveries that wait for their POST, so that other dispatchers can send them.
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
