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

type AdminCommands struct {
	Partners    *partners.Service
	Connections *connections.Service
	Operators   *operators.Service
	Clients     *clients.Service
	Webhooks    *webhooks.Service
	Restore     *idempotent.DatabaseRestoreFinisher
	Support     *support.Service
	Payments    *payments.Service
	Books       *books.Service
	Keyset      *postgres.SecretReencrypter
	// The check of the payment provider's account and settings; nil for a provider that has none.
	Checker paymentports.ProviderChecker
	stores  services.Stores
}

// NewAdminCommands opens the database and returns the use cases of the admin command line. The caller closes them.
func NewAdminCommands(ctx context.Context, cfg config.Config, log *slog.Logger) (*AdminCommands, error) {
	stores, err := services.OpenStore(ctx, cfg, log,
		postgres.PoolOptions{MaxConns: adminConns, AppName: "partnerdeposits-admin", Pooled: cfg.DatabasePooled})
	if err != nil {
		return nil, err
	}
	parts := services.DefaultDeps(cfg, stores, system.Clock{}, log)
	if parts.Passwords, err = passwords.New(); err != nil {
		return nil, err
	}
	all := services.New(cfg, stores, parts)
	if _, err := platformtables.CheckKeyset(ctx, stores.Pool, stores.Cipher.KeyCheckValues()); errors.Is(err,
		ErrKeysetDiffers) {
		// Only a wrong keyset matters here: other database errors occur again when the command runs.
		stores.Cipher.SetRefusalError(err)
	}
	return &AdminCommands{Partners: all.Partners, Connections: all.Connections, Operators: all.Operators,
			Clients:  all.Clients,
			Webhooks: all.Webhooks, Restore: all.Restore, Support: all.Support, Payments: all.Payments, Books: all.Books,
			Keyset:  postgres.NewSecretReencrypter(stores.Postgres, stores.Cipher.PrimaryCiphertextPrefix()),
			Checker: parts.Checker,
			stores:  stores},
		nil
}

// RecordReencryption records that every stored secret is encrypted with the primary key, so that no process needs
// another.
func (a *AdminCommands) RecordReencryption(ctx context.Context) error {
	primary := a.stores.Cipher.PrimaryKeyID()
	return platformtables.StoreKeyCheckValues(ctx, a.stores.Pool,
		map[uint32][]byte{primary: a.stores.Cipher.KeyCheckValues()[primary]}, true)
}

func (a *AdminCommands) Close(ctx context.Context) { a.stores.Close(ctx) }

// MigrateUp migrates the database and returns its version, which exceeds NewestMigrationVersion if a newer binary
// has migrated. Concurrent calls wait for each other; waits is called before each pause. A database without check
// values gets those of SECRETS_KEYSET.
//
// Returns ErrKeysetDiffers, after the migration, if the keyset is not that of the database.
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

type MigrationProgress = migrations.Progress

// WatchMigration reports the progress of MigrateUp at an interval, until ctx ends.
func WatchMigration(ctx context.Context, cfg config.Config, every time.Duration, report func(MigrationProgress)) error {
	url, err := cfg.MigrationURL()
	if err != nil {
		return err
	}
	migrations.WatchProgress(ctx, url.Reveal(), every, report)
	return nil
}

func NewestMigrationVersion() int64 { return migrations.NewestVersion() }

func ListMigrations(ctx context.Context, cfg config.Config) ([]migrations.Status, error) {
	url, err := cfg.MigrationURL()
	if err != nil {
		return nil, err
	}
	return migrations.List(ctx, url.Reveal())
}

// DevelopmentKeyset is the public keyset of development without SECRETS_KEYSET.
const DevelopmentKeyset = secrets.DevelopmentKeyset

func NewKeyset() (string, error) { return secrets.NewKeyset() }

// RotateKeyset returns the configured keyset with a new primary key, which encrypts.
func RotateKeyset(cfg config.Config) (string, error) {
	return secrets.RotateKeyset(cfg.SecretsKeyset.Reveal())
}

// AddKeysetKey returns the configured keyset with a new key that only decrypts.
func AddKeysetKey(cfg config.Config) (string, error) {
	return secrets.AddKey(cfg.SecretsKeyset.Reveal())
}

// PromoteNewestKey returns the configured keyset with its newest key as the primary key, or ErrKeyAlreadyPrimary.
func PromoteNewestKey(cfg config.Config) (string, error) {
	return secrets.MakeNewestKeyPrimary(cfg.SecretsKeyset.Reveal())
}

var ErrKeyAlreadyPrimary = secrets.ErrNewestKeyInUse

// Diagnosis is the result of `admin doctor`. Each error concerns the field of the same name; Backlogged that of
// reading Backlog.
type Diagnosis struct {
	Postgres, Schema, Restored, Redis, Backlogged error
	// Why the database cannot hold the schema; nil if it can.
	Unfit  error
	Writes error // Why Postgres takes no write; nil if it does.
	// The settings that the role of a pooled database lacks; nil if it has them all.
	Role   error
	Keyset KeysetFinding

	Blockers []postgres.BlockingSession
	// Sessions that hold a transaction open without using it.
	Idle []postgres.BlockingSession
	// Whether Redis answers, though perhaps not to writes.
	RedisAnswers                bool
	RedisPolicy                 string // The maxmemory-policy of Redis; "" if Redis does not reveal it.
	SchemaVersion, SchemaWanted int64
	PostgresClock, RedisClock   time.Duration // How far the clocks of Postgres and Redis are ahead of this machine's.
	Backlog                     webhookports.Backlog

	// Forwarded is an address that sent another client's address to an http process within the last hour, and is
	// missing in TRUSTED_PROXIES; zero: none.
	Forwarded redisadapter.ProxyHeaderWarning
	// ForwardedBoth is a trusted proxy that sent both headers for a client's address within the last hour; zero: none,
	// or TRUSTED_PROXY_HEADER is set.
	ForwardedBoth redisadapter.ProxyHeaderWarning

	Processes []ProcessState
}

