package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"partnerdeposits/lab/world"
)

// point is a failpoint and the condition under which processes reach the failpoint.
type point struct {
	name string
	upTo int // number of hits among which the kill is drawn; above 1 for failpoints that are reached often
	http bool
	way  int
}

// The conditions under which processes reach a failpoint.
const (
	underLoad = iota // load is enough
	redisAway        // Redis has to be away
	redisLost        // Redis has to lose its data
	expired          // leases have to run out
)

// storm is the condition of the storm in which a process dies at the point.
func (p point) storm() int { return p.way % expired }

// points lists all failpoints, in the order in which a change passes them.
var points = []point{
	{name: "store.writing", upTo: 10, http: true},   // before the commit of a creation or another change
	{name: "store.committed", upTo: 10, http: true}, // after the commit, before the response
	{name: "outbox.committed", upTo: 5, http: true}, // the same, for a change with an event
	{name: "cache.finishing", upTo: 10, http: true}, // before the response waits for the cache
	{name: "api.answering", upTo: 10, http: true},   // after that, before the response is sent
	{name: "outbox.committed", upTo: 1},             // in the dispatcher: after the commit of an expiry
	{name: "relay.taken", upTo: 5},                  // outbox rows deleted, no deliveries yet
	{name: "relay.writing", upTo: 5},                // deliveries planned, about to be inserted and committed
	{name: "relay.committed", upTo: 5},              // committed, no job enqueued
	{name: "queue.enqueued", upTo: 5},               // some jobs enqueued
	{name: "relay.enqueued", upTo: 5},               // all jobs enqueued
	{name: "scan.claimed", upTo: 2},                 // due deliveries leased, no job enqueued
	{name: "scan.recovered", upTo: 1, way: expired}, // the same, for a lease that ran out
	{name: "transport.renewed", upTo: 1, way: redisAway},
	{name: "transport.local", upTo: 3, way: redisAway}, // handed to local workers
	{name: "worker.loaded", upTo: 10},                  // before the POST
	{name: "worker.answered", upTo: 10},                // after the receiver's response, nothing recorded
	{name: "record.begun", upTo: 5},                    // before the outcomes of a batch are recorded
	{name: "record.writing", upTo: 2},                  // health of the endpoint read, about to be written and committed
	{name: "record.committed", upTo: 5},                // outcomes committed, jobs not acknowledged
	{name: "epoch.noticed", upTo: 1, way: redisLost},   // the loss is marked as noticed, nothing done yet
	{name: "epoch.settled", upTo: 1, way: redisLost},   // just before leases are ended
}

// label names the point in reports. A failpoint in both http and dispatcher has two labels.
func (p point) label() string {
	if p.http {
		return "http: " + p.name
	}
	return "dispatcher: " + p.name
}

// storm kills processes at failpoints, under load. Each node works through a list of its own, beside the others.
func (w *suite) storm(ctx context.Context, list []point, dice *rand.Rand) error {
	lists := map[*node][]point{}
	for i, p := range list {
		nodes := w.dispatchers
		if p.http {
			nodes = w.https
		}
		n := nodes[(i+w.retried)%len(nodes)] // a follower does not reach the points of a relay: another round tries the other
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

// killAt lets a node die at a failpoint, if it reaches the failpoint in time, and starts the node again.
func (w *suite) killAt(ctx context.Context, n *node, p point, dice *rand.Rand) error {
	patience := 20 * time.Second * w.o.slack()
	switch p.way {
	case expired: // the node dies with deliveries in flight, so that their leases run out
		reached, err := n.dieAt(ctx, "worker.loaded", 1, patience)
		if reached {
			err = errors.Join(err, n.start())
		}
		if err != nil {
			return err
		}
		patience += lease * w.o.slack()
	case redisLost: // until this node is the one that notices
		losing, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			for world.Pause(losing, 2*time.Second) == nil {
				_ = w.redis.FlushAll(losing).Err() // the failpoint is missed then
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

// awaitNodes waits until every process is ready.
func (w *suite) awaitNodes(ctx context.Context) error {
	return each(ctx, w.nodes(), func(n *node, ctx context.Context) error { return n.AwaitReady(ctx) })
}
