package webhook

import (
	"slices"
	"time"

	"partnerdeposits/core/id"
)

// Endpoint is what the last attempts at an enabled endpoint say.
type Endpoint struct {
	PartnerID     id.ID
	Host          string    // of its URL, with the port
	FailingSince  time.Time // zero: the last attempt succeeded, or there was none
	LastSuccessAt time.Time // zero: none yet; at most SuccessGrain old while the endpoint succeeds
	LastFailureAt time.Time // zero: none yet
	LastFailure   Attempt   // its Result and Unconnected only
}

// Bounds of OutboundBroken.
const (
	outboundSettles = 15 * time.Second // longer than SuccessGrain, so that others have had time to show a success
	outboundAtOnce  = 10 * time.Minute // failures that began within this span began at once; a quiet endpoint fails later
	outboundPresent = time.Minute      // attempts within this span before the newest tell of the present
	fewestTogether  = 2                // partners, and hosts
)

// OutboundBroken returns since when our own way out (DNS, firewall, network) is broken, as far as endpoints tell; zero:
// it is not. It is broken while endpoints of several partners, which began to fail at once, get no connection, and
// fewer hosts than theirs have answered since. A host counts once, however many endpoints it has. An endpoint that
// nobody has tried since then says nothing.
func OutboundBroken(endpoints []Endpoint, now time.Time) (since time.Time) {
	lost := lostTogether(endpoints)
	for i, first := range lost {
		since = first.FailingSince
		if now.Sub(since) < outboundSettles {
			break // the others began later still
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

// lostTogether lists the endpoints that got no connection at present, those first that fail for longest.
func lostTogether(endpoints []Endpoint) (lost []Endpoint) {
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
	slices.SortFunc(lost, func(a, b Endpoint) int { return a.FailingSince.Compare(b.FailingSince) })
	return lost
}

// answeredSince counts the hosts of endpoints that answered a POST since then, with whatever status.
func answeredSince(endpoints []Endpoint, since time.Time) int {
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

func (e Endpoint) failing() bool { return !e.FailingSince.IsZero() }

// Ours reports whether an attempt failed by our own doing, and says nothing of the endpoint: our machine had run out of
// something, or it had no way to the endpoint while our own way out is broken. The delivery is then put off.
func (a Attempt) Ours(outboundBroken bool) bool { return a.Lacked != "" || a.NoRoute && outboundBroken }

// PutOff returns the verdict on a delivery after that many dispatches in a row without an attempt. The next dispatch
// is due in a second, then after twice as long each time, up to a minute.
func PutOff(dispatches int) Verdict {
	doublings := min(max(dispatches-1, 0), maxDoublings)
	return Verdict{State: Waiting, Wait: min(time.Second<<doublings, time.Minute)}
}

// Excused returns the health after a failed attempt that says nothing of the endpoint, since our own way out is broken:
// the circuit stays open, and its probes stay frequent, so that deliveries flow again soon after the repair.
func (h Health) Excused(now time.Time) Health {
	if !h.CircuitOpen() {
		return h
	}
	h.FailedProbes = min(h.FailedProbes, excusedDoublings)
	if latest := now.Add(firstPause << excusedDoublings); h.OpenUntil.After(latest) {
		h.OpenUntil = latest
	}
	return h
}

// Held is the last time in which the circuit of an endpoint held its deliveries back: from the first failure to the end
// of the ramp. A delivery that became due then is late by the endpoint's doing, or by that of our way out, and not by
// the dispatcher's.
type Held struct {
	From time.Time // zero: never
	Till time.Time // zero: the time goes on
}

// heldAgain is the longest pause within a time: an endpoint that fails again so soon still has the backlog from before.
const heldAgain = 5 * time.Minute

// After returns the time after a change of the endpoint's health.
func (h Held) After(before, after Health, now time.Time) Held {
	is := func(x Health) bool { return x.State(true) == EndpointHeld }
	if is(after) && (h.From.IsZero() || !h.Till.IsZero() && now.Sub(h.Till) > heldAgain) {
		if after.FailingSince.IsZero() { // half-open since before the first failure was kept
			return Held{From: now}
		}
		return Held{From: after.FailingSince}
	}
	switch {
	case is(after):
		return Held{From: h.From}
	case is(before):
		return Held{From: h.From, Till: now}
	}
	return h
}

// Over reports whether the time is known and has ended.
func (h Held) Over() bool { return !h.From.IsZero() && !h.Till.IsZero() }

// Includes reports whether a delivery became due while it was held back. It is false until that time has ended.
func (h Held) Includes(due time.Time) bool {
	return h.Over() && !due.Before(h.From) && due.Before(h.Till)
}
