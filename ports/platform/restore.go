package platform

import (
	"context"
	"time"

	"partnerdeposits/core/id"
)

// RestoreEpoch is the id of a restore epoch: a stretch of the database's history that no restore from a backup
// interrupts. The zero value: the epoch is unknown.
type RestoreEpoch [16]byte

// DatabaseRestoreStore completes the restores of the database from a backup.
type DatabaseRestoreStore interface {
	// BeginEpoch completes a restore of the database from a backup: from the time at, the database has the new id
	// epoch, by which caches notice the restore.
	BeginEpoch(ctx context.Context, epoch id.ID, at time.Time) error
}
