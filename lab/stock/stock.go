// Package stock fills a database with the deposits and deliveries of a long use, for benchmarks and for tests of lists.
// The rows satisfy every constraint and every invariant of the service, but the checkout tokens do not decrypt; no
// deposit asks for its depositUrl, so no read needs a token.
//
// The rows look as the service leaves them. Deposits spread over a year; the older ones have ended, and some of the
// newest are pending. Half of them have a client, nine tenths a rental contract. Deliveries spread over 29 days and are
// finished, so a dispatcher leaves them alone. Timers are due in two weeks or later.
package stock

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"partnerdeposits/core/id"
)

// Owner owns stocked rows: an account, its linked partner, and the partner's webhook subscription.
type Owner struct{ Partner, Account, Subscription id.ID }

// RowCounts holds the numbers of rows to add.
type RowCounts struct {
	Deposits   int
	Deliveries int
	// Rows in events for the newest deliveries; at most Deliveries.
	Events  int
	Clients int // Clients to add besides those of the deposits.
}

//go:embed kit.sql
var kit string

// CreateRowOwners creates partners, each with linked accounts and an enabled webhook subscription whose URL leads
// nowhere.
func CreateRowOwners(ctx context.Context, pool *pgxpool.Pool, partners, accounts int) (made []Owner, err error) {
	err = with(ctx, pool, func(conn *pgxpool.Conn) error {
		rows, err := conn.Query(ctx, `SELECT * FROM pg_temp.stock_make_owners($1, $2)`, partners, accounts)
		if err != nil {
			return err
		}
		made, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Owner])
		return err
	})
	return made, err
}

// FillDatabase adds deposits and deliveries of the owners in turn, and then runs VACUUM and ANALYZE. The rows of a
// later call are newer. Three million deposits, deliveries and events take some minutes and 12 GB.
func FillDatabase(ctx context.Context, pool *pgxpool.Pool, owners []Owner, n RowCounts) error {
	if len(owners) == 0 {
		return errors.New("stock: no owners")
	}
	f := filler{owners: owners, amount: n}
	const before = `SELECT now(), gen_random_uuid()::text, count(*) FROM deposits`
	if err := pool.QueryRow(ctx, before).Scan(&f.end, &f.salt, &f.before); err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		return errors.Join(
			f.insert(ctx, pool, `SELECT pg_temp.stock_clients($1, $2)`, n.Clients, "clients"),
			f.insert(ctx, pool, `SELECT pg_temp.stock_deposits($1, $2)`, n.Deposits,
				"clients, deposits, deposit_timers, deposit_transitions"))
	})
	both.Go(func() error {
		const tables = "events, deliveries, delivery_attempts"
		return f.insert(ctx, pool, `SELECT pg_temp.stock_deliveries($1, $2)`, n.Deliveries, tables)
	})
	return both.Wait()
}

// filler holds the arguments of FillDatabase, from which the ids of deposits follow.
type filler struct {
	end    time.Time // Time of the newest added rows.
	salt   string
	before int // Number of deposits before FillDatabase.
	owners []Owner
	amount RowCounts
}

// insert runs a statement for each block of rows, with its first and last number, and then VACUUM and ANALYZE.
func (f filler) insert(ctx context.Context, pool *pgxpool.Pool, statement string, total int, tables string) error {
	const block = 50_000
	return with(ctx, pool, func(conn *pgxpool.Conn) error {
		if err := f.prepare(ctx, conn); err != nil {
			return err
		}
		for first := 0; first < total; first += block {
			if _, err := conn.Exec(ctx, statement, first, min(first+block, total)-1); err != nil {
				return fmt.Errorf("stock: rows from %d: %w", first, err)
			}
		}
		_, err := conn.Exec(ctx, `VACUUM (ANALYZE) `+tables)
		return err
	})
}

// prepare stores the arguments of FillDatabase in temporary tables for kit.sql.
func (f filler) prepare(ctx context.Context, conn *pgxpool.Conn) error {
	var partners, accounts, subscriptions []id.ID
	for _, o := range f.owners {
		partners, accounts, subscriptions = append(partners, o.Partner), append(accounts, o.Account),
			append(subscriptions, o.Subscription)
	}
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO stock_settings VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		f.end, f.salt, f.before, len(f.owners), f.amount.Deposits, f.amount.Deliveries, f.amount.Events, f.amount.Clients)
	batch.Queue(`INSERT INTO stock_owners SELECT n - 1, partner, account, subscription,
			(SELECT l.external_id FROM account_links l WHERE l.partner_id = partner AND l.account_id = account
			ORDER BY l.linked_at DESC LIMIT 1)
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS o(partner, account, subscription, n)`, partners,
		accounts, subscriptions)
	batch.Queue(`ANALYZE stock_owners`)
	batch.Queue(`SELECT pg_temp.stock_partitions()`)
	return conn.SendBatch(ctx, batch).Close()
}

// with runs fn on a connection with the temporary tables and functions of kit.sql and without a statement timeout,
// and then closes it.
func with(ctx context.Context, pool *pgxpool.Pool, fn func(*pgxpool.Conn) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	defer func() { _ = conn.Conn().Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `SET statement_timeout = 0; SET jit = off; SET work_mem = '64MB'; `+kit); err != nil {
		return err
	}
	return fn(conn)
}
