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

type Stores struct {
	Postgres *postgres.Store
	Changes  *groupcommit.Committer
	Pool     *pgxpool.Pool
	Cipher   *secrets.Cipher
}

// OpenStore opens Postgres alone, as commands do. The caller closes the stores.
func OpenStore(ctx context.Context, cfg config.Config, log *slog.Logger, o postgres.PoolOptions) (Stores, error) {
	cipher, err := NewSecretsCipher(cfg, log)
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

func (s Stores) Close(ctx context.Context) {
	s.Postgres.Close(ctx)
	s.Pool.Close()
}

// NewSecretsCipher returns the cipher with the keyset of SECRETS_KEYSET. Development without one uses a built-in
// public keyset.
func NewSecretsCipher(cfg config.Config, log *slog.Logger) (*secrets.Cipher, error) {
	keyset := cfg.SecretsKeyset.Reveal()
	if keyset == "" && cfg.Environment == partner.EnvironmentDevelopment {
		log.Warn("SECRETS_KEYSET is not set: secrets are encrypted with the built-in development keyset, which is public")
		keyset = secrets.DevelopmentKeyset
	}
	return secrets.OpenKeyset(keyset)
}
