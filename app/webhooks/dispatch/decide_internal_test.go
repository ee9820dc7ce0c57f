package dispatch

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

var (
	acme, other = id.ID{1}, id.ID{2} // partners
	event       = ports.Event{
		ID: id.ID{5}, PartnerID: acme, Name: webhook.EventDepositActivated, DepositID: id.ID{6},
		Data:      []byte(`{"id":"dep_1"}`),
		CreatedAt: noon, CommittedAt: noon.Add(time.Millisecond), TraceParent: "00-t-s-01", RequestID: "req_1",
	}
)

const (
	activated = `{"event":"deposit.activated","createdAt":"2026-08-01T12:00:00.000Z","data":{"id":"dep_1"}}`
	changed   = `{"event":"deposit.status_changed","createdAt":"2026-08-01T12:00:00.000Z","data":{"id":"dep_1"}}`
)

func TestPlan_OneDeliveryOfAnEventForEachSubscription(t *testing.T) {
	t.Parallel()
	live := func(n byte, partner id.ID, events ...webhook.EventName) webhookports.Subscription {
		return webhookports.Subscription{ID: id.ID{n}, PartnerID: partner, Events: events, Enabled: true}
	}
	disabled := live(14, acme, webhook.EventDepositActivated)
	disabled.Enabled = false
	asked := []id.ID{}
	admit := func(sub id.ID) bool { // only subscription 13 has no room
		asked = append(asked, sub)
		return sub != id.ID{13}
	}
	type row struct {
		sub, body string
		state     webhook.DeliveryState
		parked    bool
	}
	want := []row{
		{"11", activated, webhook.DeliveryStateDispatched, false},
		{"12", changed, webhook.DeliveryStateDispatched, false},
		{"13", changed, webhook.DeliveryStateWaiting, false},
		{"14", activated, webhook.DeliveryStateWaiting, true},
	}
	planned := plan([]ports.Event{event, {ID: id.ID{7}, PartnerID: id.ID{3}}}, []webhookports.Subscription{
		live(11, acme, webhook.EventDepositStatusChanged, webhook.EventDepositActivated),
		live(12, acme, webhook.EventDepositStatusChanged), live(13, acme, webhook.EventDepositStatusChanged), disabled,
		live(15, acme, webhook.EventDepositExpired), live(16, other, webhook.EventDepositActivated),
	}, admit)
	require.Len(t, planned, len(want))
	for i, p := range planned {
		sub := id.ID{byte(11 + i)}
		name := webhook.EventDepositActivated
		if want[i].body == changed {
			name = webhook.EventDepositStatusChanged
		}
		require.Equal(t, webhookports.Delivery{
			Claim:   webhookports.Claim{DeliveryID: webhook.OriginalDeliveryID(event.ID, sub), SubscriptionID: sub},
			EventID: event.ID, Event: name, EventAt: event.CommittedAt, DepositID: event.DepositID,
			TraceParent: event.TraceParent, RequestID: event.RequestID,
			Body: []byte(want[i].body), State: want[i].state, Parked: want[i].parked,
		}, p, want[i].sub)
	}
	require.Equal(t, []id.ID{{11}, {12}, {13}}, asked, "a parked delivery needs no room")
	require.Same(t, &planned[1].Body[0], &planned[2].Body[0], "a body is rendered once")
}

func TestPlan_OfNothing_IsEmpty(t *testing.T) {
	t.Parallel()
	refuse := func(id.ID) bool { t.Error("no room is needed"); return false }
	require.Empty(t, plan(nil, []webhookports.Subscription{{ID: id.ID{1}, PartnerID: acme}}, refuse))
	require.Empty(t, plan([]ports.Event{event}, nil, refuse))
}

