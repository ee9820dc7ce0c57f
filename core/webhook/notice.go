package webhook

import (
	"time"

	"partnerdeposits/core/id"
)

// NoticeKind is the kind of mail about an endpoint that the partner's contact gets (api.md §5, "Notices").
type NoticeKind string

// The kinds of mail about an endpoint that the partner's contact gets.
const (
	NoticeEndpointHeld NoticeKind = "held" // The circuit of the endpoint opened, so its deliveries wait.
	// A delivery to the endpoint was given up after its last attempt failed.
	NoticeDeliveryGivenUp      NoticeKind = "given_up"
	NoticeSubscriptionDisabled NoticeKind = "disabled"  // Five days of failures disabled the subscription.
	NoticeEndpointRecovered    NoticeKind = "recovered" // The endpoint succeeded again after a notice of trouble.
)

// NoticeKinds lists every kind of mail about an endpoint.
var NoticeKinds = []NoticeKind{NoticeEndpointHeld, NoticeDeliveryGivenUp, NoticeSubscriptionDisabled,
	NoticeEndpointRecovered}

// AfterAttemptWithNotice returns the health of the endpoint after an attempt, and the kind of the notice that follows
// from the change; "" for none. excused reports whether this service's own internet connection is broken (Excused).
// gaveUp reports whether the attempt was the delivery's last, which has a notice of its own. limit is
// WEBHOOK_ENDPOINT_CONCURRENCY.
func (h Health) AfterAttemptWithNotice(
	a Attempt, excused, gaveUp bool, limit int, now time.Time,
) (next Health, notice NoticeKind) {
	next = h.AfterAttempt(a, limit, now)
	if excused {
		next = next.AfterExcusedAttempt(now)
	}
	notice = NoticeForChange(h, next)
	next.Trouble = next.Trouble || gaveUp
	return next, notice
}

// NoticeForChange returns the kind of the notice that a change of an endpoint's health calls for; "" for none.
func NoticeForChange(before, after Health) NoticeKind {
	if before.State(true) != EndpointHeld && after.State(true) == EndpointHeld {
		return NoticeEndpointHeld
	}
	if before.Trouble && !after.Trouble {
		return NoticeEndpointRecovered
	}
	return ""
}

// MailDelay returns how long a new notice of this kind waits before it is mailed. A notice of an open circuit waits,
// until it shows whether most other circuits opened too, which means a fault of this service's own internet
// connection.
func (k NoticeKind) MailDelay() time.Duration {
	if k == NoticeEndpointHeld {
		return 2 * outboundSettles
	}
	return 0
}

// OutageNoticeDelay is how long notices of trouble wait after this service's own internet connection was last seen
// broken (OutboundBroken). Endpoints are probed meanwhile, and no notice is mailed about one that succeeds.
const OutageNoticeDelay = 2 * time.Minute

// MustWait reports whether the notice must wait, since this service's own broken internet connection, last seen at the
// time broken, may have caused the trouble.
func (n Notice) MustWait(broken, now time.Time) bool {
	return n.Kind != NoticeEndpointRecovered && n.Kind != NoticeSubscriptionDisabled &&
		now.Before(broken.Add(OutageNoticeDelay))
}

// MinNoticeInterval is the shortest time between two mails of the same kind about an endpoint.
const MinNoticeInterval = 24 * time.Hour

// Notice is a fact about an endpoint of which the partner's contact is to be notified by mail.
type Notice struct {
	SubscriptionID id.ID
	Kind           NoticeKind
	At             time.Time
	Deliveries     int // The number of deliveries that were given up, in a notice of the kind NoticeDeliveryGivenUp.
	// true: the notice's mail was put off, since a mail of the same kind was sent within MinNoticeInterval, or this
	// service's own internet connection was broken; false: it was not.
	PutOff bool
}

// LastMailTimes holds, for each kind of mail about an endpoint, when the last one was sent to the partner's contact.
type LastMailTimes map[NoticeKind]time.Time

// inTrouble reports whether the last mail about the endpoint was about trouble, and not about a recovery.
func (t LastMailTimes) inTrouble() bool {
	for kind, at := range t {
		if kind != NoticeEndpointRecovered && at.After(t[NoticeEndpointRecovered]) {
			return true
		}
	}
	return false
}

// NoticeDecision says whether the mail of a notice about an endpoint is sent, put off or dropped.
type NoticeDecision struct {
	Mail bool
	// Until is when a notice that is not mailed now is decided again; zero: never, so it is dropped.
	Until time.Time
}

// DecideMailing returns whether the mail of a notice is sent now, put off or dropped. of is the report of the
// endpoint; mailed holds the earlier mails about it. A notice within MinNoticeInterval of a mail of its kind is put
// off; its mail then reports the endpoint's state at that later time.
func (n Notice) DecideMailing(of EndpointReport, mailed LastMailTimes, now time.Time) NoticeDecision {
	state := of.State
	switch n.Kind {
	case NoticeEndpointHeld:
		// The state held includes a half-open circuit, whose endpoint succeeds again, so a success after the notice
		// drops it too.
		if n.PutOff && (state != EndpointHeld || of.LastSuccessAt.After(n.At)) {
			return NoticeDecision{}
		}
	case NoticeSubscriptionDisabled:
		if n.PutOff && state != EndpointDisabled {
			return NoticeDecision{}
		}
	case NoticeEndpointRecovered:
		if !mailed.inTrouble() || n.PutOff && state != EndpointHealthy {
			return NoticeDecision{}
		}
	case NoticeDeliveryGivenUp: // A delivery that was given up stays given up, so its notice is never dropped.
	}
	if last := mailed[n.Kind]; !last.IsZero() && now.Before(last.Add(MinNoticeInterval)) {
		return NoticeDecision{Until: last.Add(MinNoticeInterval)}
	}
	return NoticeDecision{Mail: true}
}
