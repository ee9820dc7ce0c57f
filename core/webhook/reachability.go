package webhook

import (
	"slices"
	"time"

	"partnerdeposits/core/id"
)

// EndpointReachability holds what the last attempts at an enabled endpoint show.
type EndpointReachability struct {
	PartnerID id.ID
	Host      string // The endpoint's host, with the port.
	// When the endpoint's row of failures began; zero: the last attempt succeeded, or there was none.
	FailingSince time.Time
	// When an attempt at the endpoint last succeeded, up to LastSuccessGranularity late; zero: never.
	LastSuccessAt time.Time
	LastFailureAt time.Time // When an attempt at the endpoint last failed; zero: never.
	LastFailure   Attempt   // The endpoint's last failed attempt, with only Result and Unconnected set.
}

// Thresholds from which this service's internet connection counts as broken.
const (
	// How long endpoints must have been failing before that counts: longer than LastSuccessGranularity, so that others
	// had time to succeed.
	outboundSettles = 15 * time.Second
	// Failures that began within this span count as simultaneous, since a quiet endpoint notices a break later.
	outboundAtOnce = 10 * time.Minute
	// Failures within this span before the newest attempt count as present.
	outboundPresent = time.Minute
	// The least number of partners, and of hosts, whose endpoints must fail together.
	fewestTogether = 2
)

// OutboundBrokenSince returns since when this service's internet connection is broken; zero: it is not. It counts
// as broken while endpoints of several partners, which began to fail together, get no connection, and fewer hosts
// have answered since. Endpoints not tried since then do not count.
func OutboundBrokenSince(endpoints []EndpointReachability, now time.Time) (since time.Time) {
	lost := lostTogether(endpoints)
	for i, first := range lost {
		since = first.FailingSince
		if now.Sub(since) < outboundSettles {
			// All that follow in the sorted list began to fail too late to count.
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

// lostTogether returns the endpoints that get no connection, longest-failing first.
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

// answeredSince counts the hosts that have answered a POST since a time, with any HTTP status.
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

// FailedByService reports whether an attempt failed by a fault of this service: no socket or other resource, or no
// route while the internet connection is broken.
func (a Attempt) FailedByService(outboundBroken bool) bool {
	return a.Lacked != "" || a.NoRoute && outboundBroken
}

// NewUnattemptedVerdict returns the verdict on a delivery dispatched that many times in a row without an attempt:
// it waits a second, then twice as long each time, up to a minute.
func NewUnattemptedVerdict(dispatches int) DeliveryVerdict {
	doublings := min(max(dispatches-1, 0), maxDoublings)
	return DeliveryVerdict{State: DeliveryStateWaiting, Wait: min(time.Second<<doublings, time.Minute)}
}

// AfterExcusedAttempt returns an endpoint's health after a failure through this service's broken internet
// connection. Probes stay frequent, so that deliveries resume soon after the repair.
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
