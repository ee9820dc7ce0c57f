package platform

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// ErrKeysetDiffers is the error for a keyset that cannot decrypt all secrets of the database.
var ErrKeysetDiffers = errors.New("postgres: SECRETS_KEYSET is not the keyset of this database")

// checkPatience is the longest wait for a connection to check the keyset.
const checkPatience = 2 * time.Second

// CheckKeyset checks that the keyset has every key whose check value the database lists; proven is false
// without check values. Returns ErrKeysetDiffers.
func CheckKeyset(ctx context.Context, pool *pgxpool.Pool, values map[uint32][]byte) (proven bool, err error) {
	rows, err := queries.KeyChecks(ctx, pg.DB{Pool: pool, Wait: checkPatience})
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if !bytes.Equal(values[uint32(row.KeyID)], row.Value) { //nolint:gosec // ids of keys have 32 bits
			return false, ErrKeysetDiffers
		}
	}
	return len(rows) > 0, nil
}

// StoreKeyCheckValues stores one-way fingerprints of the keyset's keys; instead removes all others.
func StoreKeyCheckValues(ctx context.Context, pool *pgxpool.Pool, values map[uint32][]byte, instead bool) error {
	var ids []int64
	var all [][]byte
	for keyID, value := range values {
		ids, all = append(ids, int64(keyID)), append(all, value)
	}
	return pg.RunInTx(ctx, pool, func(t *pg.Tx) error {
		if instead {
			if err := queries.DropOtherKeyChecks(ctx, t, ids, all); err != nil {
				return err
			}
		}
		if err := queries.KeepKeyChecks(ctx, t, ids, all); err != nil {
			return err
		}
		return t.Commit(ctx)
	})
}
