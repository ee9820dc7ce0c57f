package backing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxConnections is enough for many parallel tests with a pool each.
const maxConnections = 300

var postgresService = service{
	name:       "Postgres",
	testsEnv:   "TEST_DATABASE_URL",
	sandboxEnv: "DATABASE_URL",
	debian:     "postgresql",
	whatToHave: "PostgreSQL 15 or newer (its initdb and postgres)",
	image:      image{repository: "postgres", tag: "15-alpine", oldest: 15},
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
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Host: hostPort, Path: "/postgres", RawQuery: "sslmode=disable"}).String()
}

// postgresSettings are the settings for every source.
func postgresSettings(o Options) []string {
	settings := []string{
		"max_connections=" + strconv.Itoa(maxConnections),
		"timezone=UTC",
		"log_timezone=UTC",
	}
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

// nativePostgres makes a cluster and starts it.
func nativePostgres(ctx context.Context, o Options) (*Server, string, error) {
	n, bin, err := newPostgres(o)
	if err != nil {
		return nil, "", err
	}
	if err = initCluster(n.home, bin); err == nil {
		err = n.startFresh(ctx)
	}
	if err != nil {
		_ = n.Close()
		return nil, "", err
	}
	how := fmt.Sprintf("server binaries in %s, as %s, on port %d", bin, n.home.userName(), n.port)
	return &Server{url: postgresURL(loopback(n.port)), control: n}, how, nil
}

// newPostgres prepares a server whose data directory is empty yet. bin is the directory of the server binaries.
func newPostgres(o Options) (n *native, bin string, err error) {
	bin, ok := o.machine.postgresBin()
	if !ok {
		return nil, "", errors.New("no initdb and postgres in PATH or /usr/lib/postgresql")
	}
	dirs := o.machine.tempDirs
	if o.FastUnsafe {
		dirs = append([]string{o.machine.fastDir}, dirs...)
	}
	home, err := newHome(o.machine, dirs, "postgres", "nobody")
	if err != nil {
		return nil, "", err
	}
	return &native{
		name: "Postgres", home: home,
		// SIGQUIT is the postmaster's immediate shutdown: it ends the children and frees shared memory.
		onDeath: syscall.SIGQUIT, gentle: syscall.SIGINT, immediate: syscall.SIGQUIT,
		argv: func(port int) []string {
			argv := []string{filepath.Join(bin, "postgres"), "-D", home.data, "-p", strconv.Itoa(port)}
			return append(append(argv, localSettings(home)...), postgresSettings(o)...)
		},
		ready: func(ctx context.Context, port, _ int) error { return ownPostgres(ctx, port, home.data) },
	}, bin, nil
}

// longestSocket is the longest path of a Unix socket that every system accepts.
const longestSocket = 103

// localSettings restrict a cluster to this machine and to its directory.
func localSettings(h *home) []string {
	socketDir := h.data
	if len(filepath.Join(socketDir, ".s.PGSQL.65535.lock")) > longestSocket {
		socketDir = "" // TCP only
	}
	return asFlags([]string{
		"listen_addresses=127.0.0.1",
		"unix_socket_directories=" + socketDir,
		"dynamic_shared_memory_type=mmap", // in /dev/shm a killed server would leave segments behind
	})
}

// hostRules admit every user of this machine without a password, and no other host.
const hostRules = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"

func initCluster(h *home, bin string) error {
	// --no-sync: the files of initdb need not survive a crash of the machine.
	err := runChild(h.command(filepath.Join(bin, "initdb"), "--pgdata", h.data, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"))
	if err != nil {
		return fmt.Errorf("initdb: %w; it says:\n%s", err, h.logSince(0))
	}
	rules := filepath.Join(h.data, "pg_hba.conf")
	if err := os.WriteFile(rules, []byte(hostRules), 0o600); err != nil {
		return err
	}
	return h.own(rules)
}

// ownPostgres checks the data directory of the server on a port, since another server may have taken the port.
func ownPostgres(ctx context.Context, port int, data string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, postgresURL(loopback(port)))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var served string
	if err := conn.QueryRow(ctx, "show data_directory").Scan(&served); err != nil {
		return err
	}
	if served != data {
		return fmt.Errorf("port %d belongs to another server", port)
	}
	return nil
}

// pingPostgres tells whether a database URL answers.
func pingPostgres(ctx context.Context, databaseURL string) error {
	parsed, err := url.Parse(databaseURL)
	if err != nil || (parsed.Scheme != "postgres" && parsed.Scheme != "postgresql") {
		return errors.New("it is not a URL like postgres://user:password@host:5432/database")
	}
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}
