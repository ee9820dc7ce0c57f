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

type Cipher = pg.Cipher

// MaxReadBatchConns is the number of connections that the pool Options.Reads needs.
const MaxReadBatchConns = deposits.MaxReadBatchConns

// Options are the settings of a Store. A zero field means the default that its comment states.
type Options struct {
	// Doorbell wakes the dispatchers after a commit of events; by default none.
	Doorbell ports.Doorbell
	// The pool for reads of deposits that share a statement, with IndexPlanSettings and MaxReadBatchConns connections. The
	// default is the pool of the store.
	Reads *pgxpool.Pool
	// The greatest amount of a deposit for accounts that have negotiated none. The default is 2500.00 EUR
	// (service.md, "Limits").
	DefaultMaxAmount money.Cents
	// The longest wait for a connection before service_unavailable is returned. The default is 3 s.
	AcquireTimeout time.Duration
	// How long an API key stays in the cache. The default is 3 s, which is below the 5 s after which a revoked key
	// must not work any more (api.md §1).
	KeysKeptFor time.Duration
	// Function called for each row that cannot be read, with its table (ports.APIListedTables); by default none.
	Unreadable func(ctx context.Context, table string, rowID id.ID, err error)
}

// Store runs functions in transactions (units of work) and holds the tables of every module.
type Store struct {
	depositTables
	paymentTables
	accountTables
	partnerTables
	webhookTables
	platformTables

	base     pg.StoreBase
	doorbell ports.Doorbell
}

// Names of the embedded tables of each module, since embedded types must have different names.
type (
	depositTables  = deposits.Stores
	paymentTables  = payments.Stores
	accountTables  = accounts.Stores
	partnerTables  = partners.Stores
	webhookTables  = webhooks.Stores
	platformTables = platform.Stores
)

var _ ports.UnitOfWork = (*Store)(nil)

// NewStore makes a Store over a pool. Call Close before the pool is closed.
func NewStore(pool *pgxpool.Pool, cipher Cipher, o Options) *Store {
	base := pg.StoreBase{
		DB:     pg.DB{Pool: pool, Wait: pg.OrDefault(o.AcquireTimeout, 3*time.Second), Unreadable: o.Unreadable},
		Sealer: pg.TextCipher{Cipher: cipher},
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

// Close writes the waiting last-used times of API keys and stops the renewal of cached keys.
func (s *Store) Close(ctx context.Context) { s.Keys.Close(ctx) }

// WithinTx runs fn in a transaction, again after serialization failures and deadlocks, and wakes the
// dispatchers if it wrote events.
func (s *Store) WithinTx(ctx context.Context, fn func(context.Context) error) error {
	if pg.HasTx(ctx) {
		return errNested
	}
	var appended bool
	ctx, end := pg.StartChildSpan(ctx, "partnerdeposits/postgres", "transaction")
	defer end()
	err := pg.RetryTx(ctx, func() (err error) {
		appended, err = s.attempt(ctx, fn)
		return err
	})
	if err == nil && appended && s.doorbell != nil {
		s.doorbell.WakeRelays()
	}
	return err
}

// errNested is the error for a transaction within another, whose locks it would wait for.
var errNested = errors.New("postgres: a transaction within a transaction")

func (s *Store) attempt(ctx context.Context, fn func(context.Context) error) (appended bool, err error) {
	conn, err := s.base.DB.Acquire(ctx)
	if err != nil {
		return false, err
	}
	t := pg.Begin(conn)
	defer t.RollbackIfOpen(ctx) // The deferred call ends the transaction even if the unit of work panics.
	if err := fn(pg.WithTx(ctx, t)); err != nil {
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

// SchemaFits reports whether the database's schema is at least as new as this binary's newest migration.
func (s *Store) SchemaFits(ctx context.Context) (fits bool, current, want int64, err error) {
	want = migrations.NewestVersion()
	current, err = migrations.AppliedVersion(ctx, s.base.DB)
	return err == nil && current >= want, current, want, err
}
