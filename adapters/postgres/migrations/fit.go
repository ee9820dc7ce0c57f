package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrUnsuitableDatabase is the error for a database that cannot hold the service's schema. Nothing was migrated.
var ErrUnsuitableDatabase = errors.New("migrations: the service cannot work in this database")

// CheckDatabase checks what a database keeps from its creation: encoding UTF-8 and a server with ICU. Returns
// an error that wraps ErrUnsuitableDatabase.
func CheckDatabase(ctx context.Context, conn querier) error {
	var encoding string
	var icu bool
	err := conn.QueryRow(ctx, `SELECT pg_encoding_to_char(encoding),
			EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu')
		FROM pg_database WHERE datname = current_database()`).Scan(&encoding, &icu)
	switch {
	case err != nil:
		return err
	case encoding != "UTF8":
		return fmt.Errorf("%w: its encoding is %s; create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
			ErrUnsuitableDatabase, encoding)
	case !icu:
		return fmt.Errorf("%w: its server lacks the collation und-x-icu; use a Postgres that is built with ICU", ErrUnsuitableDatabase)
	}
	return nil
}

func (m migrator) fits(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, m.databaseURL)
	if err != nil {
		return err
	}
	return firstOf(CheckDatabase(ctx, conn), conn.Close(ctx))
}
