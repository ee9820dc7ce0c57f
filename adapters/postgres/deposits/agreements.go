package deposits

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// Keep implements depositports.Agreements.
func (r Agreements) Keep(ctx context.Context, rec agreement.Record, since time.Time) error {
	plain, err := json.Marshal(rec.Origin)
	if err != nil {
		return err
	}
	sealed, err := r.Sealer.Seal(secret.Text(plain), pg.AgreementAAD(rec.ID))
	if err != nil {
		return err
	}
	_, err = pg.In(ctx).Deferred().Exec(ctx, `
		INSERT INTO deposit_agreements (id, deposit_id, client_id, version, locale, words, agreed_at, origin)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8
		WHERE $9::timestamptz IS NULL OR NOT EXISTS (
			SELECT FROM deposit_agreements WHERE deposit_id = $2 AND client_id = $3 AND words = $6 AND agreed_at >= $9)`,
		rec.ID, rec.DepositID, rec.ClientID, rec.Version, rec.Locale, rec.Words, rec.At, sealed, since)
	return err
}

// Agreements implements depositports.Agreements.
func (r Agreements) Agreements(ctx context.Context, depositID id.ID) ([]agreement.Record, error) {
	rows, err := r.DB.Query(ctx, `SELECT id, client_id, version, locale, words, agreed_at, origin FROM deposit_agreements WHERE deposit_id = $1 ORDER BY agreed_at, id`, depositID)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (agreement.Record, error) {
		rec := agreement.Record{DepositID: depositID}
		var sealed []byte
		if err := row.Scan(&rec.ID, &rec.ClientID, &rec.Version, &rec.Locale, &rec.Words, &rec.At, &sealed); err != nil || sealed == nil {
			return rec, err
		}
		plain, err := r.Sealer.Open(sealed, pg.AgreementAAD(rec.ID))
		if err != nil {
			return rec, err
		}
		return rec, json.Unmarshal([]byte(plain.Reveal()), &rec.Origin)
	})
	return found, pg.Translate(err)
}