func TestLeavesBacklog_OnlyForADeliveryThatWaitsForRoom(t *testing.T) {
	t.Parallel()
	dispatched := webhookports.Delivery{State: webhook.DeliveryStateDispatched}
	waiting, parked := webhookports.Delivery{State: webhook.DeliveryStateWaiting},
		webhookports.Delivery{State: webhook.DeliveryStateWaiting, Parked: true}
	require.False(t, leavesBacklog(nil))
	require.False(t, leavesBacklog([]webhookports.Delivery{dispatched, parked}))
	require.True(t, leavesBacklog([]webhookports.Delivery{dispatched, parked, waiting}))
}

func TestPartnersOf_NamesEachOnce(t *testing.T) {
	t.Parallel()
	require.Empty(t, partnersOf(nil))
	events := []ports.Event{{PartnerID: other}, {PartnerID: acme}, {PartnerID: other}}
	require.Equal(t, []id.ID{other, acme}, partnersOf(events))
}

func TestScan_RestsLongerAfterASlowSearch_AndWaitsForTheNextDueDelivery(t *testing.T) {
	t.Parallel()
	const every = 100 * time.Millisecond
	for took, want := range map[time.Duration]time.Duration{
		0: every, 5 * time.Millisecond: every, 10 * time.Millisecond: 200 * time.Millisecond,
		4 * time.Second: 2 * time.Second,
	} {
		require.Equal(t, want, scanRest(every, took), took)
	}
	some := []webhookports.Subscription{{}}
	for name, c := range map[string]struct {
		due  webhookports.DueScanResult
		poll time.Duration
		want time.Duration
	}{
		"urgent":         {webhookports.DueScanResult{Urgent: true, Next: time.Second}, time.Second, every},
		"a backlog":      {webhookports.DueScanResult{Subscriptions: some, Next: time.Second}, time.Second, every},
		"nothing is due": {webhookports.DueScanResult{Next: time.Minute}, time.Second, time.Second},
		"a retry is due before that": {webhookports.DueScanResult{Next: 400 * time.Millisecond}, time.Second,
			400 * time.Millisecond},
		"a retry is due at once": {webhookports.DueScanResult{Next: time.Millisecond}, time.Second, every},
	} {
		require.Equal(t, c.want, scanWait(c.due, every, c.poll), name)
	}
}

func TestWithoutDrained_KeepsSubscriptionsThatUsedTheirRoom_OrHadNone(t *testing.T) {
	t.Parallel()
	full, drained := webhookports.Subscription{ID: id.ID{1}}, webhookports.Subscription{ID: id.ID{2}}
	closed := webhookports.Subscription{ID: id.ID{3}}
	left := withoutDrained([]webhookports.Subscription{full, drained, closed},
		[]webhookports.ClaimQuota{{SubscriptionID: full.ID, Room: 2}, {SubscriptionID: drained.ID, Room: 2}},
		[]webhookports.Claim{{SubscriptionID: full.ID}, {SubscriptionID: full.ID}, {SubscriptionID: drained.ID}})
	require.Equal(t, []webhookports.Subscription{full, closed}, left)
	require.Empty(t, withoutDrained(left[:1], []webhookports.ClaimQuota{{SubscriptionID: full.ID, Room: 1}}, nil))
}

