package wire

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/passwords"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/dispatchstore"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/app/connections"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/ports"
)

const adminConns = 2

// Admin is what the operator's commands stand on.
type Admin struct {
	Partners    *partners.Service
	Connections *connections.Service
	Webhooks    *webhooks.Service
	pool        *pgxpool.Pool
	store       *postgres.Store
}

// NewAdmin opens the database for a command. Close it in the end.
func NewAdmin(ctx context.Context, cfg config.Config, log *slog.Logger) (*Admin, error) {
	cipher, err := cipherOf(cfg, log)
	if err != nil {
		return nil, err
	}
	pool, err := postgres.NewPool(ctx, cfg.DatabaseURL.Reveal(), postgres.PoolOptions{MaxConns: adminConns, AppName: "partnerdeposits-admin"})
	if err != nil {
		return nil, err
	}
	hashes, err := passwords.New()
	if err != nil {
		return nil, err
	}
	s := &stores{cfg: cfg, log: log, cipher: cipher, pool: pool, store: postgres.NewStore(pool, cipher, postgres.Options{})}
	return &Admin{Partners: s.partners(), Connections: s.connections(hashes), Webhooks: s.webhooks(nil), pool: pool, store: s.store}, nil
}

// Close gives the connections back.
func (a *Admin) Close(ctx context.Context) {
	a.store.Close(ctx)
	a.pool.Close()
}

// MigrateUp brings the schema to the newest version and gives it. Several at once do no harm.
func MigrateUp(ctx context.Context, cfg config.Config) (version int64, err error) {
	if err := migrations.Up(ctx, cfg.DatabaseURL.Reveal()); err != nil {
		return 0, err
	}
	return migrations.Newest(), nil
}

// Migrations lists the migrations of this binary and whether the database has them.
func Migrations(ctx context.Context, cfg config.Config) ([]migrations.Status, error) {
	return migrations.List(ctx, cfg.DatabaseURL.Reveal())
}

// NewKeyset makes a SECRETS_KEYSET.
func NewKeyset() (string, error) { return secrets.NewKeyset() }

// RotateKeyset adds a new primary key to the configured keyset.
func RotateKeyset(cfg config.Config) (string, error) {
	return secrets.Rotate(cfg.SecretsKeyset.Reveal())
}

// Outside is how things stand around the service, for the doctor. Each error is about that one thing.
type Outside struct {
	Postgres, Schema, Redis, Keyset, Backlogged error

	SchemaVersion, SchemaWanted int64
	PostgresClock, RedisClock   time.Duration // how far theirs is ahead of ours
	Backlog                     ports.Backlog
}

// LookAround asks everything once.
func LookAround(ctx context.Context, cfg config.Config, log *slog.Logger) (Outside, error) {
	s, err := open(ctx, cfg, log, "doctor", adminConns, false)
	if err != nil {
		return Outside{}, err
	}
	defer func() {
		for i := len(s.parts) - 1; i >= 0; i-- {
			_ = s.parts[i].Stop(ctx) // the command is over
		}
	}()
	out := Outside{SchemaWanted: migrations.Newest()}
	out.Postgres = s.ops.Ping(ctx)
	out.Redis = s.redis.Ping(ctx).Err()
	if out.Redis == nil {
		out.RedisClock = redisClock(ctx, s)
	}
	if out.Postgres != nil {
		return out, nil
	}
	var theirs time.Time
	before := time.Now()
	if err := s.ops.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&theirs); err == nil {
		out.PostgresClock = theirs.Sub(middle(before, time.Now()))
	}
	if out.SchemaVersion, out.Schema = migrations.Version(ctx, s.ops); out.Schema != nil || out.SchemaVersion < out.SchemaWanted {
		return out, nil
	}
	out.Keyset = keysetFits(ctx, s.store)
	out.Backlog, out.Backlogged = dispatchstore.NewBacklog(s.ops).Backlog(ctx)
	return out, nil
}

func redisClock(ctx context.Context, s *stores) time.Duration {
	before := time.Now()
	theirs, err := s.redis.Time(ctx).Result()
	if err != nil {
		return 0
	}
	return theirs.Sub(middle(before, time.Now()))
}

func middle(a, b time.Time) time.Time { return a.Add(b.Sub(a) / 2) }

// keysetFits decrypts what the database holds, one partner being enough: they were all encrypted with one keyset.
func keysetFits(ctx context.Context, store *postgres.Store) error {
	all, err := store.Partners(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.HasConnectSecret {
			_, err := store.ConnectSecret(ctx, p.ID)
			return err
		}
	}
	return nil
}
