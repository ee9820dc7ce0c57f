package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/core/id"
)

// feedChannel carries the ids of partners whose feeds went on, 16 bytes each.
const feedChannel = "svc:feeds"

// awaitedChannel carries messages of http processes in which requests wait for events.
const awaitedChannel = "svc:feeds:awaited"

// awaitedEvery is the time between two such messages of a process. Shorter than pulseHolds.
const awaitedEvery = time.Second

// maxFeeds is how many partners a message names.
const maxFeeds = 1024

// RingFeeds tells the http processes that the feeds of partners have new events. A ring may be lost: each http looks
// once a second for the partners that wait.
func (d *Doorbell) RingFeeds(partners []id.ID) {
	if len(partners) == 0 {
		return
	}
	d.feedsMu.Lock()
	for _, p := range partners {
		d.feeds[p] = struct{}{}
	}
	d.feedsMu.Unlock()
	signal(d.rung)
}

// takeFeeds takes the messages for the partners that were rung for since the last call.
func (d *Doorbell) takeFeeds() (messages [][]byte) {
	d.feedsMu.Lock()
	defer d.feedsMu.Unlock()
	var message []byte
	for p := range d.feeds {
		message = append(message, p[:]...)
		if len(message) == maxFeeds*len(p) {
			messages, message = append(messages, message), nil
		}
	}
	if len(message) > 0 {
		messages = append(messages, message)
	}
	clear(d.feeds)
	return messages
}

// AnnounceFeeds tells the dispatchers that requests wait for events, as long as waiting is above 0, until ctx ends.
// entered receives after a request began to wait. While no process says so, dispatchers ring for no feeds, which saves
// each event a command. A lost message delays events by the look of each http.
func AnnounceFeeds(ctx context.Context, client redis.UniversalClient, waiting func() int,
	entered <-chan struct{}) error {
	ticker := time.NewTicker(awaitedEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-entered:
		}
		for ticker.Reset(awaitedEvery); ; {
			bounded, cancel := context.WithTimeout(ctx, ioTimeout)
			_ = client.Publish(bounded, awaitedChannel, "").Err() // the next message follows
			cancel()
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
			if waiting() == 0 {
				break
			}
		}
	}
}

// ListenForFeeds calls rung with the partners of each ring until ctx ends. A lost connection is subscribed again.
func ListenForFeeds(ctx context.Context, client redis.UniversalClient, rung func(partners []id.ID)) error {
	subscription := client.Subscribe(ctx, feedChannel)
	defer func() { _ = subscription.Close() }() // the outcome of closing is irrelevant
	messages := subscription.Channel()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-messages:
			rung(partnersOf(m.Payload))
		}
	}
}

func partnersOf(payload string) (partners []id.ID) {
	const size = len(id.ID{})
	for ; len(payload) >= size; payload = payload[size:] {
		partners = append(partners, id.ID([]byte(payload[:size])))
	}
	return partners
}
