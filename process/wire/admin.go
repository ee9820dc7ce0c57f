package wire

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"partnerdeposits/adapters/passwords"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/migrations"
	platformtables "partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/partners/clients"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/payments/books"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/support"
	"partnerdeposits/app/webhooks"
	paymentports "partnerdeposits/ports/payments"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/services"
)

const adminConns = 2

// Admin holds the use cases of the operator's commands.
type Admin struct {
	Partners    *partners.Service
	Connections *connections.Service
	Operators   *operators.Service
	Clients     *clients.Service
	Webhooks    *webhooks.Service
	Restore     *idempotent.Restore
	Support     *support.Service
	Payments    *payments.Service
	Books       *books.Service
	Keyset      *postgres.Resealer          // encrypts stored secrets anew
	Checker     paymentports.PaymentChecker // nil for a payment provider that has nothing to check
	stores      services.Stores
}

// NewAdmin opens the database for a command. Close the Admin in the end.
func NewAdmin(ctx context.Context, cfg config.Config, log *slog.Logger) (*Admin, error) {
	stores, err := services.OpenStore(ctx, cfg, log,
		postgres.PoolOptions{MaxConns: adminConns, AppName: "partnerdeposits-admin", Pooled: cfg.DatabasePooled})
	if err != nil {
		return nil, err
	}
	parts := services.DefaultParts(cfg, stores, system.Clock{}, log)
	if parts.Passwords, err = passwords.New(); err != nil {
		return nil, err
	}
	all := services.New(cfg, stores, parts)
	if _, err := platformtables.CheckKeyset(ctx, stores.Pool, stores.Cipher.CheckValues()); errors.Is(err, ErrKeyset) {
		stores.Cipher.Refuse(err) // other errors are those of the command's own statements
	}
	return &Admin{Partners: all.Partners, Connections: all.Connections, Operators: all.Operators, Clients: all.Clients,
			Webhooks: all.Webhooks, Restore: all.Restore, Support: all.Support, Payments: all.Payments, Books: all.Books,
			Keyset: postgres.NewResealer(stores.Postgres, stores.Cipher.PrimaryPrefix()), Checker: parts.Checker,
			stores: stores},
		nil
}

// Reencrypted says that the primary key has encrypted every stored secret: no process needs another key for them.
func (a *Admin) Reencrypted(ctx context.Context) error {
	primary := a.stores.Cipher.Primary()
	return platformtables.KeepKeyChecks(ctx, a.stores.Pool,
		map[uint32][]byte{primary: a.stores.Cipher.CheckValues()[primary]}, true)
}

// Close closes the connections.
func (a *Admin) Close(ctx context.Context) { a.stores.Close(ctx) }

// MigrateUp brings the schema to the newest version and gives the version of the schema, which is above NewestMigration
// after a newer binary has migrated. Concurrent calls wait for each other. waits is called before each pause for a
// lock. A database without check values gets those of SECRETS_KEYSET, where that is set.
//
// Returns ErrKeyset, after the migration, for a keyset that is not that of the database.
func MigrateUp(ctx context.Context, cfg config.Config, waits func(error)) (version int64, err error) {
	url, err := cfg.MigrationURL()
	if err != nil {
		return 0, err
	}
	if version, err = migrations.Up(ctx, url.Reveal(), waits); err != nil {
		return version, err
	}
	return version, keepCheckValues(ctx, cfg, url.Reveal())
}

// MigrationProgress is how far a migration is.
type MigrationProgress = migrations.Progress

// WatchMigration reports how far MigrateUp is, until ctx ends.
func WatchMigration(ctx context.Context, cfg config.Config, every time.Duration, report func(MigrationProgress)) error {
	url, err := cfg.MigrationURL()
	if err != nil {
		return err
	}
	migrations.Watch(ctx, url.Reveal(), every, report)
	return nil
}

// NewestMigration is the newest version that this binary knows.
func NewestMigration() int64 { return migrations.Newest() }

// Migrations lists the migrations of this binary and whether the database has them.
func Migrations(ctx context.Context, cfg config.Config) ([]migrations.Status, error) {
	url, err := cfg.MigrationURL()
	if err != nil {
		return nil, err
	}
	return migrations.List(ctx, url.Reveal())
}

// DevelopmentKeyset is the keyset of a development process that has no SECRETS_KEYSET. It is public.
const DevelopmentKeyset = secrets.DevelopmentKeyset

// NewKeyset makes a SECRETS_KEYSET.
func NewKeyset() (string, error) { return secrets.NewKeyset() }

// RotateKeyset adds a new primary key to the configured keyset.
func RotateKeyset(cfg config.Config) (string, error) {
	return secrets.Rotate(cfg.SecretsKeyset.Reveal())
}

// AddKey returns the configured keyset with a new key, which decrypts and does not encrypt yet.
func AddKey(cfg config.Config) (string, error) { return secrets.AddKey(cfg.SecretsKeyset.Reveal()) }

// UseKey returns the configured keyset with its newest key as the key that encrypts, and ErrKeyUsed where that key
// encrypts already.
func UseKey(cfg config.Config) (string, error) { return secrets.UseKey(cfg.SecretsKeyset.Reveal()) }

// ErrKeyUsed is the error of UseKey.
var ErrKeyUsed = secrets.ErrUsed

