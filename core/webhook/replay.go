package webhook

import (
	"slices"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// ErrReplayRange is the fault for a replay whose time range is empty.
var ErrReplayRange = fault.New(fault.Invalid, "invalid_date_range", "to: must be after from.")

// MaxUnfinishedReplays is the largest number of unfinished replays of a subscription.
const MaxUnfinishedReplays = 8

// ErrReplayLimit is the fault for a replay beyond MaxUnfinishedReplays.
var ErrReplayLimit = fault.New(fault.Conflict, "replay_limit_reached",
	"A webhook can have 8 unfinished replays at most. Wait until one is finished.")

// ErrReplayNotFound is the fault for an unknown replay, and for a replay that ended more than 30 days ago.
var ErrReplayNotFound = fault.New(fault.NotFound, "replay_not_found", "There is no such replay.")

// DeliveryStatuses lists every status of a delivery record.
var DeliveryStatuses = []DeliveryStatus{StatusPending, StatusRetrying, StatusSucceeded, StatusFailed}

// The pace of all replays of a partner together: ReplayRedeliveriesPerSecond redeliveries a second. A replay that is
// late catches up by at most replayStep.
const (
	ReplayRedeliveriesPerSecond = 50
	replayStep                  = time.Second
	// ReplayBacklogSampleSize is the number of a subscription's newest deliveries among which a replay counts the
	// redeliveries that still wait for their first attempt.
	ReplayBacklogSampleSize = 4 * ReplayRedeliveriesPerSecond
	// MaxReplayStepReads is the largest number of deliveries that a step of a replay, or a count, reads. A replay of
	// failed deliveries reads only failed ones; any other reads deliveries of every status.
	MaxReplayStepReads = 10_000
)

// Replay repeats the deliveries of a subscription that were created in a range of time, oldest first. Each original
// delivery that has Status when the replay reaches it becomes a redelivery. Redeliveries, test deliveries and
// deliveries created after CreatedAt are skipped, so overlapping replays send each event once.
//
// A replay advances by a step each second. The redeliveries of a step and the new cursor commit together. Replays
// of a subscription run one after another. Those of a partner's subscriptions take turns, at the pace of
// ReplayRedeliveriesPerSecond together.
type Replay struct {
	ID             id.ID
	SubscriptionID id.ID
	From           time.Time // The start of the replay's time range, included.
	To             time.Time // The end of the replay's time range, excluded.
	Status         DeliveryStatus
	PerSecond      int
	// The number of deliveries in the replay's range at its creation, among the oldest MaxReplayStepReads.
	Matched int
	// The number of redeliveries that the replay has made. In the end it differs from Matched if deliveries changed
	// their status meanwhile.
	Redelivered int
	Cursor      id.ID // The last delivery that a step of the replay reached; zero: none yet.
	CreatedAt   time.Time
	NextAt      time.Time // The earliest time of this replay's next step.
	FinishedAt  time.Time // When the replay finished; zero: it is not finished.
	PacedUntil  time.Time // The earliest time of the next step of any replay of the partner; zero: there was none.
}

// NewReplay returns a replay for a valid request. status "" means StatusFailed.
//
// Returns invalid_field for an unknown status and ErrReplayRange if from is not before to.
func NewReplay(replayID, subscriptionID id.ID, from, to time.Time, status DeliveryStatus, now time.Time) (Replay,
	error) {
	if status == "" {
		status = StatusFailed
	}
	if !slices.Contains(DeliveryStatuses, status) {
		return Replay{}, fault.ErrInvalidField.WithField("status", "must be one of %v", DeliveryStatuses)
	}
	if !from.Before(to) {
		return Replay{}, ErrReplayRange
	}
	return Replay{
		ID: replayID, SubscriptionID: subscriptionID, From: sinceEpoch(from), To: sinceEpoch(to), Status: status,
		PerSecond: ReplayRedeliveriesPerSecond, CreatedAt: now, NextAt: now,
	}, nil
}

// sinceEpoch returns a time, or 1970 for an earlier one, since the time in ids begins in 1970.
func sinceEpoch(t time.Time) time.Time {
	if epoch := time.Unix(0, 0).UTC(); t.Before(epoch) {
		return epoch
	}
	return t
}

// RangeEnd returns the end of the range of deliveries to repeat: To, or CreatedAt if that is earlier.
func (r Replay) RangeEnd() time.Time {
	if r.To.Before(r.CreatedAt) {
		return r.To
	}
	return r.CreatedAt
}

// StepSize returns the largest number of deliveries in one step of the replay.
func (r Replay) StepSize() int { return r.PerSecond * int(replayStep/time.Second) }

// MustPause reports whether the replay must pause, since at least one step's number of redeliveries still waits
// for a first attempt. Otherwise the redeliveries of a slow endpoint would pile up, and be sent at once when it
// recovers.
func (r Replay) MustPause(waiting int) bool { return waiting >= r.StepSize() }

// Postponed returns the replay with its next step due at least replayStep after now.
func (r Replay) Postponed(now time.Time) Replay {
	if next := now.Add(replayStep); r.NextAt.Before(next) {
		r.NextAt = next
	}
	return r
}

// AdvancedByStep returns the replay after a step at now. found holds the deliveries of the step, oldest first; made is
// the number of redeliveries, which decides when the next step of any of the partner's replays is due. A step with
// fewer than Step deliveries is the last. After a late step the next one comes sooner, by at most replayStep.
func (r Replay) AdvancedByStep(found []id.ID, made int, now time.Time) Replay {
	r.Redelivered += made
	if len(found) > 0 {
		r.Cursor = found[len(found)-1]
	}
	if len(found) < r.StepSize() {
		r.FinishedAt = now
	}
	for _, due := range []time.Time{r.PacedUntil, now.Add(-replayStep)} {
		if r.NextAt.Before(due) {
			r.NextAt = due
		}
	}
	r.NextAt = r.NextAt.Add(time.Duration(made) * time.Second / time.Duration(r.PerSecond))
	r.PacedUntil = r.NextAt
	return r
}

// AdvancedToReadLimit returns the replay after a step that ended because it had read MaxReplayStepReads deliveries.
// upTo is the last delivery read; the next step begins after it, and no replay of the partner makes a step before
// replayStep has passed.
func (r Replay) AdvancedToReadLimit(upTo id.ID, now time.Time) Replay {
	r = r.Postponed(now)
	r.Cursor, r.FinishedAt, r.PacedUntil = upTo, time.Time{}, r.NextAt
	return r
}
