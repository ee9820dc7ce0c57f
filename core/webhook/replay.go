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

// ErrReplayNotFound is the fault for a replay that is unknown or ended more than 30 days ago.
var ErrReplayNotFound = fault.New(fault.NotFound, "replay_not_found", "There is no such replay.")

// DeliveryStatuses lists every status of a delivery record.
var DeliveryStatuses = []DeliveryStatus{StatusPending, StatusRetrying, StatusSucceeded, StatusFailed}

// The pace of all replays of a partner together. A late replay catches up by at most replayStep.
const (
	ReplayRedeliveriesPerSecond = 50
	replayStep                  = time.Second
	// ReplayBacklogSampleSize is the number of a subscription's newest deliveries among which a replay counts waiting
	// redeliveries.
	ReplayBacklogSampleSize = 4 * ReplayRedeliveriesPerSecond
	// MaxReplayStepReads is the largest number of deliveries that a step of a replay, or a count, reads.
	MaxReplayStepReads = 10_000
)

// Replay repeats a subscription's deliveries that were created in a range of time and have Status, oldest first.
// Redeliveries, test deliveries and those created after CreatedAt are skipped, so overlapping replays send each
// event once.
//
// The redeliveries of a step and the new cursor commit together. Replays of a subscription run one after another;
// those of a partner take turns.
type Replay struct {
	ID             id.ID
	SubscriptionID id.ID
	From           time.Time
	To             time.Time
	Status         DeliveryStatus
	PerSecond      int
	// The number of deliveries in the replay's range at its creation, among the oldest MaxReplayStepReads.
	Matched int
	// The number of redeliveries made. It may differ from Matched, as deliveries change their status.
	Redelivered int
	Cursor      id.ID // The last delivery that a step of the replay reached; zero: none yet.
	CreatedAt   time.Time
	NextAt      time.Time
	FinishedAt  time.Time // When the replay finished; zero: not yet.
	PacedUntil  time.Time // The earliest next step of any replay of the partner; zero: there was none.
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

// sinceEpoch returns a time, or 1970 for an earlier one: the time in ids begins then.
func sinceEpoch(t time.Time) time.Time {
	if epoch := time.Unix(0, 0).UTC(); t.Before(epoch) {
		return epoch
	}
	return t
}

// RangeEnd returns the end of the range to repeat: To, or CreatedAt if earlier.
func (r Replay) RangeEnd() time.Time {
	if r.To.Before(r.CreatedAt) {
		return r.To
	}
	return r.CreatedAt
}

// StepSize returns the largest number of deliveries in one step of the replay.
func (r Replay) StepSize() int { return r.PerSecond * int(replayStep/time.Second) }

// MustPause reports whether so many redeliveries wait for a first attempt that the replay must pause, so as not to
// pile up.
func (r Replay) MustPause(waiting int) bool { return waiting >= r.StepSize() }

// Postponed returns the replay with its next step at least replayStep after now.
func (r Replay) Postponed(now time.Time) Replay {
	if next := now.Add(replayStep); r.NextAt.Before(next) {
		r.NextAt = next
	}
	return r
}

// AdvancedByStep returns the replay after a step that found the deliveries, oldest first, and made that many
// redeliveries. A step that is not full is the last. After a late step the next comes sooner, by at most
// replayStep.
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

// AdvancedToReadLimit returns the replay after a step that read MaxReplayStepReads deliveries, up to upTo.
func (r Replay) AdvancedToReadLimit(upTo id.ID, now time.Time) Replay {
	r = r.Postponed(now)
	r.Cursor, r.FinishedAt, r.PacedUntil = upTo, time.Time{}, r.NextAt
	return r
}
