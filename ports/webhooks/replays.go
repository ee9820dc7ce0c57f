package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Redelivery names a delivery to send again, Of, and the id of the redelivery to make, As. CreatedAt of the
// redelivery is the time in As.
type Redelivery struct{ Of, As id.ID }

// ReplayStore stores replays, which make redeliveries for a time range.
type ReplayStore interface {
	// Insert stores a new replay, unless its subscription has as many unfinished ones as most. Returns
	// webhook.ErrReplayLimit; concurrent inserts cannot exceed the limit.
	Insert(ctx context.Context, r webhook.Replay, most int) error
	// LockNext returns a replay that may make a step at now, and locks it and its partner; ok: false for none.
	// Partners that another dispatcher has locked are skipped.
	LockNext(ctx context.Context, now time.Time) (r webhook.Replay, ok bool, err error)
	// FindMatching lists up to limit deliveries that a replay has yet to send again, oldest first; none if the
	// subscription is deleted.
	FindMatching(ctx context.Context, r webhook.Replay, limit int) (found []id.ID, upTo id.ID, err error)
	CountWaitingRedeliveries(ctx context.Context, subscriptionID id.ID) (int, error)
	// Update stores the progress of a replay, and until when the partner's replays pause, unless another
	// dispatcher has stored progress since before was read.
	Update(ctx context.Context, before, after webhook.Replay) error
	DeleteFinished(ctx context.Context, at time.Time, limit int) (int, error)
	// Replay returns the replay with an id, or webhook.ErrReplayNotFound.
	Replay(ctx context.Context, replayID id.ID) (webhook.Replay, error)
	CountUnfinished(ctx context.Context, subscriptionID id.ID) (int, error)
	// CountMatching counts the deliveries that match the replay at present, among the oldest webhook.MaxReplayStepReads.
	CountMatching(ctx context.Context, r webhook.Replay) (int, error)
}
