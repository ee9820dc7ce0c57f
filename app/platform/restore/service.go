// Package restore ends the restore of a database from a backup.
package restore

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// Deps holds the capabilities of the use case.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Restores   ports.Restores
	Audit      ports.AuditLog
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service runs the use case.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// Finish begins a new restore epoch and returns the id of the epoch. The answers that Redis caches from before are
// void, and every process notices within seconds. An epoch may end without a restore: requests are then answered from
// Postgres.
func (s *Service) Finish(ctx context.Context) (epoch id.ID, err error) {
	epoch = s.deps.Entropy.NewID()
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := s.deps.Restores.Finish(ctx, epoch, now); err != nil {
			return err
		}
		detail := map[string]string{"epoch": epoch.String()}
		entry := audit.Entry(s.deps.Entropy, now, actor.Staff, audit.RestoreFinish, "database", detail)
		return s.deps.Audit.Append(ctx, entry)
	})
	return epoch, err
}
