package platform

import (
	"context"
	"time"

	"partnerdeposits/core/id"
)

// Epoch names a stretch of the database's history that no restore from a backup interrupts. The zero value: unknown.
type Epoch [16]byte

// Restores ends restores from a backup.
type Restores interface {
	// Finish begins the restore epoch with that id.
	Finish(ctx context.Context, epoch id.ID, at time.Time) error
}
