package redis

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	webhookports "partnerdeposits/ports/webhooks"
)

const (
	pulseChannel = "svc:doorbell:pulse"
	// pulseEvery is the time between two messages of a listener to itself.
	pulseEvery = time.Second
	// pulseHolds is how long a pulse that was heard proves that rings are heard.
	pulseHolds = 2500 * time.Millisecond
	// silence is how long a subscription may bring nothing, not even a pulse, before it is made anew.
	silence = 3 * time.Second
	// resubscribeAfter is the pause after a subscription that failed.
	resubscribeAfter = 100 * time.Millisecond
)

// Listener hears the rings of all processes. Several rings at once give a single signal.
type Listener struct {
	client redis.UniversalClient
	self   string       // the payload of this listener's pulses
	heard  atomic.Int64 // when the last of them was heard, in nanoseconds; 0: the bell does not work
	others atomic.Int64 // when the last pulse of another listener was heard, in nanoseconds; 0: never
	before atomic.Int64 // the same of listeners that come before this one in the order of payloads
	feeds  atomic.Int64 // when an http process last said that requests wait for events, in nanoseconds; 0: never

	subscribed  chan struct{} // receives when a subscription begins
	events, due chan struct{}
	jobs        map[webhookports.Lane]chan struct{}
}

// NewListener hears nothing until Run.
func NewListener(client redis.UniversalClient) *Listener {
	l := &Listener{
		client: client, self: rand.Text(), subscribed: make(chan struct{}, 1), events: make(chan struct{}, 1),
		due: make(chan struct{}, 1), jobs: map[webhookports.Lane]chan struct{}{},
	}
	for _, lane := range webhookports.Lanes {
		l.jobs[lane] = make(chan struct{}, 1)
	}
	return l
}

// Events receives after events were committed.
func (l *Listener) Events() <-chan struct{} { return l.events }

// Due receives after deliveries became due.
func (l *Listener) Due() <-chan struct{} { return l.due }

// Jobs receives after a lane got jobs.
func (l *Listener) Jobs(lane webhookports.Lane) <-chan struct{} { return l.jobs[lane] }

// Works reports whether rings are heard: lately a message of this process came back to it. A ring of another process
// may be lost all the same.
func (l *Listener) Works() bool { return lately(&l.heard) }

// Accompanied reports whether other listeners were heard lately.
func (l *Listener) Accompanied() bool { return lately(&l.others) }

// Leads reports whether this listener is the first of all that hear the bell, or hears nothing itself. Several may lead
// for seconds, after a start or an end.
func (l *Listener) Leads() bool { return !l.Works() || !lately(&l.before) }

// FeedsAwaited reports whether requests of some http process wait for events, or did so lately.
func (l *Listener) FeedsAwaited() bool { return lately(&l.feeds) }

func lately(heard *atomic.Int64) bool {
	at := heard.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < pulseHolds
}

// Run listens until ctx ends. A lost connection is subscribed again.
func (l *Listener) Run(ctx context.Context) error {
	defer l.heard.Store(0)
	go l.pulse(ctx)
	for {
		l.listen(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(resubscribeAfter):
		}
	}
}

// listen hears the rings of a subscription until it fails or ctx ends. It reads the connection itself, since every
// further goroutine between a ring and its dispatcher costs time.
func (l *Listener) listen(ctx context.Context) {
	subscription := l.client.Subscribe(ctx, doorbellChannel, jobsChannel, pulseChannel, awaitedChannel)
	hangUp := func() { _ = subscription.Close() } // the outcome of closing is irrelevant
	defer hangUp()
	defer context.AfterFunc(ctx, hangUp)()
	for {
		received, err := subscription.ReceiveTimeout(ctx, silence)
		if err != nil {
			return
		}
		switch m := received.(type) {
		case *redis.Subscription:
			signal(l.subscribed)
			l.all() // rings may have been lost before
		case *redis.Message:
			l.hear(ring{m.Channel, m.Payload})
		}
	}
}

// pulse publishes a message at the beginning of a subscription and every second, which the listener itself has to
// receive. A PUBLISH that fails proves at once that rings are lost.
func (l *Listener) pulse(ctx context.Context) {
	ticker := time.NewTicker(pulseEvery)
	defer ticker.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, ioTimeout)
		if l.client.Publish(bounded, pulseChannel, l.self).Err() != nil {
			l.heard.Store(0)
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-l.subscribed:
		case <-ticker.C:
		}
	}
}

func (l *Listener) hear(r ring) {
	switch r.channel {
	case doorbellChannel:
		if r == dueRing {
			signal(l.due)
		} else {
			signal(l.events)
		}
	case jobsChannel:
		if jobs := l.jobs[webhookports.Lane(r.payload)]; jobs != nil {
			signal(jobs)
		}
	case awaitedChannel:
		l.feeds.Store(time.Now().UnixNano())
	case pulseChannel:
		now := time.Now().UnixNano()
		if r.payload != l.self {
			l.others.Store(now)
			if r.payload < l.self {
				l.before.Store(now)
			}
			return
		}
		if !l.Works() {
			l.all() // rings were lost meanwhile
		}
		l.heard.Store(now)
	}
}

// all signals every kind of ring.
func (l *Listener) all() {
	signal(l.events)
	signal(l.due)
	for _, jobs := range l.jobs {
		signal(jobs)
	}
}
