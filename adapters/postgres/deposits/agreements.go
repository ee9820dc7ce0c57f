package deposits

import (
	"context"
	"encoding/json"
	"time"

	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

func (r AgreementStore) Store(ctx context.Context, rec agreement.Record, since time.Time) error {
	plain, err := json.Marshal(rec.Origin)
	if err != nil {
		return err
	}
	sealed, err := r.Sealer.Encrypt(secret.Text(plain), pg.AgreementAAD(rec.ID))
	if err != nil {
		return err
	}
	return queries.KeepAgreement(ctx, pg.In(ctx).QueueingTx(), sqlc.KeepAgreementParams{
		ID: rec.ID, DepositID: rec.DepositID, ClientID: rec.ClientID, Version: rec.Version, Locale: rec.Locale,
		Words: rec.Words, AgreedAt: rec.At, Origin: sealed, Since: since,
	})
}

func (r AgreementStore) Agreements(ctx context.Context, depositID id.ID) ([]agreement.Record, error) {
	rows, err := queries.AgreementsOf(ctx, r.DB, depositID)
	if err != nil {
		return nil, err
	}
	found := make([]agreement.Record, len(rows))
	for i, row := range rows {
		found[i] = agreement.Record{
			ID: row.ID, DepositID: depositID, ClientID: row.ClientID, Version: row.Version, Locale: row.Locale,
			Words: row.Words, At: row.AgreedAt,
		}
		if row.Origin == nil {
			continue
		}
		plain, err := r.Sealer.Decrypt(row.Origin, pg.AgreementAAD(row.ID))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(plain.Reveal()), &found[i].Origin); err != nil {
			return nil, err
		}
	}
	return found, nil
}
