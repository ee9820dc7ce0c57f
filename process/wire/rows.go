package wire

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"partnerdeposits/core/id"
)

// Limits of log lines about unreadable database rows, which every request for a list may read again.
const (
	rowToldEvery = time.Minute
	rowsKept     = 1000
)

// oddRows counts unreadable database rows, and logs each at most once a minute.
type oddRows struct {
	log   *slog.Logger
	count func(table string)

	mu   sync.Mutex
	told map[id.ID]time.Time
}

func (r *oddRows) met(ctx context.Context, table string, rowID id.ID, err error) {
	r.count(table)
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, known := r.told[rowID]; known && time.Since(last) < rowToldEvery {
		return
	}
	if r.told == nil || len(r.told) >= rowsKept {
		r.told = map[id.ID]time.Time{}
	}
	r.told[rowID] = time.Now()
	r.log.ErrorContext(ctx, "a row cannot be read and is passed over", "table", table, "row", rowID.String(), "error", err)
}
