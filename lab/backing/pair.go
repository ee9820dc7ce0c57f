package backing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// PostgresPair is a Postgres server with a standby that follows the server.
type PostgresPair struct {
	Primary, Standby *Server
	standby          *native
	port             int // of the primary
}

// StartPostgresPair starts a server and its standby from the server binaries of this machine, whatever other sources there
// are: a standby is a copy of the server's files.
//
// An error names the Debian package of a missing server program, or the step that failed.
func StartPostgresPair(ctx context.Context, o Options) (*PostgresPair, error) {
	o = o.withDefaults()
	if err := postgresService.install(ctx, o); err != nil {
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

// follow copies the primary and starts the copy as its standby.
func (p *PostgresPair) follow(ctx context.Context, o Options) (err error) {
	n, bin, err := newPostgres(o)
	if err != nil {
		return err
	}
	p.port, p.standby = p.Primary.control.(*native).port, n
	p.Standby = &Server{control: n}
	err = runChild(n.home.command(filepath.Join(bin, "pg_basebackup"), "--pgdata", n.home.data, "--host=127.0.0.1", "--port", strconv.Itoa(p.port),
		"--username=postgres", "--write-recovery-conf", "--checkpoint=fast", "--no-sync"))
	if err != nil {
		return fmt.Errorf("pg_basebackup: %w; it says:\n%s", err, n.home.logSince(0))
	}
	if err := n.startFresh(ctx); err != nil {
		return err
	}
	p.Standby.url = postgresURL(loopback(n.port))
	return nil
}

// AwaitStandby returns once the standby has replayed every commit of the primary.
func (p *PostgresPair) AwaitStandby(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var end string
	// pg_current_wal_lsn leaves out a commit that is not written yet, as with synchronous_commit=off.
	if err := ask(ctx, p.Primary, &end, "SELECT pg_current_wal_insert_lsn()::text"); err != nil {
		return err
	}
	return await(ctx, nil, func() error {
		var there bool
		err := ask(ctx, p.Standby, &there, "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)", end)
		if !there && err == nil {
			err = errors.New("the standby does not follow")
		}
		return err
	})
}

// Promote makes a primary of the standby, with the commits that the standby has. The new primary takes the address of the
// old one, which must have ended.
func (p *PostgresPair) Promote(ctx context.Context) error {
	p.standby.mu.Lock()
	p.standby.port = p.port
	p.standby.mu.Unlock()
	if err := p.standby.Restart(ctx); err != nil {
		return err
	}
	p.Standby.url = p.Primary.url
	var promoted bool
	if err := ask(ctx, p.Standby, &promoted, "SELECT pg_promote()"); err != nil {
		return err
	}
	if !promoted {
		return errors.New("pg_promote: the standby did not become a primary in time")
	}
	return nil
}

// Close ends both servers and removes their data.
func (p *PostgresPair) Close() error { return closeAll(p.Standby, p.Primary) }

// ask reads the single value that a query gives.
func ask(ctx context.Context, server *Server, into any, query string, args ...any) error {
	conn, err := pgx.Connect(ctx, server.URL())
	if err != nil {
		return err
	}
	return errors.Join(conn.QueryRow(ctx, query, args...).Scan(into), conn.Close(ctx))
}
