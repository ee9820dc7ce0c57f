package webhook

import (
	"slices"
	"time"

	"partnerdeposits/core/id"
)

// EndpointReachability holds what the last attempts at an enabled endpoint show, from which OutboundBroken decides.
type EndpointReachability struct {
	PartnerID id.ID
	Host      string // The host in the endpoint's URL, with the port.
	// When the endpoint's present row of failures began; zero: the last attempt succeeded, or there was none.
	FailingSince time.Time
	// When an attempt at the endpoint last succeeded; zero: never. While the endpoint succeeds, this time is at most
	// LastSuccessGranularity old.
	LastSuccessAt time.Time
	LastFailureAt time.Time // When an attempt at the endpoint last failed; zero: never.
	LastFailure   Attempt   // The last failed attempt at the endpoint, of which only Result and Unconnected are set.
}

// Thresholds from which OutboundBroken concludes that this service's own internet connection is broken.
const (
	// How long endpoints must have been failing before their failures count. It is longer than LastSuccessGranularity, so
	// that other endpoints have had time to show a success.
	outboundSettles = 15 * time.Second
	// Failures of endpoints that began within this span count as simultaneous, since a quiet endpoint notices a break
	// later.
	outboundAtOnce = 10 * time.Minute
	// Failures of endpoints within this span before the newest attempt count as present.
	outboundPresent = time.Minute
	// The least number of partners, and of hosts, whose endpoints must fail together.
	fewestTogether = 2
)

// OutboundBrokenSince returns since when this service's own internet connection (DNS, firewall, network) is broken;
// zero: it is not. It counts as broken while endpoints of several partners, which began to fail at the same time,
// get no connection, and fewer hosts have answered since. A host counts once, however many endpoints it has. An
// endpoint that was not tried since then does not count.
func OutboundBrokenSince(endpoints []EndpointReachability, now time.Time) (since time.Time) {
	lost := lostTogether(endpoints)
	for i, first := range lost {
		since = first.FailingSince
		if now.Sub(since) < outboundSettles {
			// The endpoints are sorted by the start of their failures, so all that remain began to fail too late to
			// count.
			break
		}
		hosts, partners := map[string]bool{}, map[id.ID]bool{}
		for _, e := range lost[i:] {
			if e.FailingSince.Sub(since) <= outboundAtOnce {
				hosts[e.Host], partners[e.PartnerID] = true, true
			}
		}
		if min(len(hosts), len(partners)) >= fewestTogether && len(hosts) > answeredSince(endpoints, since) {
			return since
		}
	}
	return time.Time{}
}

// lostTogether returns the endpoints that get no connection at present, with the longest-failing first.
func lostTogether(endpoints []EndpointReachability) (lost []EndpointReachability) {
	var newest time.Time
	for _, e := range endpoints {
		for _, at := range []time.Time{e.LastSuccessAt, e.LastFailureAt} {
			if at.After(newest) {
				newest = at
			}
		}
	}
	for _, e := range endpoints {
		if e.failing() && e.LastFailure.Unreached() && newest.Sub(e.LastFailureAt) <= outboundPresent {
			lost = append(lost, e)
		}
	}
	slices.SortFunc(lost, func(a, b EndpointReachability) int { return a.FailingSince.Compare(b.FailingSince) })
	return lost
}

// answeredSince counts the hosts whose endpoints have answered a POST since a time, with any HTTP status.
func answeredSince(endpoints []EndpointReachability, since time.Time) int {
	hosts := map[string]bool{}
	for _, e := range endpoints {
		succeeds := !e.failing() && !e.LastSuccessAt.Before(since)
		refused := e.LastFailure.Result == ResultNon2xx || e.LastFailure.Result == ResultRedirect
		if succeeds || refused && e.failing() && !e.LastFailureAt.Before(since) {
			hosts[e.Host] = true
		}
	}
	return len(hosts)
}

func (e EndpointReachability) failing() bool { return !e.FailingSince.IsZero() }

// FailedByService reports whether an attempt failed by a fault of this service, and not of the endpoint: this machine
// lacked a resource such as a socket, or had no route to the endpoint while its own internet connection is
// broken. The delivery is then put off.
func (a Attempt) FailedByService(outboundBroken bool) bool {
	return a.Lacked != "" || a.NoRoute && outboundBroken
}

// NewUnattemptedVerdict returns the verdict on a delivery that was dispatched that many times in a row without an
// attempt. It is dispatched again after a second, then after twice as long each time, up to a minute.
func NewUnattemptedVerdict(dispatches int) DeliveryVerdict {
	doublings := min(max(dispatches-1, 0), maxDoublings)
	return DeliveryVerdict{State: DeliveryStateWaiting, Wait: min(time.Second<<doublings, time.Minute)}
}

// AfterExcusedAttempt returns the health of an endpoint whose attempt failed because this service's own internet
// connection is broken: the circuit stays open, but probes stay frequent, so that deliveries resume soon after the
// repair.
func (h Health) AfterExcusedAttempt(now time.Time) Health {
	if !h.CircuitOpen() {
		return h
	}
	h.FailedProbes = min(h.FailedProbes, excusedDoublings)
	if latest := now.Add(firstPause << excusedDoublings); h.OpenUntil.After(latest) {
		h.OpenUntil = latest
	}
	return h
}

// HeldPeriod is the last period in which the circuit of an endpoint held its deliveries back, from the first failure
// until the endpoint gets POSTs without restriction again. A delivery that became due in this period is late
// through the endpoint or the network, and not through the dispatcher.
type HeldPeriod struct {
	From time.Time // The start of the period in which deliveries were held back; zero: there was none yet.
	Till time.Time // The end of the period in which deliveries were held back; zero: it has not ended.
}

// heldAgain is the longest interruption of a period in which deliveries are held back: an endpoint that fails again
// that soon still has its earlier backlog.
const heldAgain = 5 * time.Minute

// UpdatedForHealthChange returns the period in which deliveries are held back, after a change of the endpoint's health.
func (h HeldPeriod) UpdatedForHealthChange(before, after Health, now time.Time) HeldPeriod {
	is := func(x Health) bool { return x.State(true) == EndpointHeld }
	if is(after) && (h.From.IsZero() || !h.Till.IsZero() && now.Sub(h.Till) > heldAgain) {
		// No failure is stored for the half-open circuit, so the period in which deliveries are held back begins now.
		if after.FailingSince.IsZero() {
			return HeldPeriod{From: now}
		}
		return HeldPeriod{From: after.FailingSince}
	}
	switch {
	case is(after):
		return HeldPeriod{From: h.From}
	case is(before):
		return HeldPeriod{From: h.From, Till: now}
	}
	return h
}

// Over reports whether the period in which deliveries were held back has ended; false if there was none.
func (h HeldPeriod) Over() bool { return !h.From.IsZero() && !h.Till.IsZero() }

// Includes reports whether a delivery that was due at that time was held back. It is false until the period has
// ended.
func (h HeldPeriod) Includes(due time.Time) bool {
	return h.Over() && !due.Before(h.From) && due.Before(h.Till)
}
