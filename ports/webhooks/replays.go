package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// Redelivery names a delivery, Of, and the id of the redelivery to make, As. CreatedAt of the redelivery is the time in
// As.
type Redelivery struct{ Of, As id.ID }

// Replays writes replays.
type Replays interface {
	// Insert adds a new replay, unless its subscription has most unfinished ones. Returns webhook.ErrReplayLimit, which
	// concurrent inserts cannot evade.
	Insert(ctx context.Context, r webhook.Replay, most int) error
	// Next gives a replay that may make a step at now, and locks it and its partner; ok is false if there is none. Next
	// passes over partners that another dispatcher has locked. A subscription's oldest replay comes first, and none while
	// the subscription is disabled. The subscriptions of a partner take turns, at the partner's pace.
	Next(ctx context.Context, now time.Time) (r webhook.Replay, ok bool, err error)
	// Matching lists up to limit deliveries after the replay's cursor that match the replay, oldest first; none if the
	// subscription is deleted. upTo is the last delivery that was read where webhook.ReplayReads were read and fewer
	// match; zero otherwise.
	Matching(ctx context.Context, r webhook.Replay, limit int) (found []id.ID, upTo id.ID, err error)
	// WaitingRedeliveries counts the redeliveries of a subscription without an attempt among its newest
	// webhook.ReplayLooks deliveries.
	WaitingRedeliveries(ctx context.Context, subscriptionID id.ID) (int, error)
	// Update stores the progress of a replay, and how long the partner's replays are paced, unless another dispatcher has
	// stored progress since before was read.
	Update(ctx context.Context, before, after webhook.Replay) error
	// DeleteFinished removes up to limit finished replays that were created before at, and returns the number.
	DeleteFinished(ctx context.Context, at time.Time, limit int) (int, error)
	// Replay returns webhook.ErrReplayNotFound.
	Replay(ctx context.Context, replayID id.ID) (webhook.Replay, error)
	// Unfinished counts the replays of a subscription that are not finished.
	Unfinished(ctx context.Context, subscriptionID id.ID) (int, error)
	// CountMatching counts the deliveries that match the replay at present, among the oldest webhook.ReplayReads.
	CountMatching(ctx context.Context, r webhook.Replay) (int, error)
}
