package platform

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// ErrKeyset says that a keyset cannot read all secrets of the database.
var ErrKeyset = errors.New("postgres: SECRETS_KEYSET is not the keyset of this database")

// checkPatience bounds the wait for a connection.
const checkPatience = 2 * time.Second

// CheckKeyset compares a keyset, by the check values of its keys, with the check values of the database. The keyset
// needs every key that the database names. proven is false for a database without check values.
//
// Returns ErrKeyset, or the error of the reading.
func CheckKeyset(ctx context.Context, pool *pgxpool.Pool, values map[uint32][]byte) (proven bool, err error) {
	rows, err := queries.KeyChecks(ctx, pg.DB{Pool: pool, Wait: checkPatience})
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if !bytes.Equal(values[uint32(row.KeyID)], row.Value) { //nolint:gosec // ids of keys have 32 bits
			return false, ErrKeyset
		}
	}
	return len(rows) > 0, nil
}

// KeepKeyChecks adds check values to those of the database. With instead, only these remain.
func KeepKeyChecks(ctx context.Context, pool *pgxpool.Pool, values map[uint32][]byte, instead bool) error {
	var ids []int64
	var all [][]byte
	for keyID, value := range values {
		ids, all = append(ids, int64(keyID)), append(all, value)
	}
	return pg.InTx(ctx, pool, func(t *pg.Tx) error {
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
