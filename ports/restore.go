package ports

import (
	"context"
	"time"

	"partnerdeposits/core/id"
)

// Epoch names a stretch of the database's history that no restore from a backup interrupts. The zero value: unknown.
type Epoch [16]byte

// RestoreRepository ends restores from a backup.
type RestoreRepository interface {
	// Finish begins the restore epoch with that id.
	Finish(ctx context.Context, epoch id.ID, at time.Time) error
}
