package dispatch

import (
	"context"
	"fmt"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

const (
	// jobPatience is how long a job may hold a worker of its lane. Postgres holds the truth, so the worker can go on to
	// the next job while slow POSTs of this one finish by themselves.
	jobPatience = 250 * time.Millisecond
	// freshTries bounds how often a delivery is read again because the reading took too long.
	freshTries = 5
	// loadTogether is how many claims at least are worth a read of their own.
	loadTogether = 4
	// leaseMargin is what a lease must have left beyond the attempt for the POST to begin.
	leaseMargin = time.Second
)

// task is one claim on its way to a POST.
type task struct {
	claim  ports.Claim
	urgent bool
	done   func()
	loaded *ports.Loaded // nil: to be read
}

// handle takes a job off the queue and sees its claims through, or leaves them to finish by themselves.
func (d *Dispatcher) handle(ctx context.Context, job ports.Job) {
	finished := make(chan struct{}, len(job.Claims))
	d.submit(ctx, job, func() { finished <- struct{}{} })
	defer d.jobEnded(job)
	patience := time.NewTimer(jobPatience)
	defer patience.Stop()
	for range job.Claims {
		select {
		case <-finished:
		case <-patience.C:
			return
		}
	}
}

// submit starts the tasks of a job, each as soon as its endpoint has a slot. done is called for each of them.
func (d *Dispatcher) submit(ctx context.Context, job ports.Job, done func()) {
	tasks := make([]task, 0, len(job.Claims))
	for _, c := range job.Claims {
		if !d.endpoints.hold(c) {
			done()
			continue
		}
		d.posts.Add(1)
		tasks = append(tasks, task{claim: c, urgent: job.Urgent, done: done})
	}
	if len(tasks) > 0 {
		go d.start(context.WithoutCancel(ctx), tasks)
	}
}

// start reads together what came together. Who has to wait for a slot may find that what was read is no longer fresh.
func (d *Dispatcher) start(ctx context.Context, tasks []task) {
	if len(tasks) >= loadTogether {
		d.preload(ctx, tasks)
	}
	for _, t := range tasks {
		if d.endpoints.slot(t) {
			go d.work(ctx, t)
		}
	}
}

// preload reads the deliveries of tasks. Where that fails each reads its own, so that what spoils one spoils one.
func (d *Dispatcher) preload(ctx context.Context, tasks []task) {
	defer func() { _ = recover() }() // as said: it happens again to the one it is about
	claims := make([]ports.Claim, len(tasks))
	for i, t := range tasks {
		claims[i] = t.claim
	}
	loaded, err := d.Work.Load(ctx, claims)
	if err != nil {
		return
	}
	for i := range tasks {
		tasks[i].loaded = &loaded[i]
	}
}

// work sees one task through. Its slot goes to the next one as soon as the POST is over; the record is not the endpoint's.
func (d *Dispatcher) work(ctx context.Context, t task) {
	defer d.posts.Done()
	outcome, posted := d.attempt(ctx, t)
	for _, next := range d.endpoints.next(t.claim.SubscriptionID) {
		go d.work(ctx, next)
	}
	if posted && !d.leftToQueue(outcome) {
		r := &record{ctx: ctx, outcome: outcome}
		if d.records.Do("", r); r.err != nil {
			d.Log.ErrorContext(ctx, "dispatcher: an attempt could not be recorded; it will be made again",
				"delivery", id.Delivery.Of(t.claim.DeliveryID), "error", r.err)
		}
	}
	d.over(t)
}

// over gives up what a task held of this process.
func (d *Dispatcher) over(t task) {
	d.endpoints.finish(t.claim)
	t.done()
	d.signalFreed()
}

// attempt brings one delivery to its endpoint: load, decide, POST, judge. A panic ends this delivery's dispatch and
// nothing else; its lease will run out and it is tried again.
func (d *Dispatcher) attempt(ctx context.Context, t task) (outcome ports.Outcome, posted bool) {
	defer func() {
		if r := recover(); r != nil {
			d.Log.ErrorContext(ctx, "dispatcher: a delivery panicked", "delivery", id.Delivery.Of(t.claim.DeliveryID), "panic", fmt.Sprint(r))
			posted = false
		}
	}()
	if d.stopping.Load() { // it waited for a slot; another dispatcher, or this one after its restart, goes on with it
		d.release(ctx, t.claim)
		return outcome, false
	}
	l, ok := d.fresh(ctx, t)
	if !ok {
		return outcome, false
	}
	d.beforePost(l)
	failpoint.Hit("worker.loaded")
	made := d.post(ctx, l)
	failpoint.Hit("worker.answered")
	verdict := d.config.Schedule.Judge(made, l.Test, d.Random())
	return ports.Outcome{Claim: t.claim, Event: l.Event, EventAt: l.EventAt, Attempt: made, Verdict: verdict, Healthy: l.Healthy}, true
}

// fresh loads the claimed delivery and tells whether it may be sent now.
func (d *Dispatcher) fresh(ctx context.Context, t task) (ports.Loaded, bool) {
	c := t.claim
	for try := 1; ; try++ {
		var l ports.Loaded
		var err error
		if t.loaded != nil {
			l, t.loaded = *t.loaded, nil
		} else {
			read := &load{ctx: ctx, claim: c}
			d.loads.Do("", read)
			l, err = read.loaded, read.err
		}
		switch {
		case err != nil:
			d.complain(ctx, "load a delivery", err)
			return l, false
		case l.Err != nil:
			d.Log.ErrorContext(ctx, "dispatcher: the secret of a subscription does not decrypt",
				"subscription", id.Subscription.Of(c.SubscriptionID), "error", l.Err)
			return l, false
		case !l.Found || (l.Live && !l.Enabled):
			d.release(ctx, c)
			return l, false
		case !l.Live || l.LeaseLeft < d.config.Timeout+leaseMargin:
			return l, false
		case d.Clock.Now().Sub(l.ReadAt) < webhook.Freshness, try == freshTries:
			return l, true
		}
	}
}

// post signs and sends. The signature's time is the database's, so that a wrong clock here fails no receiver's tolerance.
func (d *Dispatcher) post(ctx context.Context, l ports.Loaded) webhook.Attempt {
	lane := string(d.endpoints.lane(l.SubscriptionID))
	d.Metrics.Inflight(lane, 1)
	defer d.Metrics.Inflight(lane, -1)
	timestamp, signature := webhook.Sign(l.Secret, l.Body, d.Clock.Now().Add(l.Skew))
	p := ports.Post{URL: l.URL, Event: l.Event, Timestamp: timestamp, Signature: signature, Body: l.Body}
	if d.config.EventIDHeader {
		p.EventID = id.Event.Of(l.EventID)
	}
	attempt := d.Sender.Post(ctx, p)
	attempt.Number = l.Attempts + 1
	d.Metrics.Attempted(l.Event, attempt.Result, attempt.Duration)
	return attempt
}

// load is a claim whose delivery is being read.
type load struct {
	ctx    context.Context // without an end
	claim  ports.Claim
	loaded ports.Loaded
	err    error
}

// loadBatch reads the deliveries of a batch in one query.
func (d *Dispatcher) loadBatch(loads []*load) {
	claims := make([]ports.Claim, len(loads))
	for i, l := range loads {
		claims[i] = l.claim
	}
	loaded, err := d.Work.Load(loads[0].ctx, claims)
	for i, l := range loads {
		if l.err = err; err == nil {
			l.loaded = loaded[i]
		}
	}
}

// release gives claims up; where that fails their leases run out.
func (d *Dispatcher) release(ctx context.Context, claims ...ports.Claim) {
	if err := d.Work.Release(ctx, claims); err != nil {
		d.complain(ctx, "release deliveries", err)
	}
}

// adjust has the health that was recorded take effect on what is in this process's hands.
func (d *Dispatcher) adjust(ctx context.Context, health map[id.ID]webhook.Health) {
	slotted, surplus := d.endpoints.adjust(health)
	for _, t := range slotted {
		go d.work(ctx, t)
	}
	if len(surplus) > 0 {
		go d.giveBack(ctx, surplus)
	}
}

// giveBack has deliveries wait in the table instead of here: their endpoint is held.
func (d *Dispatcher) giveBack(ctx context.Context, surplus []task) {
	claims := make([]ports.Claim, len(surplus))
	for i, t := range surplus {
		claims[i] = t.claim
	}
	d.release(ctx, claims...)
	for _, t := range surplus {
		d.over(t)
		d.posts.Done()
	}
}
