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

// CheckKeyset compares the check values of a keyset's keys (one-way fingerprints) with those in the database. The
// keyset must have every key that the database lists. proven is true if it has, and false for a database without
// check values.
//
// Returns ErrKeyset, or the error of the query.
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

// StoreKeyCheckValues stores check values (one-way fingerprints) of the keyset's keys in the database. instead: true
// removes all other check values; false keeps them.
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
