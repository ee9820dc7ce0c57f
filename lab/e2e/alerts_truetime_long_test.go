//go:build long

package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/pgtest"
)

const scrapeInterval = 15 * time.Second // deployments/prometheus.yml

// installation is a running service with stages of faults. The faults of a stage begin together and end once all their
// alerts fire; then the next stage begins.
type installation struct {
	name   string
	of     watchedOf
	load   bool
	stages [][]fault
}

// installations are services whose faults fire every alert on a cause.
func installations(t *testing.T) []installation {
	return []installation{
		{name: "slow causes", of: watchedOf{mailServer: freePort(t)}, stages: [][]fault{slowCauses}},
		{name: "servers", load: true, stages: serverFaults},
		{name: "writes fail", load: true, stages: failingWrites},
		{name: "a dispatcher freezes", load: true, stages: [][]fault{{
			{"every dispatcher freezes", []string{"DispatcherAbsent", "DeliveriesStand", "DeliveriesWait"},
				freezeDispatcher(12)},
		}}},
		{name: "nobody comes", of: watchedOf{history: true}, load: true, stages: [][]fault{{
			{"the clients fall silent", []string{"TrafficGone"}, func(x *watched) func() {
				x.silence.Store(true)
				return func() { x.silence.Store(false) }
			}},
		}}},
		{name: "the way out breaks", stages: [][]fault{{
			{"the receivers of two partners refuse connections", []string{"OutboundBroken"}, func(x *watched) func() {
				x.cutOff()
				return func() { x.cut.mends(x.t) }
			}},
		}}},
		{name: "logs that nobody reads", of: watchedOf{environ: []string{"LOG_LEVEL=debug"}}, load: true, stages: [][]fault{{
			{"nobody reads the log of the dispatcher", []string{"LogNotRead"},
				func(x *watched) func() { return x.unreadLog(x.dispatch, binary(x.t, "dispatcher")) }},
			{"requests hang", []string{"RequestsStand"}, hangRequests},
		}}},
		{name: "the clock of Postgres is wrong", stages: [][]fault{{
			{"Postgres is ten minutes ahead", []string{"ClockBreaksSignatures", "ClockSkewed"}, func(x *watched) func() {
				turnClock(x)
				return func() { pgtest.SkewDatabaseClock(x.t, x.database, 0) }
			}},
		}}},
		{name: "a keyset differs", stages: [][]fault{{
			{"secrets do not decrypt, then http has another keyset", []string{"KeysetDiffers", "SecretsUnreadable"},
				func(x *watched) func() {
					restore := x.loseSecrets()
					x.otherKeyset()
					return func() { restore(); x.http.end(); x.http.again(x.t) }
				}},
		}}},
		{name: "one of two dispatchers freezes", of: watchedOf{second: true}, load: true, stages: [][]fault{{
			{"a dispatcher with POSTs in flight freezes", []string{"LeasesExpire"}, freezeDispatcher(16)},
		}}},
	}
}

// slowCauses begin in this order: the first restarts the dispatcher, whose job partitions would mend the third, and the
// last fault keeps mails from being filed.
var slowCauses = []fault{
	{"the provider's books differ", []string{"ReconcileDiffers"}, func(x *watched) func() {
		changeTheProvidersBooks(x)
		return func() {
			x.sql(`UPDATE sandbox_payments SET amount_cents = 12050 WHERE amount_cents = 12049`,
				`UPDATE reconciliations SET begun_at = begun_at - interval '1 day'`)
			x.dispatch.restart(x.t)
		}
	}},
	{"a card is refused for weeks", []string{"CollectionsLate"}, func(x *watched) func() {
		id := refuseForWeeks(x)["DEPOSIT"]
		return func() { x.admin(x.t, &struct{}{}, "collection", "cancel", "--id", id) }
	}},
	{"partitions are missing and a row has none", []string{"PartitionsRunOut", "RowsWithoutPartition"},
		func(x *watched) func() {
			losePartitions(x)
			return func() { x.dispatch.restart(x.t) }
		}},
	{"an old snapshot keeps dead rows", []string{"DeadRows"}, func(x *watched) func() {
		keepDeadRows(x)
		return func() { x.endForeign(); x.sql(`VACUUM waiting_counts`) }
	}},
	{"no mail server answers, then mails are locked", []string{"MailsLate", "JobNotRun", "JobFails"},
		func(x *watched) func() {
			mailInVain(x)
			require.Eventually(x.t,
				func() bool { return x.dispatch.metric(`svc_job_last_success_timestamp_seconds{job="mail"}`) > 0 }, soon, often)
			x.hold(`LOCK TABLE mails IN EXCLUSIVE MODE`)
			return func() { x.endForeign(); x.startMailServer() }
		}},
}

