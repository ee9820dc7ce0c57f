//go:build long

package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	smtpmock "github.com/mocktools/go-smtp-mock/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
)

const (
	foreign        = "batch"                              // application_name of a client that is not ours
	laterCard      = "4000 0000 0000 0341"                // pays the fee; later charges are refused for now
	countedFeeds   = `SELECT FROM event_feeds FOR UPDATE` // the relay waits for the counters of feeds
	requestPause   = 300 * time.Millisecond
	missingDays    = 10
	aheadOfMissing = 14 - missingDays

	// A client that locks the relay out delays deliveries beyond both objectives, of 5 s and of 60 s.
	longestWait = 65 * time.Second
	shortPause  = 3 * time.Second
)

// hold opens a transaction as a foreign client does who forgets it.
func (x *watched) hold(statement string) {
	c := x.foreigner()
	_, err := c.Exec(context.Background(), `BEGIN`)
	require.NoError(x.t, err)
	_, err = c.Exec(context.Background(), statement)
	require.NoError(x.t, err)
}

// work has a foreign client hold the locks of a statement in an active session, as CREATE INDEX does.
func (x *watched) work(statement string) {
	c := x.foreigner()
	_, err := c.Exec(context.Background(), `BEGIN; `+statement)
	require.NoError(x.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.Exec(ctx, `SELECT pg_sleep(3600)`) // the runbook ends it
	}()
	x.t.Cleanup(func() { cancel(); <-ended })
}

// foreigner connects until the test ends, or the server ends the connection.
func (x *watched) foreigner() *pgx.Conn {
	x.t.Helper()
	config, err := pgx.ParseConfig(x.database)
	require.NoError(x.t, err)
	config.RuntimeParams["application_name"] = foreign
	c, err := pgx.ConnectConfig(context.Background(), config)
	require.NoError(x.t, err)
	x.t.Cleanup(func() { _ = c.Close(context.Background()) }) // a runbook may have ended the connection
	return c
}

// visitors are clients that read deposits, with pauses, until the test ends.
func (x *watched) visitors(n int) {
	client := x.api(x.t)
	// a failure is the fault
	x.steady(n*int(time.Second)/int(requestPause), n, func() { _, _, _ = client.do(http.MethodGet, "/deposits", nil) })
}

