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

// Cipher encrypts and decrypts secrets that are stored in the database (adapters/secrets).
type Cipher = pg.Cipher

// MaxReadBatchConns is the number of connections to Postgres that the pool for reads of deposits (Options.Reads) needs.
const MaxReadBatchConns = deposits.MaxReadBatchConns

// Options are the settings of a Store, the access to the Postgres database. A zero field means the default that
// its comment states.
type Options struct {
	// Doorbell wakes the dispatchers (the processes that send webhooks) after a commit of events. The default wakes
	// none.
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
	// Function that is called for each row that cannot be read, with its table (ports.APIListedTables). The default is
	// none.
	Unreadable func(ctx context.Context, table string, rowID id.ID, err error)
}

// Store is the access to Postgres: it runs functions in transactions over a pool of connections (units of work),
// and holds the tables of every module.
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

// Names under which Store embeds the tables of each module, since embedded types must have different names.
type (
	depositTables  = deposits.Stores
	paymentTables  = payments.Stores
	accountTables  = accounts.Stores
	partnerTables  = partners.Stores
	webhookTables  = webhooks.Stores
	platformTables = platform.Stores
)

var _ ports.UnitOfWork = (*Store)(nil)

// NewStore makes a Store over a pool of connections that NewPool made. Call Close before the pool is closed.
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

// Close writes the last-used times of API keys that still wait, and stops the renewal of keys in the cache.
func (s *Store) Close(ctx context.Context) { s.Keys.Close(ctx) }

// WithinTx runs fn in a transaction and commits it, and wakes the dispatchers if it wrote events. Serialization
// failures and deadlocks make fn run again.
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

// errNested is the error for a transaction that is begun within another one, since it would wait for the locks of
// the other.
var errNested = errors.New("postgres: a transaction within a transaction")

func (s *Store) attempt(ctx context.Context, fn func(context.Context) error) (appended bool, err error) {
	conn, err := s.base.DB.Acquire(ctx)
	if err != nil {
		return false, err
	}
	t := pg.Begin(conn)
	defer t.RollbackIfOpen(ctx) // The deferred call ends the transaction even if the function of the unit of work panics.
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

// Ping checks that the database answers. Returns service_unavailable if it does not.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.base.DB.Exec(ctx, `SELECT 1`)
	return err
}

// SchemaFits compares the version of the database's schema with the newest migration of this binary. fits is true
// for the same version or a newer one, since migrations only add to the schema while an older binary may run; false
// for an older one.
func (s *Store) SchemaFits(ctx context.Context) (fits bool, current, want int64, err error) {
	want = migrations.NewestVersion()
	current, err = migrations.AppliedVersion(ctx, s.base.DB)
	return err == nil && current >= want, current, want, err
}
