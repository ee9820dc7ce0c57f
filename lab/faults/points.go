package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// point is a failpoint and the condition under which processes inTransit the failpoint.
type point struct {
	name string
	upTo int // number of hits among which the kill is drawn; above 1 for failpoints that are reached often
	http bool
	way  way
}

// way is the condition under which processes inTransit a failpoint.
type way int

const (
	underLoad way = iota // load is enough
	expired              // leases have to run out
	redisAway            // Redis has to be away
	redisLost            // Redis has to lose its data
)

// postUnderWay is no failpoint in the code: the process is killed after the receiver has the request and before the
// response.
const postUnderWay = "post.under_way"

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
	{name: postUnderWay, upTo: 1},
	{name: "worker.answered", upTo: 10},              // after the receiver's response, nothing recorded
	{name: "record.begun", upTo: 5},                  // before the outcomes of a batch are recorded
	{name: "record.writing", upTo: 2},                // health of the endpoint read, about to be written and committed
	{name: "record.committed", upTo: 5},              // outcomes committed, jobs not acknowledged
	{name: "mail.claimed", upTo: 3},                  // before the mail server gets the mail
	{name: "mail.taken", upTo: 3},                    // after its 250, nothing recorded
	{name: "mail.recorded", upTo: 3},                 // recorded
	{name: "epoch.noticed", upTo: 1, way: redisLost}, // the loss is marked as noticed, nothing done yet
	{name: "epoch.settled", upTo: 1, way: redisLost}, // just before leases are ended
}

// order is a line that the trigger in a process reads.
func order(point string, count int) string { return fmt.Sprintf("%s %d", point, count) }

// label names the point in reports. A failpoint in both http and dispatcher has two labels.
func (p point) label() string {
	if p.http {
		return "http: " + p.name
	}
	return "dispatcher: " + p.name
}

func (w *suite) hit(p point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hits[p.label()]++
}

// storm kills processes at failpoints until every list is done. Each node works through its own list, all nodes at the
// same time, under load.
func (w *suite) storm(ctx context.Context, lists map[*node][]point, dice *rand.Rand) error {
	var group sync.WaitGroup
	errs := make(chan error, len(lists))
	for n, list := range lists {
		own := rand.New(rand.NewPCG(dice.Uint64(), dice.Uint64())) //nolint:gosec // repeatable on purpose
		group.Go(func() {
			for _, p := range list {
				if _, err := w.killAt(ctx, n, p, own); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// killAt lets a node die at a failpoint and starts the node again.
func (w *suite) killAt(ctx context.Context, n *node, p point, dice *rand.Rand) (reached bool, err error) {
	patience := 20 * time.Second
	if p.way == expired {
		if err := w.leaveLeases(ctx, n); err != nil {
			return false, err
		}
		patience += w.lease()
	}
	reached, err = n.dieAt(ctx, p.name, 1+dice.IntN(p.upTo), patience*w.o.slack())
	if err != nil || !reached {
		return false, err
	}
	w.hit(p)
	return true, n.start(ctx, n.http)
}

// leaveLeases kills a dispatcher with deliveries in flight, so that their leases run out.
func (w *suite) leaveLeases(ctx context.Context, n *node) error {
	reached, err := n.dieAt(ctx, "worker.loaded", 1, 20*time.Second*w.o.slack())
	if err != nil || !reached {
		return err
	}
	return n.start(ctx, false)
}

// awaitNodes waits until every process is ready.
func (w *suite) awaitNodes(ctx context.Context) error {
	for _, n := range w.nodes() {
		if err := n.AwaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// deal distributes failpoints over the nodes that pass them.
func (w *suite) deal(list []point) map[*node][]point {
	lists := map[*node][]point{}
	for i, p := range list {
		nodes := w.dispatchers
		if p.http {
			nodes = w.https
		}
		n := nodes[i%len(nodes)]
		lists[n] = append(lists[n], p)
	}
	return lists
}

// stormUnderLoad is a storm without any other disturbance.
func (w *suite) stormUnderLoad(ctx context.Context, list []point, dice *rand.Rand) error {
	return w.storm(ctx, w.deal(list), dice)
}

// stormWithoutRedis is a storm while the dispatchers cannot inTransit Redis.
func (w *suite) stormWithoutRedis(ctx context.Context, list []point, dice *rand.Rand) error {
	for _, n := range w.dispatchers {
		n.redis.cut()
	}
	err := w.storm(ctx, w.deal(list), dice)
	for _, n := range w.dispatchers {
		err = errors.Join(err, n.redis.heal(ctx))
	}
	return err
}

// stormOfLosses empties Redis repeatedly and kills the dispatcher that notices, at the given failpoints.
func (w *suite) stormOfLosses(ctx context.Context, list []point, _ *rand.Rand) error {
	for _, p := range list {
		for _, n := range w.dispatchers {
			n.expectEnd(true).Tell(order(p.name, 1))
		}
		if err := w.redis.FlushAll(ctx).Err(); err != nil {
			return err
		}
		timer := time.NewTimer(20 * time.Second * w.o.slack())
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-w.dispatchers[0].Process().Done():
		case <-w.dispatchers[1].Process().Done():
		}
		timer.Stop()
		for _, n := range w.dispatchers {
			if err := w.afterLoss(ctx, n, p); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// afterLoss cancels the order of a living process; for a dead process it counts the hit and starts the node again.
func (w *suite) afterLoss(ctx context.Context, n *node, p point) error {
	process := n.Process()
	process.Tell("off")
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-process.Done():
		w.hit(p)
		return errors.Join(w.noteInFlight(ctx, n), n.start(ctx, false))
	case <-timer.C:
		n.expectEnd(false)
		return nil
	}
}
