//go:build long

package e2e_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/receiver"
)

const (
	notRead    = "Nobody reads the log of "
	behindLog  = "The program behind stderr of the process"
	noSocket   = "cannot be opened: too many open files"
	heldSocket = "descriptors"
	otherKeys  = "is not the keyset of this database"
)

// retriesSoon has a failed delivery tried again within ten seconds, so that it arrives soon after the end of a fault.
var retriesSoon = "WEBHOOK_RETRY_SCHEDULE=0s,5s" + strings.Repeat(",10s", 18)

// truths are the faults of the machine that once were told wrongly or by nobody, and others of the same kinds.
func truths(t *testing.T) []truth {
	hanging := hangingHTTP(t)
	debug := watchedOf{environ: []string{"LOG_LEVEL=debug"}}
	log := func(fault, job string, begin func(x *watched) func()) truth {
		return truth{fault: fault, of: debug, begin: begin, alert: "LogNotRead", summary: notRead + job, book: behindLog,
			ready: `"log":"` + unread + `"`, doctor: "log " + unread, shows: failing("log")}
	}
	writes := func(fault, says, ready, doctor string, begin func(x *watched) func()) truth {
		return truth{fault: fault, begin: begin, alert: "WritesFail", summary: says, book: says,
			ready: `"writes":"` + ready, doctor: doctor, shows: failing("writes")}
	}
	sockets := func(fault, job string, begin func(x *watched) func(), also ...string) truth {
		return truth{fault: fault, begin: begin, alert: "DescriptorsRunOut", summary: job, book: heldSocket, also: also,
			ready: `"sockets":"` + noSocket + `"`, doctor: "sockets " + noSocket, shows: failing("sockets")}
	}
	return []truth{
		log("nobody reads the log of http", "http",
			func(x *watched) func() { return x.unreadLog(x.http, binary(x.t, "http")) }),
		log("nobody reads the log of a dispatcher", "dispatcher",
			func(x *watched) func() { return x.unreadLog(x.dispatch, binary(x.t, "dispatcher")) }),
		log("the reader of the log of http ends", "http", func(x *watched) func() {
			x.http.end()
			var reader *os.File
			x.http.process, reader = startUnread(x.t, binary(x.t, "http"), x.http.ops, x.http.environ)
			require.NoError(x.t, reader.Close())
			return func() { x.http.end(); x.http.again(x.t) }
		}),
		log("the disk of the log of a dispatcher is full", "dispatcher", func(x *watched) func() {
			return x.fullLog(x.dispatch)
		}),
		{
			fault: "requests hang after their effect", of: debug, begin: func(x *watched) func() {
				x.unreadLog(x.http, hanging)
				return func() { x.http.Kill(); x.http.again(x.t) }
			},
			alert: "RequestsStand", summary: "requests in flight and answers hardly any", book: "something else in the process",
			shows: func(x *watched) bool { return x.shown("Requests in flight")["seconds each"] > 60 },
		},
		sockets("http has no descriptors", "http", exhaustDescriptors),
		sockets("a dispatcher has no descriptors", "dispatcher", func(x *watched) func() {
			x.receiver.AnswerWith(func(int, receiver.Webhook) int { <-time.After(3 * time.Second); return http.StatusOK })
			x.dispatch.limitDescriptors(x.t, x.dispatch.descriptors(x.t))
			return func() { x.dispatch.limitDescriptors(x.t, roomyLimit); x.receiver.AnswerWith(nil) }
		}, "DeliveriesStartLateFast"), // the deliveries are late
		writes("no synchronous standby confirms", "standby", "wait: no standby confirms",
			"Bring a standby of synchronous_standby_names back", loseStandby),
		writes("a session holds a lock", "lock", "wait: a session holds a lock", "SELECT pg_terminate_backend(",
			func(x *watched) func() { x.hold(`LOCK TABLE deposits IN EXCLUSIVE MODE`); return x.endForeign }),
		writes("Postgres is read-only", "read-only", "are refused: Postgres is read-only", "Name the primary in DATABASE_URL",
			func(x *watched) func() { return x.setting("default_transaction_read_only", "on") }),
		{
			fault: "one of two http has no Postgres", of: watchedOf{secondHTTP: true}, begin: func(x *watched) func() {
				return x.restarted(x.secondHTTP, "DATABASE_URL=postgres://nobody@127.0.0.1:1/none")
			},
			alert: "BacklogUnread", summary: "has not read the gauges of the backlog", book: "Postgres",
			ready: `"postgres":"cannot be reached"`, doctor: "postgres cannot be reached", shows: failing("postgres"),
		},
		{
			fault: "one of two http has another keyset", of: watchedOf{secondHTTP: true}, begin: func(x *watched) func() {
				x.provesKeyset()
				code, made, stderr := run(x.t, nil, "admin", "secrets", "new-keyset")
				require.Zero(x.t, code, stderr)
				return x.restarted(x.secondHTTP, "SECRETS_KEYSET="+strings.TrimSpace(made))
			},
			alert: "KeysetDiffers", summary: "SECRETS_KEYSET " + otherKeys, book: "keyset",
			ready: `"keyset":"` + otherKeys + `"`, doctor: "keyset " + otherKeys, shows: failing("keyset"),
		},
		{
			fault: "a secret does not decrypt", begin: func(x *watched) func() {
				x.provesKeyset()
				x.dispatch.restart(x.t) // so that it compares at once
				id := x.subscribe(x.t, newReceiver(x.t))
				x.sql(`UPDATE webhook_subscriptions SET secret = '\x00' WHERE created_at = (
					SELECT max(created_at) FROM webhook_subscriptions)`)
				return func() { x.api(x.t).post("/webhooks/"+id+"/rotate-secret", map[string]any{}, nil) }
			},
			alert: "SecretsUnreadable", summary: "the secret of a subscription does not decrypt", book: "rotate",
			doctor: "webhook secrets of no key do not decrypt", shows: unreadable("secrets, 5 minutes"),
			clears: 20 * time.Minute,
		},
		{
			fault: "the clock of Postgres is ten minutes ahead", of: watchedOf{environ: []string{retriesSoon}},
			begin: func(x *watched) func() {
				pgtest.SkewDatabaseClock(x.t, x.database, 10*time.Minute)
				return func() { pgtest.SkewDatabaseClock(x.t, x.database, 0) }
			},
			alert: "ClockBreaksSignatures", summary: "Postgres's clock is off by", book: "clock",
			ready: `"clock":"differs from Postgres's by 10m0s"`, doctor: "the clock of Postgres is 10m0s ahead of ours",
			shows: func(x *watched) bool { return x.shown("Clock skew")["greatest"] > 500 },
		},
		{
			fault: "a row cannot be read", begin: func(x *watched) func() {
				spoilRow(x)
				return func() { x.sql(`UPDATE deposits SET metadata = '{}' WHERE jsonb_path_exists(metadata, '$.a.b')`) }
			},
			alert: "RowsUnreadable", summary: "Rows of deposits could not be read", book: "row",
			shows: unreadable("rows, 5 minutes"), clears: 20 * time.Minute,
		},
		{
			fault: "the relay is locked out", begin: func(x *watched) func() { x.hold(countedFeeds); return x.endForeign },
			alert: "OutboxStands", within: 3 * time.Minute, summary: "An event has been on the outbox for", book: "lock",
			doctor: "SELECT pg_terminate_backend(",
			shows:  func(x *watched) bool { return x.shown("Backlog age")["outbox"] > 60 },
			also:   []string{"DeliveriesStartLateFast", "DeliveriesArriveLateFast"},
		},
	}
}

