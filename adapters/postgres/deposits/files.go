package deposits

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
)

func (r FileStore) AttachUnconfirmed(
	ctx context.Context, by depositports.UploadSession, fileIDs []id.ID, since, at time.Time, adds actor.Actor,
) ([]evidence.File, error) {
	rows, err := queries.AddFiles(ctx, pg.In(ctx), sqlc.AddFilesParams{
		FileIds: fileIDs, DepositID: by.DepositID, Session: by.Session[:], Since: since, At: at, Actor: adds.String(),
	})
	if err != nil {
		return nil, err
	}
	if len(rows) != len(fileIDs) {
		return nil, evidence.ErrFilesGone
	}
	count, err := queries.CountFiles(ctx, pg.In(ctx), by.DepositID)
	if err == nil && count > evidence.MaxFilesPerDeposit {
		err = evidence.ErrDepositFileLimit
	}
	return pg.ConvertEach(rows, func(row sqlc.AddFilesRow) evidence.File { return toFile(sqlc.FileOfDepositRow(row)) }),
		err
}

func (r FileStore) DeleteRecords(ctx context.Context, fileIDs []id.ID) error {
	return queries.ForgetFiles(ctx, pg.In(ctx).QueueingTx(), fileIDs)
}

func (r FileStore) InsertUnconfirmed(ctx context.Context, by depositports.UploadSession, sent []evidence.File) error {
	return pg.RunInTx(ctx, r.DB.Pool, func(t *pg.Tx) error {
		for _, f := range sent {
			if err := queries.WaitWithFile(ctx, t.QueueingTx(), sqlc.WaitWithFileParams{
				ID: f.ID, DepositID: by.DepositID, Name: f.Name, MediaType: string(f.Type), Size: f.Size, SentAt: f.SentAt,
				Session: by.Session[:],
			}); err != nil {
				return err
			}
		}
		return t.Commit(ctx)
	})
}

func (r FileStore) UnconfirmedFiles(ctx context.Context, by depositports.UploadSession, fileIDs []id.ID,
	since time.Time) ([]evidence.File, error) {
	rows, err := queries.WaitingFiles(ctx, r.DB,
		sqlc.WaitingFilesParams{FileIds: fileIDs, DepositID: by.DepositID, Session: by.Session[:], Since: since})
	return pg.ConvertEach(rows,
			func(row sqlc.WaitingFilesRow) evidence.File { return toFile(sqlc.FileOfDepositRow(row)) }),
		pg.Translate(err)
}

func (r FileStore) Files(ctx context.Context, depositID id.ID) ([]evidence.File, error) {
	rows, err := queries.FilesOfDeposit(ctx, r.DB, depositID)
	return pg.ConvertEach(rows,
			func(row sqlc.FilesOfDepositRow) evidence.File { return toFile(sqlc.FileOfDepositRow(row)) }),
		pg.Translate(err)
}

func (r FileStore) File(ctx context.Context, depositID, fileID id.ID) (evidence.File, error) {
	row, err := queries.FileOfDeposit(ctx, r.DB, fileID, depositID)
	return toFile(row), pg.ReplaceErrNoRows(err, evidence.ErrNotFound)
}

func (r FileStore) AbandonedFileIDs(ctx context.Context, since time.Time, limit int) ([]id.ID, error) {
	ids, err := queries.AbandonedFiles(ctx, r.DB, since, limit)
	return ids, pg.Translate(err)
}

func toFile(row sqlc.FileOfDepositRow) evidence.File {
	return evidence.File{
		ID: row.ID, DepositID: row.DepositID, Name: row.Name, Type: evidence.MediaType(row.MediaType), Size: row.Size,
		SentAt: row.SentAt, AddedAt: row.AddedAt, AddedBy: actor.Parse(row.AddedBy),
	}
}
