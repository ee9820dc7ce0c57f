package deposits

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/secret"
	depositports "partnerdeposits/ports/deposits"
)

func (r FormDraftStore) Store(ctx context.Context, key depositports.FormDraftKey, content secret.Text, at time.Time,
	most int) error {
	sealed, err := r.Sealer.Encrypt(content, pg.FormDraftAAD(key.Session, key.Form))
	if err != nil {
		return err
	}
	return pg.RunInTx(ctx, r.DB.Pool, func(t *pg.Tx) error {
		if err := queries.KeepFormDraft(ctx, t.QueueingTx(), sqlc.KeepFormDraftParams{
			Session: key.Session[:], Form: key.Form, AccountID: key.AccountID, Content: sealed, KeptAt: at,
		}); err != nil {
			return err
		}
		if err := queries.TrimFormDrafts(ctx, t.QueueingTx(), key.AccountID, key.Form, most); err != nil {
			return err
		}
		return t.Commit(ctx)
	})
}

func (r FormDraftStore) Draft(ctx context.Context, key depositports.FormDraftKey, since time.Time) (secret.Text,
	error) {
	sealed, err := queries.FormDraft(ctx, r.DB, sqlc.FormDraftParams{
		Session: key.Session[:], Form: key.Form, AccountID: key.AccountID, Since: since,
	})
	if err != nil {
		return "", pg.ReplaceErrNoRows(err, depositports.ErrFormDraftGone)
	}
	return r.Sealer.Decrypt(sealed, pg.FormDraftAAD(key.Session, key.Form))
}

func (r FormDraftStore) DropDraft(ctx context.Context, key depositports.FormDraftKey) error {
	return pg.Translate(queries.DropFormDraft(ctx, r.DB, key.Session[:], key.Form))
}

func (r FormDraftStore) DeleteExpired(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := queries.DeleteFormDrafts(ctx, r.DB, before, limit)
	return int(n), pg.Translate(err)
}
