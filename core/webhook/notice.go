package webhook

import (
	"time"

	"partnerdeposits/core/id"
)

// NoticeKind is the kind of mail about an endpoint to the partner's contact (api.md §5, "Notices").
type NoticeKind string

// The kinds of mail about an endpoint that the partner's contact gets.
const (
	NoticeEndpointHeld NoticeKind = "held" // The circuit of the endpoint opened, so its deliveries wait.
	// A delivery to the endpoint was given up after its last attempt failed.
	NoticeDeliveryGivenUp      NoticeKind = "given_up"
	NoticeSubscriptionDisabled NoticeKind = "disabled"
	NoticeEndpointRecovered    NoticeKind = "recovered" // The endpoint succeeded again after a notice of trouble.
)

// NoticeKinds lists every kind of mail about an endpoint.
var NoticeKinds = []NoticeKind{NoticeEndpointHeld, NoticeDeliveryGivenUp, NoticeSubscriptionDisabled,
	NoticeEndpointRecovered}

// AfterAttemptWithNotice returns the endpoint's health after an attempt, and the notice that follows; "" for none.
// excused reports whether this service's internet connection is broken; gaveUp whether the attempt was the
// delivery's last. limit is WEBHOOK_ENDPOINT_CONCURRENCY.
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

// NoticeForChange returns the notice that a change of an endpoint's health calls for; "" for none.
func NoticeForChange(before, after Health) NoticeKind {
	if before.State(true) != EndpointHeld && after.State(true) == EndpointHeld {
		return NoticeEndpointHeld
	}
	if before.Trouble && !after.Trouble {
		return NoticeEndpointRecovered
	}
	return ""
}

// MailDelay returns how long a new notice waits. One of an open circuit waits until it shows whether most circuits
// opened, through a fault of this service's internet connection.
func (k NoticeKind) MailDelay() time.Duration {
	if k == NoticeEndpointHeld {
		return 2 * outboundSettles
	}
	return 0
}

// OutageNoticeDelay is how long notices of trouble wait after this service's internet connection was last seen
// broken, so that endpoints that recover need none.
const OutageNoticeDelay = 2 * time.Minute

// MustWait reports whether this service's internet connection, last seen broken at the time broken, may have caused
// the trouble.
func (n Notice) MustWait(broken, now time.Time) bool {
	return n.Kind != NoticeEndpointRecovered && n.Kind != NoticeSubscriptionDisabled &&
		now.Before(broken.Add(OutageNoticeDelay))
}

// MinNoticeInterval is the shortest time between two mails of a kind about an endpoint.
const MinNoticeInterval = 24 * time.Hour

// Notice is a fact about an endpoint to be mailed to the partner's contact.
type Notice struct {
	SubscriptionID id.ID
	Kind           NoticeKind
	At             time.Time
	Deliveries     int // The number of deliveries given up, for NoticeDeliveryGivenUp.
	// Whether the mail was put off, since one of its kind was sent lately or this service's internet connection was
	// broken.
	PutOff bool
}

// LastMailTimes holds when the last mail of each kind about an endpoint was sent.
type LastMailTimes map[NoticeKind]time.Time

// inTrouble reports whether the last mail about the endpoint was about trouble.
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
	// Until is when a notice that is not mailed now is decided again; zero: it is dropped.
	Until time.Time
}

// DecideMailing returns whether a notice is mailed now, put off or dropped. mailed holds the earlier mails about
// the endpoint. A notice within MinNoticeInterval of a mail of its kind is put off, and reports the endpoint's
// state at the later time.
func (n Notice) DecideMailing(of EndpointReport, mailed LastMailTimes, now time.Time) NoticeDecision {
	state := of.State
	switch n.Kind {
	case NoticeEndpointHeld:
		// The state held includes a half-open circuit, so a success after the notice drops it too.
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
	case NoticeDeliveryGivenUp: // A delivery stays given up, so its notice is never dropped.
	}
	if last := mailed[n.Kind]; !last.IsZero() && now.Before(last.Add(MinNoticeInterval)) {
		return NoticeDecision{Until: last.Add(MinNoticeInterval)}
	}
	return NoticeDecision{Mail: true}
}
