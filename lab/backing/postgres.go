package backing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/lab/procs"
)

var postgresService = service{
	name:       "Postgres",
	testsEnv:   "TEST_DATABASE_URL",
	sandboxEnv: "DATABASE_URL",
	debian:     "postgresql",
	whatToHave: "PostgreSQL 15 or newer (its initdb and postgres)",
	image:      "postgres:15-alpine",
	checkURL:   pingPostgres,
	native:     nativePostgres,
	hasNative:  func(m *machine) bool { _, ok := m.postgresBin(); return ok },
	container: func(o Options) containerSpec {
		return containerSpec{
			port: "5432/tcp",
			env:  []string{"POSTGRES_HOST_AUTH_METHOD=trust", "POSTGRES_INITDB_ARGS=--encoding=UTF8 --locale=C --no-sync"},
			argv: append([]string{"postgres"}, postgresSettings(o)...),
			url:  postgresURL, gentle: "INT", immediate: "QUIT",
			ready: func(ctx context.Context, hostPort string) error { return pingPostgres(ctx, postgresURL(hostPort)) },
		}
	},
}

func postgresURL(hostPort string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Host: hostPort, Path: "/postgres",
		RawQuery: "sslmode=disable"}).String()
}

// postgresSettings returns the Postgres settings for every source of a server, as flags.
func postgresSettings(o Options) []string {
	// 300 connections are enough for a pool in each of many parallel tests.
	settings := []string{"max_connections=300", "timezone=UTC", "log_timezone=UTC"}
	if o.FastUnsafe {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_wal_size=128MB")
	}
	return asFlags(settings)
}

func asFlags(settings []string) []string {
	flags := make([]string, 0, 2*len(settings))
	for _, setting := range settings {
		flags = append(flags, "-c", setting)
	}
	return flags
}

