package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"partnerdeposits/lab/world"
)

// point is a failpoint, with the condition under which it is reached.
type point struct {
	name string
	// The process is killed at a random hit of the failpoint, at most this one.
	upTo int
	http bool
	way  int
}

// The conditions under which processes reach a failpoint.
const (
	underLoad = iota // Condition: the usual load is enough.
	redisAway        // Condition: Redis must be unreachable.
	redisLost        // Condition: Redis must lose its data.
	// Condition: the leases of deliveries must end.
	expired
)

// storm returns the condition of the failpoint's storm of kills.
func (p point) storm() int { return p.way % expired }

// points lists all failpoints, in the order in which a change passes them.
var points = []point{
	{name: "store.writing", upTo: 10, http: true}, // Failpoint before the commit of a deposit's change.
	// Failpoint after the commit of a deposit's change, before the response.
	{name: "store.committed", upTo: 10, http: true},
	// Failpoint after the commit of a deposit's change that has an event.
	{name: "outbox.committed", upTo: 5, http: true},
	// Failpoint before the response waits until it is cached in Redis.
	{name: "cache.finishing", upTo: 10, http: true},
	// Failpoint after the response is cached in Redis, before it is sent.
	{name: "api.answering", upTo: 10, http: true},
	// Failpoint in the dispatcher, after the commit of a deposit's expiry.
	{name: "outbox.committed", upTo: 1},
	// Failpoint after outbox rows are deleted, before their deliveries exist.
	{name: "relay.taken", upTo: 5},
	{name: "relay.writing", upTo: 5}, // Failpoint before the deliveries of an event are inserted.
	// Failpoint after deliveries are committed, before their jobs are queued.
	{name: "relay.committed", upTo: 5},
	// Failpoint after some jobs for deliveries are queued.
	{name: "queue.enqueued", upTo: 5},
	{name: "relay.enqueued", upTo: 5}, // Failpoint after all jobs for deliveries are queued.
	// Failpoint after due deliveries are reserved, before a job exists.
	{name: "scan.claimed", upTo: 2},
	// Failpoint after deliveries whose reservation ended are reserved again.
	{name: "scan.recovered", upTo: 1, way: expired},
	{name: "transport.renewed", upTo: 1, way: redisAway},
	// Failpoint after workers got a delivery of their own process without Redis.
	{name: "transport.local", upTo: 3, way: redisAway},
	// Failpoint after a delivery is read, before its POST to the receiver.
	{name: "worker.loaded", upTo: 10},
	// Failpoint after the receiver answered, before the outcome is stored.
	{name: "worker.answered", upTo: 10},
	// Failpoint before the outcomes of a batch of deliveries are stored.
	{name: "record.begun", upTo: 5},
	// Failpoint before the new health of a webhook endpoint is written.
	{name: "record.writing", upTo: 2},
	// Failpoint after outcomes are stored, before their jobs are removed from the queue.
	{name: "record.committed", upTo: 5},
	{name: "epoch.noticed", upTo: 1, way: redisLost}, // Failpoint after Redis's loss of data is marked as noticed.
	// Failpoint before reservations end because Redis has lost its data.
	{name: "epoch.settled", upTo: 1, way: redisLost},
}

// label names a failpoint in reports. One in both http and dispatcher has two labels.
func (p point) label() string {
	if p.http {
		return "http: " + p.name
	}
	return "dispatcher: " + p.name
}

// storm kills processes at failpoints under load, each process at its part of the list.
func (w *suite) storm(ctx context.Context, list []point, dice *rand.Rand) error {
	lists := map[*node][]point{}
	for i, p := range list {
		nodes := w.dispatchers
		if p.http {
			nodes = w.https
		}
		// Only the leading dispatcher reaches these failpoints. Another may lead in a further round.
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

// killAt makes a process die at a failpoint, if it is reached in time, and starts the process again.
func (w *suite) killAt(ctx context.Context, n *node, p point, dice *rand.Rand) error {
	patience := 20 * time.Second * w.o.slack()
	switch p.way {
	case expired: // A kill with deliveries in flight first lets their leases run out.
		reached, err := n.dieAt(ctx, "worker.loaded", 1, patience)
		if reached {
			err = errors.Join(err, n.start())
		}
		if err != nil {
			return err
		}
		patience += lease * w.o.slack()
	case redisLost: // Redis is emptied until this process is the first to notice the loss.
		losing, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			for world.Sleep(losing, 2*time.Second) == nil {
				// If Redis cannot be emptied, the failpoint is not reached.
				_ = w.redis.FlushAll(losing).Err()
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

func (w *suite) awaitNodes(ctx context.Context) error {
	return each(ctx, w.nodes(), func(n *node, ctx context.Context) error { return n.AwaitReady(ctx) })
}
