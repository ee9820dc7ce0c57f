package webhook

import (
	"time"

	"partnerdeposits/core/id"
)

// NoticeKind is what a partner's contact is told of an endpoint by mail (api.md §5, "Notices").
type NoticeKind string

// The kinds.
const (
	NoticeHeld      NoticeKind = "held"      // the circuit opened
	NoticeGivenUp   NoticeKind = "given_up"  // a delivery failed at its last attempt
	NoticeDisabled  NoticeKind = "disabled"  // five days of failures disabled the subscription
	NoticeRecovered NoticeKind = "recovered" // a success, after a notice of another kind
)

// NoticeKinds lists the kinds.
var NoticeKinds = []NoticeKind{NoticeHeld, NoticeGivenUp, NoticeDisabled, NoticeRecovered}

// AfterOutcome returns the health after an attempt, and the kind of the notice that follows from the change; "" for
// none. excused says that our own way out is broken (Excused). gaveUp says that the attempt was the last of its
// delivery: a notice of its own tells of that trouble. limit is WEBHOOK_ENDPOINT_CONCURRENCY.
func (h Health) AfterOutcome(
	a Attempt, excused, gaveUp bool, limit int, now time.Time,
) (next Health, notice NoticeKind) {
	next = h.After(a, limit, now)
	if excused {
		next = next.Excused(now)
	}
	notice = NoticeOf(h, next)
	next.Trouble = next.Trouble || gaveUp
	return next, notice
}

// NoticeOf returns the kind of the notice that follows from a change of an endpoint's health; "" for none.
func NoticeOf(before, after Health) NoticeKind {
	if before.State(true) != EndpointHeld && after.State(true) == EndpointHeld {
		return NoticeHeld
	}
	if before.Trouble && !after.Trouble {
		return NoticeRecovered
	}
	return ""
}

// Settles is how long a new notice waits. Whether a circuit opened alone, or with most others, shows a little later.
func (k NoticeKind) Settles() time.Duration {
	if k == NoticeHeld {
		return 2 * outboundSettles
	}
	return 0
}

// NoticesWait is how long notices of trouble wait after our own way out was last seen broken (OutboundBroken): the
// endpoints are probed meanwhile, and one that succeeds is not told of.
const NoticesWait = 2 * time.Minute

// Waits reports whether the notice may be of our own trouble, which was last seen at that time.
func (n Notice) Waits(broken, now time.Time) bool {
	return n.Kind != NoticeRecovered && n.Kind != NoticeDisabled && now.Before(broken.Add(NoticesWait))
}

// NoticeEvery is the shortest time between two mails of a kind about an endpoint.
const NoticeEvery = 24 * time.Hour

// Notice is a fact about an endpoint that its partner's contact is to be told of.
type Notice struct {
	SubscriptionID id.ID
	Kind           NoticeKind
	At             time.Time
	Deliveries     int // NoticeGivenUp: how many were given up
	// the notice came within NoticeEvery of a mail of its kind, or while our own way out was broken, and waited
	PutOff bool
}

// Mailed is what a contact was told of an endpoint: the time of the last mail of each kind.
type Mailed map[NoticeKind]time.Time

// inTrouble reports whether the last mail told of trouble.
func (t Mailed) inTrouble() bool {
	for kind, at := range t {
		if kind != NoticeRecovered && at.After(t[NoticeRecovered]) {
			return true
		}
	}
	return false
}

// Fate says what becomes of a notice.
type Fate struct {
	Mail bool
	// Until is when a notice that is not mailed now is looked at again; zero: never.
	Until time.Time
}

// Decide returns whether the mail of a notice is sent at now, put off or dropped. of is the report of the notice's
// endpoint, told are the mails about it before. A notice within NoticeEvery of a mail of its kind is put off. The mail
// then reports the state of that later time, so a contact learns of the last change within NoticeEvery.
func (n Notice) Decide(of Report, mailed Mailed, now time.Time) Fate {
	state := of.State
	switch n.Kind {
	case NoticeHeld:
		if n.PutOff && (state != EndpointHeld || of.LastSuccessAt.After(n.At)) { // half-open is held, too
			return Fate{}
		}
	case NoticeDisabled:
		if n.PutOff && state != EndpointDisabled {
			return Fate{}
		}
	case NoticeRecovered:
		if !mailed.inTrouble() || n.PutOff && state != EndpointHealthy {
			return Fate{}
		}
	case NoticeGivenUp: // stays true
	}
	if last := mailed[n.Kind]; !last.IsZero() && now.Before(last.Add(NoticeEvery)) {
		return Fate{Until: last.Add(NoticeEvery)}
	}
	return Fate{Mail: true}
}
