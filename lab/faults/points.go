package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"partnerdeposits/lab/world"
)

// point is a failpoint, with the condition under which processes reach it.
type point struct {
	name string
	// The kill comes at a random hit up to this number; above 1 for failpoints that are reached often.
	upTo int
	http bool
	way  int
}

// underLoad, redisAway, redisLost and expired are the conditions under which processes reach a failpoint.
const (
	underLoad = iota // Condition: load alone is enough.
	redisAway        // Condition: Redis must be unreachable.
	redisLost        // Condition: Redis must lose its data.
	expired          // Condition: leases of deliveries must run out.
)

// storm returns the condition of the storm of kills in which a process dies at the failpoint.
func (p point) storm() int { return p.way % expired }

// points lists all failpoints, in the order in which a change of a deposit passes them.
var points = []point{
	{name: "store.writing", upTo: 10, http: true},   // Failpoint before the commit of a change.
	{name: "store.committed", upTo: 10, http: true}, // Failpoint after the commit, before the response.
	{name: "outbox.committed", upTo: 5, http: true}, // Failpoint after the commit of a change with an event.
	{name: "cache.finishing", upTo: 10, http: true}, // Failpoint before the response waits for the cache.
	{name: "api.answering", upTo: 10, http: true},   // Failpoint after the wait for the cache, before the response.
	{name: "outbox.committed", upTo: 1},             // Failpoint in the dispatcher, after the commit of an expiry.
	{name: "relay.taken", upTo: 5},                  // Failpoint after outbox rows are deleted, before deliveries exist.
	{name: "relay.writing", upTo: 5},                // Failpoint before planned deliveries are inserted.
	{name: "relay.committed", upTo: 5},              // Failpoint after deliveries are committed, before a job exists.
	{name: "queue.enqueued", upTo: 5},               // Failpoint after some jobs are enqueued.
	{name: "relay.enqueued", upTo: 5},               // Failpoint after all jobs are enqueued.
	{name: "scan.claimed", upTo: 2},                 // Failpoint after due deliveries are leased, before a job exists.
	{name: "scan.recovered", upTo: 1, way: expired}, // Failpoint after deliveries with ended leases are leased again.
	{name: "transport.renewed", upTo: 1, way: redisAway},
	{name: "transport.local", upTo: 3, way: redisAway}, // Failpoint after local workers got a delivery.
	{name: "worker.loaded", upTo: 10},                  // Failpoint after a delivery is loaded, before its POST.
	{name: "worker.answered", upTo: 10},                // Failpoint after the receiver answered, before storing.
	{name: "record.begun", upTo: 5},                    // Failpoint before the outcomes of a batch are stored.
	{name: "record.writing", upTo: 2},                  // Failpoint before the endpoint's new health is written.
	{name: "record.committed", upTo: 5},                // Failpoint before jobs of stored outcomes are acknowledged.
	{name: "epoch.noticed", upTo: 1, way: redisLost},   // Failpoint after Redis's loss of data is marked as noticed.
	{name: "epoch.settled", upTo: 1, way: redisLost},   // Failpoint just before leases are ended after a loss of data.
}

// label returns the name of a failpoint in reports. A failpoint in both http and dispatcher has two labels.
func (p point) label() string {
	if p.http {
		return "http: " + p.name
	}
	return "dispatcher: " + p.name
}

// storm kills processes at a list of failpoints, under load. Each process has a part of the list, and all work at
// the same time.
func (w *suite) storm(ctx context.Context, list []point, dice *rand.Rand) error {
	lists := map[*node][]point{}
	for i, p := range list {
		nodes := w.dispatchers
		if p.http {
			nodes = w.https
		}
		// A dispatcher that is not the leader does not reach the relay's failpoints, so a further round tries another
		// dispatcher.
		n := nodes[(i+w.retried)%len(nodes)]
		lists[n] = append(lists[n], p)
	}
	group, ctx := errgroup.WithContext(ctx)
	for n, list := range lists {
		own := rand.New(rand.NewPCG(dice.Uint64(), dice.Uint64())) //nolint:gosec // repeatable on purpose
		group.Go(func() error {
			for _, p := range list {
				if err := w.killAt(ctx, n, p, own); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// killAt makes a process die at a failpoint, if it reaches the failpoint in time, and starts the process again.
func (w *suite) killAt(ctx context.Context, n *node, p point, dice *rand.Rand) error {
	patience := 20 * time.Second * w.o.slack()
	switch p.way {
	case expired: // the process dies first with deliveries in flight, whose leases then run out
		reached, err := n.dieAt(ctx, "worker.loaded", 1, patience)
		if reached {
			err = errors.Join(err, n.start())
		}
		if err != nil {
			return err
		}
		patience += lease * w.o.slack()
	case redisLost: // Redis is emptied until this process notices the loss first.
		losing, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			for world.Sleep(losing, 2*time.Second) == nil {
				_ = w.redis.FlushAll(losing).Err() // If Redis cannot be emptied, the failpoint is not reached.
			}
		}()
	}
	reached, err := n.dieAt(ctx, p.name, 1+dice.IntN(p.upTo), patience)
	if err != nil || !reached {
		return err
	}
	w.mu.Lock()
	w.hits[p.label()]++
	w.mu.Unlock()
	if n.http {
		return n.begin(ctx)
	}
	return n.start()
}

// awaitNodes waits until every process of the service is ready.
func (w *suite) awaitNodes(ctx context.Context) error {
	return each(ctx, w.nodes(), func(n *node, ctx context.Context) error { return n.AwaitReady(ctx) })
}
