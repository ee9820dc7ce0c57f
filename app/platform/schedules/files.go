package schedules

import (
	"context"
	"time"

	"partnerdeposits/core/evidence"
	"partnerdeposits/ports"
)

const (
	filesBatch = 100
	filesGrace = 10 * time.Minute // clocks of processes differ: a form that is being confirmed keeps its files
)

// waitingFiles removes files whose forms were not confirmed in time. The content goes first: a removal that is cut off finds the rest by
// the records.
func (m Maintenance) waitingFiles(ctx context.Context) (bool, error) {
	ids, err := m.Files.Abandoned(ctx, m.Clock.Now().Add(-evidence.WaitsFor-filesGrace), filesBatch)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	if err := m.Contents.Delete(ctx, ids); err != nil {
		return false, err
	}
	_, err = m.within(ctx, func(ctx context.Context, repos ports.Repositories) (int, error) {
		return len(ids), repos.Files.Forget(ctx, ids)
	})
	return len(ids) == filesBatch && err == nil, err
}
