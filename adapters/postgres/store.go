package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/accounts"
	"partnerdeposits/adapters/postgres/deposits"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/adapters/postgres/partners"
	"partnerdeposits/adapters/postgres/payments"
	"partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/adapters/postgres/webhooks"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
)

// Cipher encrypts secrets at rest (adapters/secrets).
type Cipher = pg.Cipher

// ReadConns is the number of connections of Options.Reads.
const ReadConns = deposits.ReadConns

// Options of a Store; zero fields take the defaults named beside them.
type Options struct {
	Doorbell ports.Doorbell // nil: no doorbell
	// for reads that share a statement, with IndexPlans and ReadConns connections; nil: the pool of the store
	Reads *pgxpool.Pool
	// the ceiling of accounts without a negotiated ceiling; 0: 2500.00 EUR (service.md, "Limits")
	DefaultMaxAmount money.Cents
	AcquireTimeout   time.Duration // 3 s: the wait for a connection before service_unavailable
	// 3 s: the time an API key stays in the cache; below the 5 s in which a revoked key ends (api.md §1)
	KeysKeptFor time.Duration
	// hears of each row that cannot be read, with its table (ports.ListedTables); nil: nobody does
	Unreadable func(ctx context.Context, table string, rowID id.ID, err error)
}

// Store implements the unit of work over a connection pool, and has the tables of each module.
type Store struct {
	depositTables
	paymentTables
	accountTables
	partnerTables
	webhookTables
	platformTables

	base     pg.Base
	doorbell ports.Doorbell
}

// Names under which the tables of the modules are embedded.
type (
	depositTables  = deposits.Tables
	paymentTables  = payments.Tables
	accountTables  = accounts.Tables
	partnerTables  = partners.Tables
	webhookTables  = webhooks.Tables
	platformTables = platform.Tables
)

var _ ports.UnitOfWork = (*Store)(nil)

// NewStore makes a store over a pool of NewPool. Call Close before the pool is closed.
func NewStore(pool *pgxpool.Pool, cipher Cipher, o Options) *Store {
	base := pg.Base{
		DB:     pg.DB{Pool: pool, Wait: pg.OrDefault(o.AcquireTimeout, 3*time.Second), Unreadable: o.Unreadable},
		Sealer: pg.Sealer{Cipher: cipher},
	}
	reads := base.DB
	reads.Pool = pg.OrDefault(o.Reads, pool)
	return &Store{
		depositTables:  deposits.New(base, reads),
		paymentTables:  payments.New(base),
		accountTables:  accounts.New(base, pg.OrDefault(o.DefaultMaxAmount, deposit.DefaultMaxAmount)),
		partnerTables:  partners.New(base, pg.OrDefault(o.KeysKeptFor, 3*time.Second)),
		webhookTables:  webhooks.New(base),
		platformTables: platform.New(base),
		base:           base, doorbell: o.Doorbell,
	}
}

// Close writes the last-used times of API keys that wait, and ends the reading of keys in use.
func (s *Store) Close(ctx context.Context) { s.Keys.Close(ctx) }

// WithinTx implements ports.UnitOfWork.
func (s *Store) WithinTx(ctx context.Context, fn func(context.Context) error) error {
	if pg.Inside(ctx) {
		return errNested
	}
	var appended bool
	ctx, end := pg.ChildSpan(ctx, "partnerdeposits/postgres", "transaction")
	defer end()
	err := pg.Retry(ctx, func() (err error) {
		appended, err = s.attempt(ctx, fn)
		return err
	})
	if err == nil && appended && s.doorbell != nil {
		s.doorbell.Ring()
	}
	return err
}

// errNested refuses a transaction within another, which would wait for the locks of the other.
var errNested = errors.New("postgres: a transaction within a transaction")

func (s *Store) attempt(ctx context.Context, fn func(context.Context) error) (appended bool, err error) {
	conn, err := s.base.DB.Acquire(ctx)
	if err != nil {
		return false, err
	}
	t := pg.Begin(conn)
	defer t.End(ctx) // even if fn panics
	if err := fn(pg.With(ctx, t)); err != nil {
		return false, err
	}
	failpoint.Hit("store.writing")
	if err := t.Commit(ctx); err != nil {
		return t.Appended, err
	}
	failpoint.Hit("store.committed")
	if t.Appended {
		failpoint.Hit("outbox.committed")
	}
	return t.Appended, nil
}

// Ping returns service_unavailable unless the database answers.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.base.DB.Exec(ctx, `SELECT 1`)
	return err
}

// SchemaFits compares the version of the database's schema with the newest migration of this binary. A newer schema
// fits: migrations only add to the schema while an older binary may run.
func (s *Store) SchemaFits(ctx context.Context) (fits bool, current, want int64, err error) {
	want = migrations.Newest()
	current, err = migrations.Version(ctx, s.base.DB)
	return err == nil && current >= want, current, want, err
}
