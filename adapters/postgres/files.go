package postgres

import (
	"context"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

type files struct{ unit }

// Add implements ports.FileRepository.
func (r files) Add(
	ctx context.Context, by ports.FileSender, fileIDs []id.ID, since, at time.Time, adds actor.Actor,
) ([]evidence.File, error) {
	rows, err := r.q.AddFiles(ctx, r.Tx, sqlc.AddFilesParams{
		FileIds: fileIDs, DepositID: by.DepositID, Session: by.Session[:], Since: since, At: at, Actor: adds.String(),
	})
	if err != nil {
		return nil, err
	}
	if len(rows) != len(fileIDs) {
		return nil, evidence.ErrGone
	}
	count, err := r.q.CountFiles(ctx, r.Tx, by.DepositID)
	if err == nil && count > evidence.MaxOfDeposit {
		err = evidence.ErrFull
	}
	return each(rows, func(row sqlc.AddFilesRow) evidence.File { return toFile(sqlc.FileOfDepositRow(row)) }), err
}

// Forget implements ports.FileRepository.
func (r files) Forget(ctx context.Context, fileIDs []id.ID) error {
	return r.q.ForgetFiles(ctx, r.Deferred(), fileIDs)
}

// Wait implements ports.FileRecords.
func (s *Store) Wait(ctx context.Context, by ports.FileSender, sent []evidence.File) error {
	return pg.InTx(ctx, s.pool, func(t *pg.Tx) error {
		for _, f := range sent {
			if err := s.q.WaitWithFile(ctx, t.Deferred(), sqlc.WaitWithFileParams{
				ID: f.ID, DepositID: by.DepositID, Name: f.Name, MediaType: string(f.Type), Size: f.Size, SentAt: f.SentAt, Session: by.Session[:],
			}); err != nil {
				return err
			}
		}
		return t.Commit(ctx)
	})
}

// Waiting implements ports.FileRecords.
func (s *Store) Waiting(ctx context.Context, by ports.FileSender, fileIDs []id.ID, since time.Time) ([]evidence.File, error) {
	rows, err := s.q.WaitingFiles(ctx, s.db, sqlc.WaitingFilesParams{FileIds: fileIDs, DepositID: by.DepositID, Session: by.Session[:], Since: since})
	return each(rows, func(row sqlc.WaitingFilesRow) evidence.File { return toFile(sqlc.FileOfDepositRow(row)) }), pg.Translate(err)
}

// Files implements ports.FileRecords.
func (s *Store) Files(ctx context.Context, depositID id.ID) ([]evidence.File, error) {
	rows, err := s.q.FilesOfDeposit(ctx, s.db, depositID)
	return each(rows, func(row sqlc.FilesOfDepositRow) evidence.File { return toFile(sqlc.FileOfDepositRow(row)) }), pg.Translate(err)
}

// File implements ports.FileRecords.
func (s *Store) File(ctx context.Context, depositID, fileID id.ID) (evidence.File, error) {
	row, err := s.q.FileOfDeposit(ctx, s.db, fileID, depositID)
	return toFile(row), pg.OrNotFound(err, evidence.ErrNotFound)
}

// Abandoned implements ports.FileRecords.
func (s *Store) Abandoned(ctx context.Context, since time.Time, limit int) ([]id.ID, error) {
	ids, err := s.q.AbandonedFiles(ctx, s.db, since, int32(limit))
	return ids, pg.Translate(err)
}

func toFile(row sqlc.FileOfDepositRow) evidence.File {
	return evidence.File{
		ID: row.ID, DepositID: row.DepositID, Name: row.Name, Type: evidence.Type(row.MediaType), Size: row.Size,
		SentAt: row.SentAt, AddedAt: row.AddedAt, AddedBy: actor.Parse(row.AddedBy),
	}
}