func TestFateOf_EveryDeliveryThatAWorkerLoads(t *testing.T) {
	t.Parallel()
	const timeout = 10 * time.Second
	loaded := func(change func(*webhookports.Delivery)) webhookports.Delivery {
		d := webhookports.Delivery{
			Found: true, Current: true, Enabled: true, LeaseLeft: 11 * time.Second,
			ReadAt: noon.Add(-webhook.MaxSubscriptionCacheAge + 1),
		}
		change(&d)
		return d
	}
	stale := func(d *webhookports.Delivery) { d.ReadAt = noon.Add(-webhook.MaxSubscriptionCacheAge) }
	for name, c := range map[string]struct {
		change func(*webhookports.Delivery)
		last   bool
		want   fate
	}{
		"fresh":                       {func(*webhookports.Delivery) {}, false, fatePost},
		"loaded too long ago":         {stale, false, fateReload},
		"loaded too slowly each time": {stale, true, fatePost},
		"deleted":                     {func(d *webhookports.Delivery) { *d = webhookports.Delivery{} }, false, fateRelease},
		"disabled":                    {func(d *webhookports.Delivery) { d.Enabled = false }, false, fateRelease},
		"a stale claim":               {func(d *webhookports.Delivery) { d.Current = false }, false, fateLeave},
		"stale, and disabled": {
			func(d *webhookports.Delivery) { d.Current, d.Enabled = false, false }, false, fateLeave,
		},
		"a lease that is too short": {func(d *webhookports.Delivery) { d.LeaseLeft-- }, true, fateLeave},
		"the query failed": {
			func(d *webhookports.Delivery) { *d = webhookports.Delivery{LoadErr: errors.New("away")} }, false, fateUnread,
		},
		"no secret, and disabled": {
			func(d *webhookports.Delivery) { d.SecretErr, d.Enabled = errLost, false }, false, fateRelease,
		},
		"no secret, loaded too long ago": {
			func(d *webhookports.Delivery) { d.SecretErr = errLost; stale(d) }, false, fateReload,
		},
	} {
		d := loaded(c.change)
		require.Equal(t, c.want, fateOf(&d, timeout, noon, c.last, true), name)
		require.Equal(t, c.want, fateOf(&d, timeout, noon, c.last, false), name)
	}
	unsigned := loaded(func(d *webhookports.Delivery) { d.SecretErr = errLost })
	require.Equal(t, fatePost, fateOf(&unsigned, timeout, noon, false, true), "the secret is lost")
	require.Equal(t, fateUnsigned, fateOf(&unsigned, timeout, noon, false, false), "the keyset may be the wrong one")
}

var errLost = errors.New("no key")

func outcome(sub byte, result webhook.AttemptResult,
	change func(*webhookports.AttemptOutcome)) webhookports.AttemptOutcome {
	o := webhookports.AttemptOutcome{
		Delivery: &webhookports.Delivery{Claim: webhookports.Claim{SubscriptionID: id.ID{sub}}, Healthy: true},
		Attempt:  webhook.Attempt{Number: 1, Result: result, StartedAt: noon, Duration: time.Second},
	}
	if change != nil {
		change(&o)
	}
	return o
}

func TestAffected_SubscriptionsWhoseHealthMayChange(t *testing.T) {
	t.Parallel()
	require.Equal(t, []id.ID{{2}, {3}, {4}}, affected([]webhookports.AttemptOutcome{
		outcome(1, webhook.ResultSuccess, nil),
		outcome(2, webhook.ResultTimeout, nil),
		outcome(2, webhook.ResultSuccess, nil),
		outcome(3, webhook.ResultSuccess, func(o *webhookports.AttemptOutcome) { o.Attempt.Duration = 2 * time.Second }),
		outcome(4, webhook.ResultSuccess, func(o *webhookports.AttemptOutcome) { o.Delivery.Healthy = false }),
		outcome(5, "", nil),
	}))
}

func TestSuccesses_OfASubscription_AreToldOnceInAWhile_ThoseOfTestsAlways(t *testing.T) {
	t.Parallel()
	var s successes
	told := func(at time.Time, outcomes ...webhookports.AttemptOutcome) (out []bool) {
		s.tell(outcomes, at)
		for _, o := range outcomes {
			out = append(out, o.Tell)
		}
		return out
	}
	ok := func(sub byte) webhookports.AttemptOutcome { return outcome(sub, webhook.ResultSuccess, nil) }
	test := outcome(1, webhook.ResultSuccess, func(o *webhookports.AttemptOutcome) { o.Delivery.Test = true })
	failed := outcome(3, webhook.ResultDNSFailed, nil)
	require.Equal(t, []bool{true, false, true, false}, told(noon, ok(1), ok(1), ok(2), failed))
	require.Equal(t, []bool{false, true, true}, told(noon.Add(10*time.Second-1), ok(1), test, ok(3)))
	require.Equal(t, []bool{true}, told(noon.Add(10*time.Second), ok(1)))
	require.Equal(t, []bool{true}, told(noon, ok(1)), "the clock was set back")
}