var serverFaults = [][]fault{
	{
		{"an event is refused", []string{"EventsSetAside"}, func(x *watched) func() {
			refuseEvents(x)
			return func() {
				x.sql(`ALTER TABLE events DROP CONSTRAINT refused`)
				x.retryEvents()
			}
		}},
		{"a row is spoilt", []string{"RowsUnreadable"}, func(x *watched) func() {
			given := spoilRow(x)
			return func() { x.sql(`UPDATE deposits SET metadata = '{}' WHERE NOT (` + given["CONDITION"] + `)`) }
		}},
		{"foreign clients hold connections", []string{"PostgresConnectionsRunOut"},
			func(x *watched) func() { return x.connections(225) }},
		{"Redis is killed", []string{"QueueDirect", "LimiterFailsOpen"}, func(x *watched) func() {
			require.NoError(x.t, x.redis.Kill())
			return func() { require.NoError(x.t, x.redis.Restart(context.Background())) }
		}},
	},
	{{"http has few descriptors left", []string{"DescriptorsRunOut"}, func(x *watched) func() {
		x.http.limitDescriptors(x.t, x.http.descriptors(x.t)*10/9)
		return func() { x.http.limitDescriptors(x.t, roomyLimit) }
	}}},
	{{"a table is locked", []string{"PoolSaturated"},
		func(x *watched) func() { lockOutVisitors(x); return x.endForeign }}},
	{{"Postgres is stopped", []string{"NoReadyHttp", "NoReadyDispatcher", "BacklogUnread"}, func(x *watched) func() {
		require.NoError(x.t, x.postgres.Stop(true))
		return func() { require.NoError(x.t, x.postgres.Restart(context.Background())) }
	}}},
	{{"the relay is locked out", []string{"OutboxStands"},
		func(x *watched) func() { x.hold(countedFeeds); return x.endForeign }}},
	{{"http is killed", []string{"HttpAbsent", "ScrapesFail"}, func(x *watched) func() {
		x.http.Kill()
		return func() { x.http.again(x.t) }
	}}},
}

var failingWrites = [][]fault{
	{{"deposits are locked", []string{"WritesFail"}, func(x *watched) func() {
		x.hold(`LOCK TABLE deposits IN EXCLUSIVE MODE`)
		return x.endForeign
	}}},
	{{"Postgres is read-only", []string{"WritesFail"}, func(x *watched) func() {
		return x.setting("default_transaction_read_only", "on")
	}}},
	{{"no standby confirms", []string{"WritesFail"}, loseStandby}},
}

// freezeDispatcher is the fault that stops a dispatcher with SIGSTOP while at least the given number of POSTs is in
// flight in that dispatcher. The fault ends with SIGCONT.
func freezeDispatcher(posts int) func(*watched) func() {
	return func(x *watched) func() {
		x.hang(posts)
		x.dispatch.Signal(syscall.SIGSTOP)
		return func() { x.dispatch.Signal(syscall.SIGCONT) }
	}
}

// endForeign ends the database connections of the foreign client, and with them its locks.
func (x *watched) endForeign() {
	x.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '` + foreign + `'`)
}

// TestLong_AlertsInTrueTime fires and clears every alert on a cause by a real fault, with the rules and the interval of
// scrapes as they are deployed. The installations run beside each other, since an alert waits for up to half an hour.
// t.Parallel is not used, since it runs as many tests as there are processors, and these tests mostly wait.
func TestLong_AlertsInTrueTime(t *testing.T) {
	all, fired := alertsOnCauses(t), map[string]bool{}
	var running sync.WaitGroup
	for _, of := range installations(t) {
		for _, stage := range of.stages {
			for _, f := range stage {
				for _, alert := range f.fires {
					fired[alert] = true
				}
			}
		}
		running.Go(func() { t.Run(of.name, of.run) })
	}
	running.Wait()
	require.Equal(t, all, slices.Sorted(maps.Keys(fired)), "every alert on a cause has a fault")
}

func (i installation) run(t *testing.T) {
	i.of.pager, i.of.scrapes = atOnce, scrapeInterval
	x := newWatched(t, i.of)
	if i.load {
		x.load()
	}
	x.through(t, i.stages)
}

func alertsOnCauses(t *testing.T) (names []string) {
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(
		docstest.ReadFile(t, "deployments/prometheus/causes.alerts.yml"), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// through runs stages and logs when each alert fired and cleared. The longest window that keeps an alert after its
// fault is 15 min.
func (x *watched) through(t *testing.T, stages [][]fault) {
	const fires, clears = 45 * time.Minute, 20 * time.Minute
	began, ended := map[string]time.Time{}, map[string]time.Time{}
	for _, stage := range stages {
		var ends []func()
		for _, f := range stage {
			x.pager.expect(t, clears, f.fires...) // the fault before may have fired them, too
			for _, alert := range f.fires {
				began[alert] = time.Now()
			}
			ends = append(ends, f.begin(x))
		}
		for _, f := range stage {
			x.pager.await(t, "firing", fires, f.fires...)
			t.Logf("%s: fired", f.name)
		}
		for i, end := range slices.Backward(ends) {
			for _, alert := range stage[i].fires {
				ended[alert] = time.Now()
			}
			end()
		}
	}
	alerts := slices.Sorted(maps.Keys(began))
	x.pager.await(t, "resolved", clears, alerts...)
	var table strings.Builder
	var slowest time.Duration
	for _, alert := range alerts {
		fired, cleared := x.pager.times(alert)
		slowest = max(slowest, fired.Sub(began[alert]))
		fmt.Fprintf(&table, "%-26s fired after %5.0f s, cleared after %5.0f s\n", alert, fired.Sub(began[alert]).Seconds(),
			cleared.Sub(ended[alert]).Seconds())
	}
	t.Logf("figure: %s: %d alerts fired, the last %.0f s after its fault, and cleared\n%s", t.Name(), len(alerts),
		slowest.Seconds(), table.String())
}
