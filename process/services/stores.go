package services

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/partner"
	"partnerdeposits/process/config"
)

// Stores are the open databases that the services are built over.
type Stores struct {
	Postgres *postgres.Store
	Changes  *groupcommit.Changes
	Pool     *pgxpool.Pool // of Postgres
	Cipher   *secrets.Cipher
}

// OpenStore opens Postgres alone, as commands do. Close the stores in the end.
func OpenStore(ctx context.Context, cfg config.Config, log *slog.Logger, o postgres.PoolOptions) (Stores, error) {
	cipher, err := Cipher(cfg, log)
	if err != nil {
		return Stores{}, err
	}
	pool, err := postgres.NewPool(ctx, cfg.DatabaseURL.Reveal(), o)
	if err != nil {
		return Stores{}, err
	}
	return Stores{
		Postgres: postgres.NewStore(pool, cipher, postgres.Options{}),
		Changes:  groupcommit.New(pool, cipher, groupcommit.Options{}),
		Pool:     pool, Cipher: cipher,
	}, nil
}

// Close closes the connections to Postgres.
func (s Stores) Close(ctx context.Context) {
	s.Postgres.Close(ctx)
	s.Pool.Close()
}

// Cipher opens the keyset. Outside development the configuration guarantees a keyset.
func Cipher(cfg config.Config, log *slog.Logger) (*secrets.Cipher, error) {
	keyset := cfg.SecretsKeyset.Reveal()
	if keyset == "" && cfg.Environment == partner.Development {
		log.Warn("SECRETS_KEYSET is not set: secrets are encrypted with the built-in development keyset, which is public")
		keyset = secrets.DevelopmentKeyset
	}
	return secrets.Open(keyset)
}
