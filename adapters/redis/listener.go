package redis

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	pulseChannel = "svc:doorbell:pulse"
	// pulseEvery is the time between two test messages (pulses) that a listener publishes to itself through Redis.
	pulseEvery = time.Second
	// pulseHolds is how long a test message that came back through Redis proves that notifications arrive. A Redis
	// subscription that receives nothing for so long is made anew.
	pulseHolds       = 2500 * time.Millisecond
	resubscribeAfter = 100 * time.Millisecond
)

// Listener receives the notifications of all processes through Redis, such as of committed events. Several
// notifications at once cause a single signal.
type Listener struct {
	client redis.UniversalClient
	self   string // The payload that identifies the test messages that this process sends to itself through Redis.
	// The time at which this listener's test message last came back through Redis, in nanoseconds; 0 means that
	// notifications do not arrive.
	heard atomic.Int64
	// The time of the last test message of another dispatcher's listener, in nanoseconds; 0 means never.
	others atomic.Int64
	// The time of the last test message of a listener that has precedence as leader, with a smaller payload, in
	// nanoseconds; 0 means never.
	before atomic.Int64
	// The time at which an http process last announced that requests wait for events, in nanoseconds; 0 means never.
	feeds atomic.Int64

	subscribed        chan struct{}
	events, due, jobs chan struct{}
}

// NewListener makes a listener for the notifications of other processes. It receives nothing before Run is called.
func NewListener(client redis.UniversalClient) *Listener {
	l := &Listener{
		client: client, self: rand.Text(), subscribed: make(chan struct{}, 1), events: make(chan struct{}, 1),
		due: make(chan struct{}, 1), jobs: make(chan struct{}, 1),
	}
	return l
}

func (l *Listener) EventSignals() <-chan struct{} { return l.events }

func (l *Listener) DueDeliverySignals() <-chan struct{} { return l.due }

func (l *Listener) JobSignals() <-chan struct{} { return l.jobs }

// ReceivesNotifications reports whether a test message of this process came back through Redis in the last
// seconds. A notification of another process may be lost even so.
func (l *Listener) ReceivesNotifications() bool { return lately(&l.heard) }

// HasPeers reports whether another dispatcher's test message arrived in the last seconds.
func (l *Listener) HasPeers() bool { return lately(&l.others) }

// IsLeader reports whether this dispatcher is the leader: its payload is the smallest of all dispatchers' test
// messages, or notifications do not reach it. After a process starts or ends, several may lead for seconds.
func (l *Listener) IsLeader() bool { return !l.ReceivesNotifications() || !lately(&l.before) }

// HasFeedWaiters reports whether an http process announced in the last seconds that some of its requests wait for
// events.
func (l *Listener) HasFeedWaiters() bool { return lately(&l.feeds) }

func lately(heard *atomic.Int64) bool {
	at := heard.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < pulseHolds
}

// Run receives notifications until ctx ends. After a lost connection it subscribes again.
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

// listen receives the notifications of one Redis subscription until it fails or ctx ends.
func (l *Listener) listen(ctx context.Context) {
	subscription := l.client.Subscribe(ctx, doorbellChannel, jobsChannel, pulseChannel, awaitedChannel)
	hangUp := func() { _ = subscription.Close() }
	defer hangUp()
	defer context.AfterFunc(ctx, hangUp)()
	for {
		received, err := subscription.ReceiveTimeout(ctx, pulseHolds)
		if err != nil {
			return
		}
		switch m := received.(type) {
		case *redis.Subscription:
			signal(l.subscribed)
			// Notifications may have been lost before the Redis subscription began, so act as if each kind had arrived.
			l.all()
		case *redis.Message:
			l.hear(ring{m.Channel, m.Payload})
		}
	}
}

// pulse publishes a test message at the beginning of a subscription and every second, which the listener itself has
// to receive. A PUBLISH that fails proves at once that notifications are lost.
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
		if r == jobsRing {
			signal(l.jobs)
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
		if !l.ReceivesNotifications() {
			// Notifications may have been lost while no test message came back, so act as if each kind had arrived.
			l.all()
		}
		l.heard.Store(now)
	}
}

// all signals to this process's receivers as if a notification of every kind had arrived.
func (l *Listener) all() {
	signal(l.events)
	signal(l.due)
	signal(l.jobs)
}
