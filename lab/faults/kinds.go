package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/world"
)

// fault is a disturbance of the service in a round. do returns after its end, when every process runs again.
type fault struct {
	name string
	do   act

	// Whether the fault takes too long for a short run.
	long bool
	// Whether the fault kills a dispatcher, so that its claimed deliveries wait for the end of their leases.
	kills bool
	// Whether Redis loses its data during the fault, and the dispatchers notice the loss.
	flushes bool
	storm   int // Number of kills at failpoints; 0: another kind of fault.
}

const (
	ms     = time.Millisecond
	second = time.Second
)

// kinds lists all faults except the kills at failpoints.
var kinds = slices.Concat(processKinds, redisKinds, postgresKinds, partnerKinds, feedKinds)

var processKinds = []fault{
	{name: "kill -9 of a dispatcher", kills: true, do: on(one(allDispatchers), (*node).killAndStart)},
	{name: "kill -9 of all dispatchers", kills: true, do: on(allDispatchers, (*node).killAndStart)},
	{name: "kill -9 of http", do: on(one(allHTTP), (*node).killAndStart)},
	{name: "kill -9 of everything of ours", kills: true, do: on(everyNode, (*node).killAndStart)},
	{name: "SIGSTOP of a dispatcher for a moment", do: freeze(one(allDispatchers), 500*ms, 4*second)},
	{name: "SIGSTOP of a dispatcher beyond its leases", long: true,
		do: freeze(one(allDispatchers), lease+second, lease+4*second)},
	{name: "SIGSTOP of http", do: freeze(one(allHTTP), 500*ms, 3*second)},
	{name: "rolling restart", do: func(ctx context.Context, w *suite, _ *rand.Rand) error {
		for _, n := range w.nodes() {
			if err := n.restart(ctx); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "one dispatcher for a while",
		do: steps(on(lastDispatcher, (*node).stop), wait(second, 4*second), on(lastDispatcher, (*node).begin))},
	{name: "no dispatcher for a while",
		do: steps(on(allDispatchers, (*node).stop), wait(second, 4*second), on(allDispatchers, (*node).begin))},
}

// redisDown kills Redis, and starts it again after a random time with its data on disk.
func redisDown(from, to time.Duration) act { return away(redis, (*backing.Server).Kill, from, to) }

// answersLost and resetting drop the responses to commands on a connection to Postgres; the commands take effect.
var (
	answersLost = with(pgproxy.Fault{Lost: true})
	resetting   = with(pgproxy.Fault{Lost: true, Reset: 100 * ms})
)

// forgetting turns off Redis's append-only file, so that later writes are not kept on disk.
func forgetting(ctx context.Context, w *suite, _ *rand.Rand) error {
	return w.redis.ConfigSet(ctx, "appendonly", "no").Err()
}

var redisKinds = []fault{
	{name: "FLUSHALL", flushes: true, do: flush},
	// Redis is emptied while all webhook workers are busy, so that jobs are in the queue.
	{name: "FLUSHALL with jobs in the queue", flushes: true,
		do: steps(responding("", hangs), wait(second, 2*second), flush, responding("", ""))},
	{name: "FLUSHALL again and again", flushes: true, do: thrice(steps(flush, wait(300*ms, 2*second)))},
	{name: "Redis killed, back at once from its log", do: redisDown(10*ms, second)},
	// Connections to Redis are cut until it is empty, so that no process sees old data.
	{name: "Redis killed, back empty", flushes: true,
		do: disturbed(everyNode, toRedis, (*pgproxy.TCPProxy).CutConnections, steps(redisDown(100*ms, 2*second), flush))},
	// The restored Redis hands out jobs again that were in progress when it was killed.
	{name: "Redis restored from an old state", do: steps(forgetting, note, wait(500*ms, 3*second), note,
		redisDown(100*ms, 101*ms))},
	{name: "Redis stands still", do: frozen(redis, 500*ms, 6*second)},
	{name: "Redis away for a while", do: redisDown(3*second, 8*second)},
	{name: "Redis away for a minute", long: true, do: redisDown(time.Minute, time.Minute+ms)},
	{name: "Redis is slow",
		do: disturbed(everyNode, toRedis, with(pgproxy.Fault{Wait: 20 * ms, Jitter: 420 * ms}), wait(2*second, 5*second))},
	{name: "answers of Redis get lost", do: disturbed(everyNode, toRedis, answersLost, wait(second, 4*second))},
	{name: "connections to Redis are reset", do: disturbed(everyNode, toRedis, resetting, wait(second, 3*second))},
	{name: "one dispatcher is cut off from Redis",
		do: disturbed(one(allDispatchers), toRedis, (*pgproxy.TCPProxy).CutConnections, wait(second, 5*second))},
}

const connLimit = `ALTER ROLE ` + service + ` CONNECTION LIMIT `

// terminateAll ends every database connection of the service.
var terminateAll = statement(`
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '` + service + `'`)

// postgresFault returns a fault that first records the deliveries in flight, since it may cause second copies of
// them.
func postgresFault(name string, acts ...act) fault {
	return fault{name: name, do: steps(append([]act{note}, acts...)...)}
}

var postgresKinds = []fault{
	postgresFault("Postgres restarts at once", away(postgres, stops, ms, second)),
	postgresFault("Postgres is killed", away(postgres, (*backing.Server).Kill, 0, ms)),
	postgresFault("Postgres away for a while", away(postgres, stops, 2*second, 6*second)),
	postgresFault("Postgres stands still", frozen(postgres, 500*ms, 4*second)),
	postgresFault("all connections to Postgres are terminated",
		thrice(steps(note, terminateAll, wait(50*ms, 500*ms)))),
	postgresFault("connections to Postgres run out", statement(connLimit+"2"), terminateAll, wait(second, 4*second),
		statement(connLimit+"-1")),
	postgresFault("Postgres is slow",
		disturbed(everyNode, toPostgres, with(pgproxy.Fault{Wait: 5 * ms, Jitter: 80 * ms}), wait(2*second, 5*second))),
	postgresFault("connections to Postgres are reset",
		disturbed(everyNode, toPostgres, resetting, wait(second, 3*second))),
	postgresFault("packets of Postgres come in pieces",
		disturbed(everyNode, toPostgres, with(pgproxy.Fault{Piece: 64, Wait: ms / 10}), wait(second, 3*second))),
	postgresFault("one process is cut off from Postgres",
		disturbed(one(everyNode), toPostgres, (*pgproxy.TCPProxy).CutConnections, wait(second, 5*second))),
	// The statements commit although their answers are lost.
	postgresFault("answers of Postgres get lost on the way to one process",
		disturbed(one(everyNode), toPostgres, answersLost, wait(second, 5*second))),
}

var partnerKinds = []fault{
	{name: "an endpoint fails for a while",
		do: steps(responding("steady", fails), wait(second, 5*second), responding("steady", ""))},
	{name: "an endpoint hangs for a while",
		do: steps(responding("changing", hangs), wait(second, 5*second), responding("changing", ""))},
	{name: "secrets are rotated under retries",
		do: thrice(steps(changing((*suite).rotate), wait(100*ms, second)))},
	{name: "a subscription is made, fails, and is deleted",
		do: func(ctx context.Context, w *suite, dice *rand.Rand) error {
			like := w.receivers.of("changing")[0]
			e := w.receivers.add(like.owner, hostile, like.events)
			return errors.Join(w.subscribe(ctx, e), world.Sleep(ctx, between(dice, second, 3*second)), w.remove(ctx, e))
		}},
	{name: "a subscription is disabled for a while", do: steps(
		changing(patch(`{"enabled":false}`)), wait(second, 3*second), changing(patch(`{"enabled":true}`)))},
}

// stall pauses a dispatcher while it turns events into deliveries and holds the locks on its partners' event
// counters.
func stall(from, to time.Duration) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		span := between(dice, from, to)
		point := []string{"relay.taken", "relay.writing"}[dice.IntN(2)]
		one(allDispatchers)(w, dice)[0].Process().WriteLine(fmt.Sprintf("%s 1 %d", point, span.Milliseconds()))
		return world.Sleep(ctx, span+200*ms)
	}
}

// feedKinds lists the faults that disturb the numbering of feed events.
var feedKinds = []fault{
	{name: "a relay stands still in mid-transaction", do: stall(300*ms, 2*second)},
	{name: "a relay stands still until Postgres ends its transaction", long: true, do: stall(11*second, 14*second)},
	{name: "commits come late and in another order, without a relay",
		do: steps(on(allDispatchers, (*node).stop), disturbed(one(allHTTP), toPostgres,
			with(pgproxy.Fault{Requests: true, Piece: 96, Wait: 8 * ms}), steps(wait(1500*ms, 2500*ms),
				// The dispatchers begin to number events while the slow process's transactions are open.
				on(allDispatchers, (*node).begin), wait(300*ms, second))))},
}