// failing reports whether the first row shows that a check of a process fails.
func failing(check string) func(x *watched) bool {
	return func(x *watched) bool {
		for name, value := range x.shown("Failing checks") {
			if strings.HasSuffix(name, " "+check) && value == 0 {
				return true
			}
		}
		return false
	}
}

func unreadable(name string) func(x *watched) bool {
	return func(x *watched) bool { return x.shown("Unreadable data")[name] > 0 }
}

// exhaustDescriptors lowers http's limit of descriptors to those in use, while a client opens a connection each second.
func exhaustDescriptors(x *watched) (end func()) {
	x.http.limitDescriptors(x.t, x.http.descriptors(x.t))
	again := time.NewTicker(time.Second)
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-again.C:
				if c, err := net.Dial("tcp", x.http.addr); err == nil {
					x.t.Cleanup(func() { _ = c.Close() })
				}
			}
		}
	}()
	return func() { close(ended); x.http.limitDescriptors(x.t, roomyLimit) }
}

// provesKeyset writes the check values of the keyset that the processes have.
func (x *watched) provesKeyset() {
	_, stdout, stderr := run(x.t, x.environ, "admin", "doctor")
	require.Contains(x.t, stdout, "ok: ", stderr)
}

// restarted restarts a process with another setting. end restarts it with its own.
func (x *watched) restarted(m *member, setting string) (end func()) {
	m.end()
	m.process = start(x.t, m.name, append(m.environ[:len(m.environ):len(m.environ)], setting)...)
	return func() { m.end(); m.again(x.t) }
}

// fullLog restarts a process with its log in a file on a full disk. end restarts it with its own log.
func (x *watched) fullLog(m *member) (end func()) {
	disk := x.t.TempDir()
	require.NoError(x.t, syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4k"))
	x.t.Cleanup(func() { require.NoError(x.t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	m.end()
	file, err := os.Create(filepath.Join(disk, "log"))
	require.NoError(x.t, err)
	m.process = startLogging(x.t, binary(x.t, m.name), file, m.ops, m.environ)
	return func() { m.end(); m.again(x.t) }
}
