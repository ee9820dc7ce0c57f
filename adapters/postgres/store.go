package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

// Cipher encrypts secrets at rest (adapters/secrets).
type Cipher = pg.Cipher

// Options of a Store; zero fields take the defaults named beside them.
type Options struct {
	Doorbell         ports.Doorbell // nil: no doorbell
	Reads            *pgxpool.Pool  // for reads that share a statement, with IndexPlans and ReadConns connections; nil: the pool of the store
	DefaultMaxAmount money.Cents    // the ceiling of accounts without a negotiated ceiling; 0: 2500.00 EUR (service.md, "Limits")
	AcquireTimeout   time.Duration  // 3 s: the wait for a connection before service_unavailable
	KeysKeptFor      time.Duration  // 3 s: the time an API key stays in the cache; below the 5 s in which a revoked key ends (api.md §1)
}

// Store implements the unit of work and the readers, over a connection pool.
type Store struct {
	pool       *pgxpool.Pool
	db         pg.DB
	q          *sqlc.Queries
	sealer     pg.Sealer
	doorbell   ports.Doorbell
	defaultMax money.Cents
	keys       *keyCache
	keyUses    *keyUses
	reads      *depositReads
}

var (
	_ ports.UnitOfWork         = (*Store)(nil)
	_ ports.PartnerReader      = (*Store)(nil)
	_ ports.KeyReader          = (*Store)(nil)
	_ ports.OperatorReader     = (*Store)(nil)
	_ ports.TokenReader        = (*Store)(nil)
	_ ports.TwoFactorReader    = (*Store)(nil)
	_ ports.LinkReader         = (*Store)(nil)
	_ ports.DepositReader      = (*Store)(nil)
	_ ports.DepositScheduler   = (*Store)(nil)
	_ ports.ClientReader       = (*Store)(nil)
	_ ports.SealedAddresses    = (*Store)(nil)
	_ ports.TextEraser         = (*Store)(nil)
	_ ports.PaymentReader      = (*Store)(nil)
	_ ports.CollectionReader   = (*Store)(nil)
	_ ports.DueTenantNotices   = (*Store)(nil)
	_ ports.SubscriptionReader = (*Store)(nil)
	_ ports.DeliveryReader     = (*Store)(nil)
	_ ports.ReplayReader       = (*Store)(nil)
	_ ports.DueMails           = (*Store)(nil)
	_ ports.DueNotices         = (*Store)(nil)
	_ ports.SetAsideReader     = (*Store)(nil)
	_ ports.SupportDeposits    = (*Store)(nil)
	_ ports.DeskReader         = (*Store)(nil)
	_ ports.SupportPeople      = (*Store)(nil)
	_ ports.SupportEvents      = (*Store)(nil)
	_ ports.AuditReader        = (*Store)(nil)
	_ ports.Maintenance        = (*Store)(nil)
	_ ports.FileRecords        = (*Store)(nil)
	_ ports.AgreementReader    = (*Store)(nil)
	_ ports.PaymentQuestions   = (*Store)(nil)
	_ ports.DisputeReader      = (*Store)(nil)
	_ ports.PaymentErasures    = (*Store)(nil)
	_ ports.OwnBooks           = (*Store)(nil)
	_ ports.ReconciliationRuns = (*Store)(nil)
	_ ports.FileContents       = (*FileContents)(nil)
)

// NewStore makes a store over a pool of NewPool. Call Close before the pool is closed.
func NewStore(pool *pgxpool.Pool, cipher Cipher, o Options) *Store {
	s := &Store{
		pool: pool, db: pg.DB{Pool: pool, Wait: orDefault(o.AcquireTimeout, 3*time.Second)}, q: sqlc.New(),
		sealer: pg.Sealer{Cipher: cipher}, doorbell: o.Doorbell, defaultMax: orDefault(o.DefaultMaxAmount, deposit.DefaultMaxAmount),
		keys: newKeyCache(orDefault(o.KeysKeptFor, 3*time.Second)),
	}
	s.keyUses = newKeyUses(s.writeKeyUses)
	s.reads = newDepositReads(pg.DB{Pool: orDefault(o.Reads, pool), Wait: s.db.Wait}, s.sealer)
	return s
}

// Close writes the last-used times of API keys that wait.
func (s *Store) Close(ctx context.Context) { s.keyUses.close(ctx) }

// WithinTx implements ports.UnitOfWork.
func (s *Store) WithinTx(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
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

func (s *Store) attempt(ctx context.Context, fn func(context.Context, ports.Repositories) error) (appended bool, err error) {
	conn, err := s.db.Acquire(ctx)
	if err != nil {
		return false, err
	}
	t := pg.Begin(conn)
	defer t.End(ctx) // even if fn panics
	if err := fn(ctx, s.repositories(t)); err != nil {
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

// unit is the base of every repository.
type unit struct {
	*pg.Tx
	q      *sqlc.Queries
	sealer pg.Sealer
}

func (s *Store) repositories(t *pg.Tx) ports.Repositories {
	u := unit{Tx: t, q: s.q, sealer: s.sealer}
	return ports.Repositories{
		Partners:        partners{u},
		Operators:       operators{u},
		TwoFactors:      twoFactors{u},
		HalfSignIns:     halfSignIns{u},
		Links:           links{u, s.defaultMax},
		Clients:         clients{u},
		Deposits:        deposits{u},
		Payments:        payments{u},
		Collections:     collections{u},
		Refunds:         refunds{u},
		TenantNotices:   tenantNotices{u},
		Subscriptions:   subscriptions{u},
		Prober:          subscriptions{u},
		Deliveries:      deliveries{u},
		Replays:         replays{u},
		Outbox:          outbox{u},
		Idempotency:     idempotency{u},
		Mails:           mails{u},
		Notices:         notices{u},
		OperatorNotices: operatorNotices{u},
		Audit:           audit{u},
		Restores:        restores{u},
		Files:           files{u},
		Agreements:      agreements{u},
		Disputes:        disputes{u},
		PaymentErasures: paymentErasures{u},
	}
}

// Ping returns service_unavailable unless the database answers.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.db.Exec(ctx, `SELECT 1`)
	return err
}

// SchemaFits compares the version of the database's schema with the newest migration of this binary. A newer schema fits:
// migrations only add to the schema while an older binary may run.
func (s *Store) SchemaFits(ctx context.Context) (fits bool, current, want int64, err error) {
	want = migrations.Newest()
	current, err = migrations.Version(ctx, s.db)
	return err == nil && current >= want, current, want, err
}
