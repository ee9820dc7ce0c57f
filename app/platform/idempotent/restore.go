package idempotent

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// RestoreDeps holds what Restore needs.
type RestoreDeps struct {
	UnitOfWork ports.UnitOfWork
	Restores   ports.Restores
	Audit      ports.AuditLog
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Restore finishes the restore of a database from a backup.
type Restore struct{ deps RestoreDeps }

func NewRestore(deps RestoreDeps) *Restore { return &Restore{deps: deps} }

// Finish begins a new restore epoch and returns its id. The responses that Redis caches from before become
// void, and every process notices within seconds. Without a restore this does no harm: requests are then
// answered from Postgres.
func (r *Restore) Finish(ctx context.Context) (epoch id.ID, err error) {
	epoch = r.deps.Entropy.NewID()
	now := r.deps.Clock.Now()
	err = r.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := r.deps.Restores.Finish(ctx, epoch, now); err != nil {
			return err
		}
		detail := map[string]string{"epoch": epoch.String()}
		entry := audit.Entry(r.deps.Entropy, now, actor.Staff, audit.RestoreFinish, "database", detail)
		return r.deps.Audit.Append(ctx, entry)
	})
	return epoch, err
}
