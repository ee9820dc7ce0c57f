package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/core/id"
)

const feedChannel = "svc:feeds"

// awaitedChannel is the Redis channel on which an http process announces that some of its requests wait for events.
const awaitedChannel = "svc:feeds:awaited"

// awaitedEvery is the time between two announcements of an http process that its requests wait for events. It must
// be shorter than pulseHolds.
const awaitedEvery = pulseEvery

const maxFeeds = 1024

// NotifyNewFeedEvents notifies the http processes that partners have new events. A lost notification is made up
// for by their queries once a second.
func (d *Doorbell) NotifyNewFeedEvents(partners []id.ID) {
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

// AnnounceFeedWaiters notifies the dispatchers once a second that requests of this process wait for events, while
// waiting returns more than 0, until ctx ends. entered receives after a request began to wait.
func AnnounceFeedWaiters(ctx context.Context, client redis.UniversalClient, waiting func() int,
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
			// The error is ignored: the process announces again in a second that its requests wait for events.
			_ = client.Publish(bounded, awaitedChannel, "").Err()
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

// ListenForNewFeedEvents calls rung with the partners that have new events, for each notification, until ctx ends.
// After a lost connection it subscribes again.
func ListenForNewFeedEvents(ctx context.Context, client redis.UniversalClient, rung func(partners []id.ID)) error {
	subscription := client.Subscribe(ctx, feedChannel)
	defer func() { _ = subscription.Close() }()
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