// Diagnose checks the database and Redis once, and queries the processes at the URLs, or without URLs one on this
// machine.
//
// Returns an error only if the stores cannot be opened; failed checks are in the Diagnosis.
func Diagnose(ctx context.Context, cfg config.Config, log *slog.Logger, processes []string) (Diagnosis, error) {
	s, err := open(ctx, cfg, run.Log{Logger: log}, "doctor", adminConns, false)
	if err != nil {
		return Diagnosis{}, err
	}
	defer func() {
		for i := len(s.parts) - 1; i >= 0; i-- {
			_ = s.parts[i].Stop(ctx)
		}
	}()
	out := Diagnosis{SchemaWanted: migrations.NewestVersion(), Processes: askProcesses(ctx, cfg, processes)}
	out.Postgres = s.connected(ctx)
	out.Redis = redisadapter.CheckWrites(ctx, s.redis)
	out.RedisAnswers = out.Redis == nil || errors.Is(out.Redis, redisadapter.ErrNoWrites)
	if out.RedisAnswers {
		out.RedisClock, out.RedisPolicy = redisClock(ctx, s), redisadapter.MaxmemoryPolicy(ctx, s.redis)
		out.Forwarded = forwarded(ctx, s, false)
		out.ForwardedBoth = forwarded(ctx, s, true)
	}
	if out.Postgres != nil {
		return out, nil
	}
	out.PostgresClock, _ = s.clock.skew()
	out.Unfit = migrations.CheckDatabase(ctx, s.ops)
	if out.SchemaVersion, out.Schema = migrations.AppliedVersion(ctx, s.ops); out.Schema != nil ||
		out.SchemaVersion < out.SchemaWanted {
		return out, nil
	}
	out.Blockers, out.Writes = tryWrites(ctx, s)
	// Other checks report a Postgres that does not answer.
	out.Idle, _ = postgres.IdleTransactions(ctx, s.ops, idleTransaction)
	if cfg.DatabasePooled {
		out.Role = postgres.CheckRoleSettings(ctx, s.ops)
	}
	out.Restored = platformtables.CheckRestoreFinished(ctx, s.ops)
	out.Keyset = keysetReader{s.ops, s.Cipher, s.Postgres, cfg.SecretsKeyset != "", out.Writes == nil}.readAll(ctx)
	out.Backlog, out.Backlogged = dispatchstore.NewBacklogReader(s.ops).Backlog(ctx)
	return out, nil
}

// Reasons why Postgres takes no write, which Diagnosis.Writes may wrap.
var (
	ErrPostgresReadOnly = postgres.ErrReadOnly
	ErrPostgresDiskFull = postgres.ErrDiskFull
	ErrPostgresLocked   = postgres.ErrLocked

	ErrPostgresRightsMissing = postgres.ErrPermissionDenied
	ErrStandbyNotConfirming  = postgres.ErrNoStandby
)

// ErrSchemaRightsMissing is the error if the role lacks the rights to read the schema's version.
var ErrSchemaRightsMissing = migrations.ErrPermissionDenied

// writePatience bounds the trial write of `admin doctor`, which is slow only if a server or a standby hangs.
const writePatience = 5 * time.Second

type BlockingSession = postgres.BlockingSession

// ErrNoPostgresConnection is the error of a diagnosis if all of Postgres's connections are taken.
var ErrNoPostgresConnection = postgres.ErrNoFreeConnection

// longTransaction is the age from which a transaction with locks is reported. Those of requests end sooner.
const longTransaction = 5 * time.Second

// idleTransaction is how long a transaction may be idle before it is reported. Those of the service end within
// seconds.
const idleTransaction = 2 * time.Minute

// tryWrites tries a write and queries which sessions block others, at the same time: Postgres names a blocker only
// while a session waits.
func tryWrites(ctx context.Context, s *process) (blockers []postgres.BlockingSession, err error) {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.takesWrites(ctx) }()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		if found, err := postgres.BlockingSessions(ctx, s.ops, longTransaction); err == nil && len(found) > 0 {
			blockers = found
		}
		select {
		case err = <-ended:
			return blockers, err
		case <-again.C:
		}
	}
}

// BehindUndeclaredPooler reports whether the database is behind a pooler although DATABASE_POOLED is not set.
func (d Diagnosis) BehindUndeclaredPooler() bool {
	return errors.Is(d.Postgres, postgres.ErrUndeclaredPooler)
}

// forwarded returns the note about a misconfigured proxy that an http process left in Redis; zero without one, if
// the configuration has been corrected, or if Redis cannot be read.
func forwarded(ctx context.Context, s *process, both bool) redisadapter.ProxyHeaderWarning {
	note, err := redisadapter.ReadProxyHeaderWarning(ctx, s.redis, both)
	mended := s.cfg.TrustsProxy(note.Peer)
	if both {
		mended = s.cfg.TrustedProxyHeader != ""
	}
	if err != nil || mended {
		return redisadapter.ProxyHeaderWarning{}
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
