package idempotent

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// DatabaseRestoreFinisherDeps holds what DatabaseRestoreFinisher needs: its repositories, the clock and the source of
// ids.
type DatabaseRestoreFinisherDeps struct {
	UnitOfWork ports.UnitOfWork
	Restores   ports.DatabaseRestoreStore
	Audit      ports.AuditLog
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// DatabaseRestoreFinisher finishes the restore of a database from a backup.
type DatabaseRestoreFinisher struct{ deps DatabaseRestoreFinisherDeps }

func NewDatabaseRestoreFinisher(deps DatabaseRestoreFinisherDeps) *DatabaseRestoreFinisher {
	return &DatabaseRestoreFinisher{deps: deps}
}

// Finish stores a new restore epoch (an id that every cached response carries) and returns it. The responses that
// Redis cached before the restore thereby become void, and every process notices within seconds. Without a
// restore Finish does no harm: requests are then answered from Postgres.
func (r *DatabaseRestoreFinisher) Finish(ctx context.Context) (epoch id.ID, err error) {
	epoch = r.deps.Entropy.NewID()
	now := r.deps.Clock.Now()
	err = r.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := r.deps.Restores.BeginEpoch(ctx, epoch, now); err != nil {
			return err
		}
		detail := map[string]string{"epoch": epoch.String()}
		entry := audit.NewEntry(r.deps.Entropy, now, actor.Staff, audit.RestoreFinish, "database", detail)
		return r.deps.Audit.Append(ctx, entry)
	})
	return epoch, err
}
