package partners

import (
	"context"
	"sync"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/partners/internal/sqlc"
	"partnerdeposits/core/id"
)

const (
	keyUsePrecision = time.Minute // The least time between two writes of the last-used time of an API key.
	// The time for which uses of API keys are collected before they are written.
	keyUseDelay = time.Second
	// The most uses of API keys that wait to be written. Further uses are dropped.
	maxKeyUses    = 10_000
	keyUseTimeout = 2 * time.Second
)

// keyUses collects last-used times of API keys and writes them together.
type keyUses struct {
	write    func(context.Context, map[id.ID]time.Time)
	mu       sync.Mutex
	recorded map[id.ID]time.Time // For each API key, its last use that was written or waits to be written.
	waiting  map[id.ID]time.Time
	timer    *time.Timer
	writing  sync.WaitGroup
	closed   bool
}

func newKeyUses(write func(context.Context, map[id.ID]time.Time)) *keyUses {
	return &keyUses{write: write, recorded: map[id.ID]time.Time{}, waiting: map[id.ID]time.Time{}}
}

func (t *keyUses) add(keyID id.ID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || at.Sub(t.recorded[keyID]) < keyUsePrecision || len(t.waiting) >= maxKeyUses {
		return
	}
	if len(t.recorded) >= maxKeys {
		clear(t.recorded)
	}
	t.recorded[keyID], t.waiting[keyID] = at, at
	if t.timer == nil {
		t.writing.Add(1)
		t.timer = time.AfterFunc(keyUseDelay, func() {
			defer t.writing.Done()
			t.flush(context.Background())
		})
	}
}

func (t *keyUses) flush(ctx context.Context) {
	t.mu.Lock()
	used := t.waiting
	t.waiting, t.timer = map[id.ID]time.Time{}, nil
	t.mu.Unlock()
	if len(used) > 0 {
		t.write(ctx, used)
	}
}

// close writes the waiting uses of API keys, and waits for a running write.
func (t *keyUses) close(ctx context.Context) {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil && t.timer.Stop() {
		t.writing.Done()
	}
	t.mu.Unlock()
	t.flush(ctx)
	t.writing.Wait()
}

func writingKeyUses(db pg.DB) func(context.Context, map[id.ID]time.Time) {
	return func(ctx context.Context, used map[id.ID]time.Time) {
		ctx, cancel := context.WithTimeout(ctx, keyUseTimeout)
		defer cancel()
		ids, times := make([]id.ID, 0, len(used)), make([]time.Time, 0, len(used))
		for keyID, at := range used {
			ids, times = append(ids, keyID), append(times, at)
		}
		// The error is ignored: a recorded use of an API key may be lost (partnerports.Keys).
		_ = sqlc.New().RecordKeyUses(ctx, db, ids, times)
	}
}
