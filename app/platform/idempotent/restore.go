package idempotent

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

type DatabaseRestoreFinisherDeps struct {
	UnitOfWork ports.UnitOfWork
	Restores   ports.DatabaseRestoreStore
	Audit      ports.AuditLog
	Clock      ports.Clock
	Entropy    ports.Entropy
}

type DatabaseRestoreFinisher struct{ deps DatabaseRestoreFinisherDeps }

func NewDatabaseRestoreFinisher(deps DatabaseRestoreFinisherDeps) *DatabaseRestoreFinisher {
	return &DatabaseRestoreFinisher{deps: deps}
}

// Finish stores a new restore epoch, which makes the responses in Redis from before a restore void within seconds.
// Without a restore it does no harm.
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