// Diagnosis is the state of the service's surroundings. Each error concerns only its own field; Backlogged is the error
// of reading Backlog.
type Diagnosis struct {
	Postgres, Schema, Restored, Redis, Backlogged error
	Unfit                                         error // the database cannot hold the schema
	Writes                                        error // of Postgres
	Role                                          error // the role of a pooled database lacks settings
	Keyset                                        Keyset

	Blockers                    []postgres.Blocker
	Idle                        []postgres.Blocker // sessions that have long held a transaction and done nothing in it
	RedisAnswers                bool               // though perhaps not to writes
	RedisPolicy                 string             // maxmemory-policy; "" for one that it does not tell
	SchemaVersion, SchemaWanted int64
	PostgresClock, RedisClock   time.Duration // how far the store's clock is ahead of this machine's
	Backlog                     webhookports.Backlog

	// Forwarded is a peer of an http process that told the address of another client within the last hour, and is in no
	// TRUSTED_PROXIES, neither of that process nor of this one; zero for none.
	Forwarded redisadapter.Forwarded
	// ForwardedBoth is a trusted proxy that sent both headers within the last hour; zero for none, and with
	// TRUSTED_PROXY_HEADER.
	ForwardedBoth redisadapter.Forwarded

	Processes []AskedProcess
}

// Diagnose checks everything once, and asks the processes at the URLs for their own checks; without URLs, the process
// at METRICS_ADDR of this machine, if there is one.
//
// Returns an error only if the stores cannot be opened; failed checks are in the Diagnosis.
func Diagnose(ctx context.Context, cfg config.Config, log *slog.Logger, processes []string) (Diagnosis, error) {
	s, err := open(ctx, cfg, run.Log{Logger: log}, "doctor", adminConns, false)
	if err != nil {
		return Diagnosis{}, err
	}
	defer func() {
		for i := len(s.parts) - 1; i >= 0; i-- {
			_ = s.parts[i].Stop(ctx) // the command is over
		}
	}()
	out := Diagnosis{SchemaWanted: migrations.Newest(), Processes: askProcesses(ctx, cfg, processes)}
	out.Postgres = s.connected(ctx)
	out.Redis = redisadapter.Probe(ctx, s.redis)
	out.RedisAnswers = out.Redis == nil || errors.Is(out.Redis, redisadapter.ErrNoWrites)
	if out.RedisAnswers {
		out.RedisClock, out.RedisPolicy = redisClock(ctx, s), redisadapter.Policy(ctx, s.redis)
		out.Forwarded = forwarded(ctx, s, false)
		out.ForwardedBoth = forwarded(ctx, s, true)
	}
	if out.Postgres != nil {
		return out, nil
	}
	out.PostgresClock, _ = s.clock.skew()
	out.Unfit = migrations.Fits(ctx, s.ops)
	if out.SchemaVersion, out.Schema = migrations.Version(ctx, s.ops); out.Schema != nil ||
		out.SchemaVersion < out.SchemaWanted {
		return out, nil
	}
	out.Blockers, out.Writes = tryWrites(ctx, s)
	out.Idle, _ = postgres.Idle(ctx, s.ops, idleTransaction) // a Postgres that fails is told by the other checks
	if cfg.DatabasePooled {
		out.Role = postgres.CheckRole(ctx, s.ops)
	}
	out.Restored = platformtables.CheckRestored(ctx, s.ops)
	out.Keyset = keysetReader{s.ops, s.Cipher, s.Postgres, cfg.SecretsKeyset != "", out.Writes == nil}.readAll(ctx)
	out.Backlog, out.Backlogged = dispatchstore.NewBacklog(s.ops).Backlog(ctx)
	return out, nil
}

// Errors that Diagnosis.Writes may wrap: the reason why Postgres takes no write.
var (
	ErrReadOnly = postgres.ErrReadOnly
	ErrNoRoom   = postgres.ErrNoRoom
	ErrLocked   = postgres.ErrLocked

	ErrNoRights  = postgres.ErrNoRights
	ErrNoStandby = postgres.ErrNoStandby
)

// ErrSchemaRefused is an error that Diagnosis.Schema may wrap.
var ErrSchemaRefused = migrations.ErrRefused

// writePatience bounds the doctor's try of a write, which ends by itself but where a server or a standby hangs.
const writePatience = 5 * time.Second

// Blocker is a session of Postgres that is in the way.
type Blocker = postgres.Blocker

// ErrNoConnection is an error that Diagnosis.Postgres may wrap.
var ErrNoConnection = postgres.ErrNoConnection

// longTransaction is the age from which a transaction that holds locks is blamed: those of requests end sooner.
const longTransaction = 5 * time.Second

// idleTransaction is how long an open transaction may do nothing. Those of the service end within seconds.
const idleTransaction = 2 * time.Minute

// tryWrites tries a write and lists the sessions that block others meanwhile. pg_blocking_pids names nobody while
// nobody waits, and in a service at rest the try may be the only session that does.
func tryWrites(ctx context.Context, s *process) (blockers []postgres.Blocker, err error) {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.takesWrites(ctx) }()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		if found, err := postgres.Blockers(ctx, s.ops, longTransaction); err == nil && len(found) > 0 {
			blockers = found
		}
		select {
		case err = <-ended:
			return blockers, err
		case <-again.C:
		}
	}
}

// DropsSettings tells whether the database is behind a pooler that DATABASE_POOLED does not name.
func (d Diagnosis) DropsSettings() bool { return errors.Is(d.Postgres, postgres.ErrUndeclaredPooler) }

// forwarded gives no note if Redis cannot give any: the finding about Redis says so.
func forwarded(ctx context.Context, s *process, both bool) redisadapter.Forwarded {
	note, err := redisadapter.ReadForwarded(ctx, s.redis, both)
	mended := s.cfg.Trusts(note.Peer)
	if both {
		mended = s.cfg.TrustedProxyHeader != ""
	}
	if err != nil || mended {
		return redisadapter.Forwarded{}
	}
	return note
}

func redisClock(ctx context.Context, s *process) time.Duration {
	before := time.Now()
	theirs, err := s.redis.Time(ctx).Result()
	if err != nil {
		return 0
	}
	return theirs.Sub(before.Add(time.Since(before) / 2))
}