// nativePostgres creates a Postgres database cluster with initdb, and starts it.
func nativePostgres(ctx context.Context, o Options) (*Server, string, error) {
	n, bin, err := newPostgres(o)
	if err != nil {
		return nil, "", err
	}
	// --no-sync saves time: the files of initdb need not survive a crash.
	err = n.home.runChild(filepath.Join(bin, "initdb"), "--pgdata", n.home.data, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if err == nil {
		err = n.home.write("pg_hba.conf", hostRules)
	}
	if err == nil {
		err = n.startFresh(ctx, o.Port)
	}
	if err != nil {
		_ = n.Close()
		return nil, "", err
	}
	how := fmt.Sprintf("server binaries in %s, as %s, on port %d", bin, n.home.userName(), n.port)
	return &Server{url: postgresURL(loopback(n.port)), control: n}, how, nil
}

// newPostgres prepares a Postgres with an empty data directory. bin is the directory of its binaries.
func newPostgres(o Options) (n *nativeServer, bin string, err error) {
	bin, ok := o.machine.postgresBin()
	if !ok {
		return nil, "", errors.New("no initdb and postgres in PATH or /usr/lib/postgresql")
	}
	home, err := newHome(o)
	if err != nil {
		return nil, "", err
	}
	return &nativeServer{
		name: "Postgres", home: home,
		// SIGQUIT is Postgres's immediate shutdown, which frees shared memory.
		gentle: syscall.SIGINT, immediate: syscall.SIGQUIT,
		argv: func(port int) []string {
			argv := []string{filepath.Join(bin, "postgres"), "-D", home.data, "-p", strconv.Itoa(port)}
			return append(append(argv, localSettings...), postgresSettings(o)...)
		},
		// Another server may have taken the port, so the process id is checked.
		ready: func(ctx context.Context, port, _ int) error {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			var served string
			err := ask(ctx, postgresURL(loopback(port)), &served, "show data_directory")
			if err == nil && served != home.data {
				err = fmt.Errorf("port %d belongs to another server", port)
			}
			return err
		},
	}, bin, nil
}

// localSettings restrict a Postgres for tests to 127.0.0.1 and to its own directory.
var localSettings = asFlags([]string{
	"listen_addresses=127.0.0.1",
	"unix_socket_directories=",
	// Shared memory in files: in /dev/shm a killed server would leave segments behind.
	"dynamic_shared_memory_type=mmap",
})

// hostRules is a pg_hba.conf that admits every user of this machine without a password, and no other host.
const hostRules = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"

// pingPostgres runs SELECT 1; nil means that the database answers.
func pingPostgres(ctx context.Context, databaseURL string) error {
	parsed, err := url.Parse(databaseURL)
	if err != nil || (parsed.Scheme != "postgres" && parsed.Scheme != "postgresql") {
		return errors.New("it is not a URL like postgres://user:password@host:5432/database")
	}
	var one int
	return ask(ctx, databaseURL, &one, "SELECT 1")
}

type PostgresPair struct {
	Primary, Standby *Server
	standby          *nativeServer
	port             int // The primary's port, on which Promote starts the standby afterwards.
}

// StartPostgresPair starts a Postgres and its standby from this machine's binaries, never in Docker: a standby is
// a copy of the server's files.
func StartPostgresPair(ctx context.Context, o Options) (*PostgresPair, error) {
	o = o.withDefaults()
	if err := postgresService.install(o); err != nil {
		return nil, err
	}
	primary, _, err := nativePostgres(ctx, o)
	if err != nil {
		return nil, err
	}
	p := &PostgresPair{Primary: primary}
	if err := p.follow(ctx, o); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	o.Logf("services: Postgres with a standby, from the machine's server binaries")
	return p, nil
}

// follow copies the primary with pg_basebackup, and starts the copy as its standby.
func (p *PostgresPair) follow(ctx context.Context, o Options) (err error) {
	n, bin, err := newPostgres(o)
	if err != nil {
		return err
	}
	p.port, p.standby = p.Primary.control.(*nativeServer).port, n
	p.Standby = &Server{control: n}
	err = n.home.runChild(filepath.Join(bin, "pg_basebackup"), "--pgdata", n.home.data, "--host=127.0.0.1",
		"--port", strconv.Itoa(p.port), "--username=postgres", "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	if err != nil {
		return err
	}
	err = n.startFresh(ctx, 0)
	p.Standby.url = postgresURL(loopback(n.port))
	return err
}

// AwaitReplication waits until the standby has replayed every commit of the primary.
func (p *PostgresPair) AwaitReplication(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var end string
	// pg_current_wal_lsn leaves out a commit that is not written yet, as with synchronous_commit=off.
	if err := ask(ctx, p.Primary.url, &end, "SELECT pg_current_wal_insert_lsn()::text"); err != nil {
		return err
	}
	return procs.AwaitCondition(ctx, nil, func() error {
		var there bool
		err := ask(ctx, p.Standby.url, &there, "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)", end)
		if !there && err == nil {
			err = errors.New("the standby does not follow")
		}
		return err
	})
}

// Promote makes the standby a primary at the address of the old one, which must have ended.
func (p *PostgresPair) Promote(ctx context.Context) error {
	p.standby.mu.Lock()
	p.standby.port = p.port
	p.standby.mu.Unlock()
	if err := p.standby.Restart(ctx); err != nil {
		return err
	}
	p.Standby.url = p.Primary.url
	var promoted bool
	err := ask(ctx, p.Standby.url, &promoted, "SELECT pg_promote()")
	if err == nil && !promoted {
		err = errors.New("pg_promote: the standby did not become a primary in time")
	}
	return err
}

func (p *PostgresPair) Close() error { return closeAll(p.Standby, p.Primary) }

// ask runs a query on a database and scans its single value.
func ask(ctx context.Context, url string, into any, query string, args ...any) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(conn.QueryRow(ctx, query, args...).Scan(into), conn.Close(ctx))
}