func TestWakesScan_ForARetryBeforeTheNextCalmScan(t *testing.T) {
	t.Parallel()
	for v, want := range map[webhook.DeliveryVerdict]bool{
		{State: webhook.DeliveryStateWaiting, Wait: time.Second - 1}: true,
		{State: webhook.DeliveryStateWaiting, Wait: time.Second}:     false,
		{State: webhook.DeliveryStateSucceeded}:                      false,
		{State: webhook.DeliveryStateFailed}:                         false,
	} {
		require.Equal(t, want, wakesScan(v), v)
	}
}

func TestOwnLatency_OfAFirstSuccessAtAHealthyEndpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result webhook.AttemptResult
		change func(*webhookports.AttemptOutcome)
		want   time.Duration
		counts bool
	}{
		"a first success": {webhook.ResultSuccess, nil, 3 * time.Second, true},
		"a failure":       {webhook.ResultTimeout, nil, 0, false},
		"an endpoint in trouble": {
			webhook.ResultSuccess, func(o *webhookports.AttemptOutcome) { o.Delivery.Healthy = false }, 0, false,
		},
		"a retry": {webhook.ResultSuccess, func(o *webhookports.AttemptOutcome) { o.Attempt.Number = 2 }, 0, false},
		"of an unknown due time": {webhook.ResultSuccess, func(o *webhookports.AttemptOutcome) { o.StartDelay = -1 }, 0,
			false},
	} {
		got, counts := ownLatency(outcome(1, c.result, func(o *webhookports.AttemptOutcome) {
			o.StartDelay = 2 * time.Second
			if c.change != nil {
				c.change(o)
			}
		}))
		require.Equal(t, []any{c.want, c.counts}, []any{got, counts}, name)
	}
}

func TestJobs_HaveAsManyClaimsAsFit(t *testing.T) {
	t.Parallel()
	config := Config{Timeout: 10 * time.Second, Concurrency: 8, EndpointConcurrency: 8, JobSize: 2}.withDefaults()
	d := &Dispatcher{config: config, registry: newRegistry(config, time.Now)}
	d.registry.observe([]webhookports.Subscription{{ID: id.ID{2}, Health: webhook.Health{Slow: true}}})
	claim := func(sub, n byte) webhookports.Claim {
		return webhookports.Claim{SubscriptionID: id.ID{sub}, DeliveryID: id.ID{n}, Seq: 1}
	}
	claims := []webhookports.Claim{claim(1, 1), claim(2, 2), claim(3, 3), claim(1, 4)}
	x := &transport{d: d}
	require.Equal(t, []webhookports.DeliveryJob{
		{Urgent: true, Claims: claims[:2]}, // An endpoint of the slow lane may be left to other dispatchers.
		{Urgent: true, Kept: true, Claims: claims[2:]},
	}, x.jobs(claims, true))
	require.Empty(t, x.jobs(nil, false))
	require.Equal(t, 11500*time.Millisecond, x.settleSpan(), "an attempt, begun late and recorded late")
}

func TestConfig_DefaultsAndShares(t *testing.T) {
	t.Parallel()
	given := Config{RelayEvery: 1, ScanEvery: 2, Batch: 3, JobSize: 4, Window: 5, Lease: 6}
	require.Equal(t, given, given.withDefaults())
	require.Equal(t, Config{
		Timeout: 10 * time.Second, RelayEvery: 50 * time.Millisecond, ScanEvery: 100 * time.Millisecond,
		Batch: 500, JobSize: 32, Window: 4096, Lease: 30 * time.Second,
	}, Config{Timeout: 10 * time.Second}.withDefaults())
	for concurrency, want := range map[int][2]int{1: {1, 32}, 64: {32, 32}, 256: {128, 64}} {
		c := Config{Concurrency: concurrency, EndpointConcurrency: 32}
		require.Equal(t, want, [2]int{c.slowSlots(), c.partnerSlots()}, concurrency)
	}
}
