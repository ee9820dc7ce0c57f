package idempotent

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// RestoreDeps holds the capabilities of Restore.
type RestoreDeps struct {
	UnitOfWork ports.UnitOfWork
	Restores   ports.Restores
	Audit      ports.AuditLog
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Restore ends the restore of a database from a backup.
type Restore struct{ deps RestoreDeps }

// NewRestore makes the use case.
func NewRestore(deps RestoreDeps) *Restore { return &Restore{deps: deps} }

// Finish begins a new restore epoch and returns the id of the epoch. The answers that Redis caches from before are
// void, and every process notices within seconds. An epoch may end without a restore: requests are then answered from
// Postgres.
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
