package e2e_test

import (
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/redistest"
)

// sent counts what a process sends to Postgres.
type sent struct{ statements, roundTrips atomic.Int64 }

// counting gives the URL of a proxy of a database that counts into s.
func (s *sent) counting(t testing.TB, databaseURL string) string {
	t.Helper()
	at, err := url.Parse(databaseURL)
	require.NoError(t, err)
	at.Host = pgproxy.StartMessageProxy(t, at.Host, func(m pgproto3.FrontendMessage) {
		switch m.(type) {
		case *pgproto3.Execute:
			s.statements.Add(1)
		case *pgproto3.Sync:
			s.roundTrips.Add(1)
		case *pgproto3.Query:
			s.statements.Add(1)
			s.roundTrips.Add(1)
		}
	})
	return at.String()
}

// cost is what one operation costs.
type cost struct{ statements, roundTrips, redisCommands int64 }

// requireCost fails the test unless want is the usual cost of an operation. On a busy machine work of the background
// can fall into most repetitions of a round, and a further statement falls into all repetitions of all rounds.
func (s *sent) requireCost(t testing.TB, name string, want cost, redisCommands func() int64, operation func()) {
	t.Helper()
	var got cost
	for range 10 {
		if got = s.usual(t, redisCommands, operation); got == want {
			return
		}
	}
	assert.Equal(t, want, got, "%s: statements, round trips to Postgres, commands of Redis", name)
}

// usual gives the most frequent cost of an operation.
func (s *sent) usual(t testing.TB, redisCommands func() int64, operation func()) (usual cost) {
	t.Helper()
	seen := map[cost]int{}
	for range 25 {
		before := cost{s.statements.Load(), s.roundTrips.Load(), redisCommands()}
		operation()
		now := cost{s.statements.Load(), s.roundTrips.Load(), redisCommands()}
		seen[cost{now.statements - before.statements, now.roundTrips - before.roundTrips,
			now.redisCommands - before.redisCommands}]++
	}
	for c, times := range seen {
		if times > seen[usual] {
			usual = c
		}
	}
	return usual
}

// requireAllocations bounds the objects that a process allocates for an operation, at a tenth above the known number.
// On a busy machine work of the background can fall into a round, and a further allocation falls into all of them.
func requireAllocations(t testing.TB, operation string, known float64, p *process, operate func()) {
	t.Helper()
	var each float64
	for range 5 {
		each = allocations(t, p, operate)
		t.Log(operation, "allocates", each)
		if each <= 1.1*known {
			return
		}
	}
	assert.LessOrEqual(t, each, 1.1*known, "allocations of a %s", operation)
}

// allocations returns the objects that a process allocates for an operation. What the process allocates beside it
// depends on the time, and is subtracted.
func allocations(t testing.TB, p *process, operate func()) float64 {
	t.Helper()
	const times = 300
	allocated := func() float64 { return sum(t, "go_memstats_mallocs_total", "", p) }
	began := allocated()
	begin := time.Now()
	for range times {
		operate()
	}
	took := time.Since(begin)
	busy := allocated() - began
	passes(t, took)
	return (busy - (allocated() - began - busy)) / times
}

// A further statement, round trip or tenth of allocations on a hot path fails here (CONTRIBUTING.md, "Figures do not
// get worse"). Another figure is right where a change means it.
func TestCosts_OfAPostAGetAndADelivery_AreTheKnownOnes(t *testing.T) {
	t.Parallel()
	server := redistest.StartServer(t)
	w := newWorldWithRedis(t, server.URL(), "SCHEDULER_INTERVAL=1h", "RATE_LIMIT_PER_MINUTE=1000000",
		"RATE_LIMIT_WRITES_PER_MINUTE=1000000")
	database := strings.TrimPrefix(w.environ[0], "DATABASE_URL=")
	client := redistest.ServerClient(t, server)
	questions := int64(0) // for the number of commands, each a command itself
	redisCommands := func() int64 {
		questions++
		info, err := strconv.ParseInt(client.InfoMap(t.Context(), "stats").Item("Stats", "total_commands_processed"), 10, 64)
		require.NoError(t, err)
		return info - questions
	}
	var byHTTP, byDispatcher sent
	h := start(t, "http", append(w.environ, "DATABASE_URL="+byHTTP.counting(t, database))...).ready(t)
	account := w.link(t, "villa-1")
	var depositID string
	post := func() { depositID, _ = w.deposit(t, account) }
	get := func() { w.api(t).get("/deposits/"+depositID, nil) }
	r := newReceiver(t)
	deliver := func() {
		post()
		before := len(r.Accepted())
		w.api(t).post("/deposits/"+depositID+"/cancel", nil, nil)
		r.await(t, before+1)
	}
	post()

	byHTTP.requireCost(t, "POST", cost{statements: 7, roundTrips: 2, redisCommands: 0}, redisCommands, post)
	byHTTP.requireCost(t, "GET", cost{statements: 1, roundTrips: 1, redisCommands: 0}, redisCommands, get)
	requireAllocations(t, "POST", 520, h, post)
	requireAllocations(t, "GET", 155, h, get)

	w.subscribe(t, r)
	d := start(t, "dispatcher", append(w.environ, "DATABASE_URL="+byDispatcher.counting(t, database))...).ready(t)
	r.await(t, 1) // the link of the account
	// The commands of Redis contain those of the POST and of the cancellation that cause the delivery.
	byDispatcher.requireCost(t, "delivery", cost{statements: 9, roundTrips: 3, redisCommands: 19}, redisCommands, deliver)
	requireAllocations(t, "delivery", 750, d, deliver)
}