// captured has a tenant pay the fee of a deposit with a card, and captures an amount.
func (x *watched) captured(card string) (depositID string) {
	x.t.Helper()
	depositID, checkoutURL := x.deposit(x.t, x.account)
	b := newBrowser(x.t)
	hosted := b.submit(b.open(checkoutURL),
		url.Values{"firstName": {"Tina"}, "lastName": {"Tenant"}, "email": {"tina@example.com"}, "agree": {"yes"}})
	b.submit(hosted, url.Values{"cardNumber": {card}, "cardExpiry": {"12/40"}, "cardCvc": {"123"}})
	x.api(x.t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
	return depositID
}

// runbooks are the runbooks, each with its fault.
func runbooks(t *testing.T) []runbook {
	mailServer := freePort(t)
	return []runbook{
		{page: "events-set-aside", fires: []string{"EventsSetAside"}, begin: refuseEvents},
		{page: "rows-unreadable", fires: []string{"RowsUnreadable"}, begin: spoilRow},
		{page: "outbox-stands", fires: []string{"OutboxStands"},
			begin: func(x *watched) map[string]string { x.hold(countedFeeds); return nil }},
		{page: "outbound-broken", fires: []string{"OutboundBroken"},
			begin: func(x *watched) map[string]string { x.cutOff(); return nil }},
		{page: "deliveries-stand", fires: []string{"DeliveriesStand", "DeliveriesWait"},
			begin: func(x *watched) map[string]string {
				x.hang(12)
				x.dispatch.Signal(syscall.SIGSTOP)
				return nil
			}},
		{page: "process-absent", fires: []string{"DispatcherAbsent"}, begin: func(x *watched) map[string]string {
			x.dispatch.Kill()
			return map[string]string{"PART": "dispatcher", "TARGET": "http://" + x.dispatch.ops}
		}},
		{page: "process-absent", fires: []string{"HttpAbsent"}, begin: func(x *watched) map[string]string {
			x.http.Kill()
			return map[string]string{"PART": "http", "TARGET": "http://" + x.http.ops}
		}},
		{page: "traffic-gone", fires: []string{"TrafficGone"}, of: watchedOf{history: true},
			begin: func(x *watched) map[string]string { x.silence.Store(true); return nil }},
		{page: "redis-away", fires: []string{"QueueDirect", "LimiterFailsOpen"}, begin: func(x *watched) map[string]string {
			require.NoError(x.t, x.redis.Kill())
			return nil
		}},
		{page: "pool-saturated", fires: []string{"PoolSaturated", "PostgresConnectionsRunOut"},
			begin: func(x *watched) map[string]string {
				for range 225 {
					x.foreigner()
				}
				x.hold(`LOCK TABLE deposits, api_keys IN ACCESS EXCLUSIVE MODE`)
				x.visitors(40)
				return map[string]string{"FOREIGN": foreign}
			}},
		{page: "log-not-read", fires: []string{"LogNotRead"}, of: watchedOf{environ: []string{"LOG_LEVEL=debug"}},
			begin: func(x *watched) map[string]string {
				x.readLog = x.unreadLog(x.http, binary(x.t, "http"))
				return nil
			}},
		{page: "requests-stand", fires: []string{"RequestsStand"}, of: watchedOf{environ: []string{"LOG_LEVEL=debug"}},
			begin: func(x *watched) map[string]string {
				hangRequests(x)
				return nil
			}},
		{page: "descriptors-run-out", fires: []string{"DescriptorsRunOut"}, begin: func(x *watched) map[string]string {
			x.http.limitDescriptors(x.t, x.http.descriptors(x.t)*10/9)
			return map[string]string{"PID": strconv.Itoa(x.http.Pid())}
		}},
		{page: "partitions-run-out", fires: []string{"PartitionsRunOut", "RowsWithoutPartition"}, begin: losePartitions},
		{page: "writes-fail", fires: []string{"WritesFail"},
			begin: func(x *watched) map[string]string { loseStandby(x); return nil }},
		{page: "not-ready", fires: []string{"NoReadyHttp", "NoReadyDispatcher"}, begin: func(x *watched) map[string]string {
			require.NoError(x.t, x.postgres.Stop(true))
			return nil
		}},
		{page: "clock", fires: []string{"ClockBreaksSignatures", "ClockSkewed"}, begin: turnClock},
		{page: "reconcile-differs", fires: []string{"ReconcileDiffers"}, begin: changeTheProvidersBooks},
		{page: "collections-late", fires: []string{"CollectionsLate"}, begin: refuseForWeeks},
		{page: "api-errors", fires: []string{"ApiErrorsFast"}, begin: func(x *watched) map[string]string {
			x.work(`LOCK TABLE deposits, api_keys IN ACCESS EXCLUSIVE MODE`)
			x.visitors(40)
			return nil
		}},
		{page: "api-slow", fires: []string{"ApiSlowFast"}, begin: lockOutVisitors},
		{page: "scrapes-fail", fires: []string{"ScrapesFail", "BacklogUnread"}, begin: func(x *watched) map[string]string {
			x.http.Signal(syscall.SIGSTOP)
			require.NoError(x.t, x.postgres.Stop(true))
			return map[string]string{"TARGET": "http://" + x.http.ops, "PART": "http"}
		}},
		{page: "dead-rows", fires: []string{"DeadRows"}, begin: keepDeadRows},
		{page: "job-not-run", fires: []string{"JobFails"}, begin: func(x *watched) map[string]string {
			// The job `mail` fails only if a mail falls due while the table is locked, so the table is locked before the
			// mail falls due.
			x.sql(`INSERT INTO mails (id, recipient, subject, body, created_at, due_at)
				VALUES (gen_random_uuid(), 'villa-33@example.com', 'Due', 'soon', now(), now() + interval '10 seconds')`)
			x.hold(`LOCK TABLE mails IN EXCLUSIVE MODE`)
			return map[string]string{"JOB": "mail"}
		}},
		{page: "leases-expire", fires: []string{"LeasesExpire"}, of: watchedOf{second: true},
			begin: func(x *watched) map[string]string {
				x.hang(16)
				x.dispatch.Signal(syscall.SIGSTOP)
				return nil
			}},
		{page: "keyset", fires: []string{"KeysetDiffers", "SecretsUnreadable"},
			begin: func(x *watched) map[string]string {
				var hooks struct{ Data []struct{ ID string } }
				x.api(x.t).get("/webhooks", &hooks)
				x.loseSecrets()
				x.otherKeyset()
				return map[string]string{"WEBHOOK": hooks.Data[0].ID}
			}},
		{page: "mails-late", fires: []string{"MailsLate"}, begin: mailInVain, of: watchedOf{mailServer: mailServer}},
		{page: "deliveries-start-late", fires: []string{"DeliveriesStartLateFast"}, begin: standStill},
		{page: "deliveries-arrive-late", fires: []string{"DeliveriesArriveLateFast"},
			begin: func(x *watched) map[string]string {
				x.t.Cleanup(x.lockOut(countedFeeds, longestWait, shortPause))
				return map[string]string{"FOREIGN": foreign}
			}},
	}
}

// setting sets a parameter of the server, until its end.
func (x *watched) setting(name, value string) (end func()) {
	x.sql(`ALTER SYSTEM SET `+name+` = '`+value+`'`, `SELECT pg_reload_conf()`)
	return func() { x.sql(`ALTER SYSTEM RESET `+name, `SELECT pg_reload_conf()`) }
}

// loseStandby has commits wait for a standby that is away. The server of a test waits for no commit before.
func loseStandby(x *watched) (end func()) {
	x.sql(`ALTER DATABASE postgres SET synchronous_commit = on`, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	return x.setting("synchronous_standby_names", "away")
}

// refuseForWeeks has a card refused that a captured amount is to be collected from, for twenty days.
func refuseForWeeks(x *watched) map[string]string {
	depositID := x.captured(laterCard)
	require.Eventually(x.t,
		func() bool { return x.count(`SELECT count(*) FROM collections WHERE state = 'retrying'`) == 1 }, soon, often)
	x.sql(`UPDATE collections SET captured_at = captured_at - interval '20 days'`)
	return map[string]string{"DEPOSIT": depositID}
}

// lockOutVisitors has requests wait for a table until they fail.
func lockOutVisitors(x *watched) map[string]string {
	x.hold(`LOCK TABLE deposits, api_keys IN ACCESS EXCLUSIVE MODE`)
	x.visitors(40)
	return nil
}

// refuseEvents has Postgres refuse the events of three releases, which end deposits.
func refuseEvents(x *watched) map[string]string {
	x.sql(`ALTER TABLE events ADD CONSTRAINT refused CHECK (name <> 'deposit.expired') NOT VALID`)
	for range 3 {
		require.NoError(x.t, x.lifeOfADeposit(x.t, x.account, true))
	}
	var list struct{ Events []struct{ ID string } }
	require.Eventually(x.t, func() bool { x.admin(x.t, &list, "outbox", "list"); return len(list.Events) == 3 }, soon,
		often)
	return map[string]string{"CONSTRAINT": "refused", "EVENT": list.Events[0].ID}
}

// spoilRow has a hand in SQL spoil a deposit that a partner lists.
func spoilRow(x *watched) map[string]string {
	const condition = `jsonb_typeof(metadata) = 'object' AND NOT jsonb_path_exists(metadata, 'strict $.* ? (@.type() <> ` +
		`"string")')`
	depositID, _ := x.deposit(x.t, x.account)
	x.sql(`ALTER TABLE deposits DROP CONSTRAINT deposits_texts`,
		`UPDATE deposits SET metadata = '{"a": {"b": 1}}' WHERE created_at = (
			SELECT max(created_at) FROM deposits WHERE rental_contract = 'B-1')`)
	x.visitors(1)
	status, _, err := x.api(x.t).do(http.MethodGet, "/deposits/"+depositID, nil)
	require.NoError(x.t, err)
	require.Equal(x.t, http.StatusInternalServerError, status)
	return map[string]string{"TABLE": "deposits", "CONDITION": condition}
}

// losePartitions drops the latest partitions of events, and inserts an event of a day without a partition. The first
// round of the job partitions must be over, since that round would make the partitions again.
func losePartitions(x *watched) map[string]string {
	require.Eventually(x.t,
		func() bool { return x.dispatch.metric(`svc_job_last_success_timestamp_seconds{job="partitions"}`) > 0 }, soon, often)
	day := time.Now().UTC().AddDate(0, 0, aheadOfMissing+3)
	ms := fmt.Sprintf("%012x", day.UnixMilli())
	x.sql(
		fmt.Sprintf(
			`DO $$ DECLARE t text; BEGIN FOR t IN SELECT inhrelid::regclass::text FROM pg_inherits
				WHERE inhparent = 'events'::regclass
		AND inhrelid <> 'events_rest'::regclass ORDER BY 1 DESC LIMIT %d LOOP EXECUTE 'DROP TABLE ' || t; END LOOP; END $$`,
			missingDays),
		`INSERT INTO events (id, partner_id, name, data, created_at, sequence) SELECT '`+ms[:8]+"-"+ms[8:]+
			`-7fff-bfff-ffffffffffff', id, 'deposit.expired', '{}', now(), 1000000000 FROM partners LIMIT 1`)
	return nil
}

// turnClock puts Postgres ten minutes ahead.
func turnClock(x *watched) map[string]string {
	pgtest.SkewDatabaseClock(x.t, x.database, 10*time.Minute)
	return nil
}

// changeTheProvidersBooks changes a payment of yesterday in the sandbox provider's table, and has the daily comparison
// begin.
func changeTheProvidersBooks(x *watched) map[string]string {
	x.captured("4242 4242 4242 4242")
	require.Eventually(x.t, func() bool { return x.count(`SELECT count(*) FROM collections WHERE state = 'paid'`) == 1 },
		soon, often)
	x.sql(
		`UPDATE payments SET settled_at = settled_at - interval '1 day' WHERE deposit_id IN (SELECT deposit_id
			FROM collections)`,
		`UPDATE sandbox_payments SET updated_at = updated_at - interval '1 day'`,
		`UPDATE sandbox_payments SET amount_cents = amount_cents - 1 WHERE amount_cents = 12050`,
		`UPDATE reconciliations SET begun_at = begun_at - interval '1 day'`)
	x.dispatch.restart(x.t)
	now := time.Now().UTC()
	return map[string]string{
		"FROM": now.AddDate(0, 0, -7).Format(time.RFC3339), "TO": now.Add(-time.Hour).Format(time.RFC3339),
	}
}

// keepDeadRows deletes many rows while a foreign client keeps an old snapshot, so that vacuum removes none of them.
func keepDeadRows(x *watched) map[string]string {
	x.hold(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT FROM partners`)
	x.sql(`INSERT INTO waiting_counts SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff', 0 FROM generate_series(1, 600000)`,
		`DELETE FROM waiting_counts WHERE subscription_id = 'ffffffff-ffff-7fff-bfff-ffffffffffff'`)
	return map[string]string{"FOREIGN": foreign, "TABLE": "waiting_counts"}
}

// mailInVain registers operators, whose mails cannot be sent: the mail server accepts connections and never greets.
func mailInVain(x *watched) map[string]string {
	var err error
	x.silent, err = new(net.ListenConfig).Listen(context.Background(), "tcp", x.mailServer)
	require.NoError(x.t, err)
	x.t.Cleanup(func() { _ = x.silent.Close() }) // closed by the mail server that answers
	for i := range 8 {
		x.link(x.t, fmt.Sprintf("villa-%d", 40+i))
	}
	host, port, err := net.SplitHostPort(x.mailServer)
	require.NoError(x.t, err)
	return map[string]string{"MAIL_HOST": host, "MAIL_PORT": port}
}

// startMailServer answers at the address to which the service sends its mails.
func (x *watched) startMailServer() {
	host, port, err := net.SplitHostPort(x.mailServer)
	require.NoError(x.t, err)
	number, err := strconv.Atoi(port)
	require.NoError(x.t, err)
	require.NoError(x.t, x.silent.Close())
	server := smtpmock.New(
		smtpmock.ConfigurationAttr{HostAddress: host, PortNumber: number, MultipleMessageReceiving: true})
	require.NoError(x.t, server.Start())
	x.t.Cleanup(func() { require.NoError(x.t, server.Stop()) })
}

// standStill freezes the dispatcher for seven of ten seconds, as an overloaded machine does, until the process ends.
func standStill(x *watched) map[string]string {
	const frozen, awake = 7 * time.Second, 3 * time.Second
	process, stop, ended := x.dispatch.process, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for _, state := range []struct {
				signal syscall.Signal
				span   time.Duration
			}{{syscall.SIGSTOP, frozen}, {syscall.SIGCONT, awake}} {
				process.Signal(state.signal)
				select {
				case <-process.Done():
					return
				case <-stop:
					process.Signal(syscall.SIGCONT)
					return
				case <-time.After(state.span):
				}
			}
		}
	}()
	x.t.Cleanup(func() { close(stop); <-ended })
	return nil
}

// lockOut has a foreign client hold the locks of a statement for a span, again and again with pauses, until the client
// is let go or its connection is ended.
func (x *watched) lockOut(statement string, span, pause time.Duration) (end func()) {
	c := x.foreigner()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for _, step := range []struct {
				sql  string
				then time.Duration
			}{{`BEGIN; ` + statement, span}, {`ROLLBACK`, pause}} {
				if _, err := c.Exec(ctx, step.sql); err != nil {
					return
				}
				select {
				case <-ctx.Done():
					_ = c.Close(context.Background())
					return
				case <-time.After(step.then):
				}
			}
		}
	}()
	return sync.OnceFunc(func() { cancel(); <-ended })
}
