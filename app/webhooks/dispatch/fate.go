package dispatch

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// freshTries bounds how often a delivery is read before its POST: it is read again if that took longer than
// webhook.MaxSubscriptionCacheAge, since its subscription may have changed.
const freshTries = 5

// fresh returns a claimed delivery as read from the database within webhook.MaxSubscriptionCacheAge, or nil when it
// must not be sent.
func (d *Dispatcher) fresh(ctx context.Context, c webhookports.Claim,
	loaded *webhookports.Delivery) *webhookports.Delivery {
	for try := 1; ; try++ {
		if loaded == nil {
			loaded = &webhookports.Delivery{Claim: c}
			d.loads.AddAndWait(loaded)
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
	fateReload      // The worker reads the delivery again, since reading took longer than webhook.MaxSubscriptionCacheAge.
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
