package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/world"
)

// fixture is an audit of a single delivery to a single endpoint.
type fixture struct {
	*audit
	f committedChange
	e *endpoint
	k deliveryKey
	p pair
}

func newFixture() fixture {
	now := time.Now()
	w := &suite{receipts: newReceiptLog(), receivers: &receivers{}, inFlight: map[pair][]time.Time{}}
	e := w.receivers.add(&world.Partner{ID: id.ID{1}}, polite, webhook.EventNames)
	e.id, e.created = id.ID{2}, now.Add(-time.Hour)
	f := committedChange{Event: id.ID{3}, Partner: id.ID{1}, Deposit: id.ID{4}, Status: cancelled, Committed: now}
	b := fixture{audit: &audit{suite: w, cut: now.Add(time.Hour), facts: map[id.ID]committedChange{f.Event: f},
		records: map[pair]record{}}, f: f, e: e}
	b.k, b.p = f.at(0), pair{e.id, f.Event}
	return b
}

// log sets the delivery's state in the database, its attempts that failed, and the copies that the receiver took.
func (b fixture) log(state webhook.DeliveryState, refused int, copies ...time.Time) {
	w := b.receipts
	for range copies {
		w.arrive(b.k, []byte("body"))
	}
	for _, at := range copies {
		w.answer(b.k, at, true)
	}
	sum := w.deliveries[b.k]
	r := record{pair: b.p, ID: id.ID{5}, Name: b.f.name(), State: state, Refused: refused}
	if sum != nil {
		r.Sum = sum.sum[:]
	}
	b.records[b.p] = r
	b.taken = w.snapshot()
}

func (b fixture) violations() []string {
	b.coverage()
	b.copies()
	var kinds []string
	for kind := range b.receipts.violations {
		kinds = append(kinds, kind)
	}
	return kinds
}

func TestAudit_SaysWhatIsLost(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		arrange func(b fixture)
		lost    int
	}{
		"delivered":                           {func(b fixture) { b.log(webhook.DeliveryStateSucceeded, 0, now) }, 0},
		"no delivery was made":                {func(b fixture) {}, 1},
		"said to have succeeded, never taken": {func(b fixture) { b.log(webhook.DeliveryStateSucceeded, 0) }, 1},
		"still waiting":                       {func(b fixture) { b.log(webhook.DeliveryStateWaiting, 2) }, 1},
		"given up after every attempt":        {func(b fixture) { b.log(webhook.DeliveryStateFailed, len(retries)) }, 0},
		"given up too early":                  {func(b fixture) { b.log(webhook.DeliveryStateFailed, 2) }, 1},
		"cancelled though nobody deleted it":  {func(b fixture) { b.log(webhook.DeliveryStateCancelled, 0) }, 1},
		"cancelled with its subscription": {func(b fixture) {
			b.log(webhook.DeliveryStateCancelled, 0)
			b.e.deleted = now
		}, 0},
		"committed after the deletion was due": {func(b fixture) { b.e.ending = b.f.Committed.Add(-time.Minute) }, 0},
		"committed before the subscription":    {func(b fixture) { b.e.created = b.f.Committed.Add(time.Minute) }, 0},
		"not subscribed to":                    {func(b fixture) { b.e.events = []webhook.EventName{"deposit.captured"} }, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture()
			c.arrange(b)
			found := b.violations()
			require.Equal(t, c.lost, b.result.lost, found)
			require.Equal(t, c.lost > 0, len(found) > 0, found)
		})
	}
}

func TestAudit_AsksForTheReasonOfEachCopy(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		copies, kills, refusals int
		want                    []string
	}{
		"one copy":                           {1, 0, 0, nil},
		"two, without a reason":              {2, 0, 0, []string{"duplicate"}},
		"two, one kill":                      {2, 1, 0, nil},
		"three, one kill":                    {3, 1, 0, []string{"duplicate"}},
		"two, one attempt given up too soon": {2, 0, 1, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture()
			var at []time.Time
			for i := range c.copies {
				at = append(at, now.Add(time.Duration(i)*time.Minute))
			}
			b.log(webhook.DeliveryStateSucceeded, c.refusals, at...)
			for range c.kills {
				b.inFlight[b.p] = append(b.inFlight[b.p], now.Add(time.Second))
			}
			require.Equal(t, c.want, b.violations())
			require.Equal(t, c.copies-1, b.result.extra)
		})
	}
}

func TestAudit_ACopyThatDiffers_IsTold(t *testing.T) {
	t.Parallel()
	b := newFixture()
	b.log(webhook.DeliveryStateSucceeded, 0, time.Now())
	b.receipts.arrive(b.k, []byte("another body"))
	b.receipts.answer(b.k, time.Now(), false)
	b.taken = b.receipts.snapshot()
	require.Equal(t, []string{"body"}, b.violations())
}

func TestAudit_WhatNeverHappened_IsTold(t *testing.T) {
	t.Parallel()
	b := newFixture()
	b.log(webhook.DeliveryStateSucceeded, 0, time.Now())
	b.facts = nil
	require.Equal(t, []string{"phantom"}, b.violations())
}
