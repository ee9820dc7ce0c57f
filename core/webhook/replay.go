package webhook

import (
	"slices"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// ErrReplayRange is the fault of a replay whose range is empty.
var ErrReplayRange = fault.New(fault.Invalid, "invalid_date_range", "to: must be after from.")

// MaxReplays is the number of replays of a subscription that its partner may have unfinished.
const MaxReplays = 8

// ErrReplayLimit is the fault of one replay too many.
var ErrReplayLimit = fault.New(fault.Conflict, "replay_limit_reached",
	"A webhook can have 8 unfinished replays at most. Wait until one is finished.")

// ErrReplayNotFound is the fault for an unknown replay, and for a replay that ended more than 30 days ago.
var ErrReplayNotFound = fault.New(fault.NotFound, "replay_not_found", "There is no such replay.")

// Statuses lists the statuses of a delivery record.
var Statuses = []Status{StatusPending, StatusRetrying, StatusSucceeded, StatusFailed}

// The pace of all replays of a partner together: ReplayPerSecond redeliveries a second. A replay that is late makes up
// for at most replayStep.
const (
	ReplayPerSecond = 50
	replayStep      = time.Second
	// ReplayLooks is the number of newest deliveries of the subscription among which a step counts the redeliveries that
	// have had no attempt.
	ReplayLooks = 4 * ReplayPerSecond
	// ReplayReads is the most deliveries that a step or a count reads. A replay of failed deliveries reads failed ones
	// alone; any other reads deliveries of every status.
	ReplayReads = 10_000
)

// Replay repeats the deliveries of a subscription that were created in a range of time, oldest first. Each original
// delivery that has Status when the replay reaches the delivery becomes a new redelivery. A replay leaves out
// redeliveries and tests, so overlapping replays send an event once each. A replay also leaves out deliveries that were
// created after CreatedAt.
//
// A replay advances by a step each second. The redeliveries of a step and the new cursor commit together. Replays of a
// subscription run one after another. Those of a partner's subscriptions take turns, and each step waits until the pace
// allows it after the step before.
type Replay struct {
	ID             id.ID
	SubscriptionID id.ID
	From           time.Time // start of the range, included
	To             time.Time // end of the range, not included
	Status         Status
	PerSecond      int
	Matched        int   // number of deliveries in the range at creation, among the oldest ReplayReads
	Redelivered    int   // redeliveries so far; differs from Matched in the end if deliveries changed their status
	Cursor         id.ID // the last delivery that a step reached; zero: none yet
	CreatedAt      time.Time
	NextAt         time.Time // earliest time of the next step
	FinishedAt     time.Time // zero: not finished
	PacedUntil     time.Time // earliest time of the next step of any replay of the partner; zero: there was none
}

// NewReplay checks a request for a replay. status "" means StatusFailed.
//
// Returns invalid_field for an unknown status and ErrReplayRange if from is not before to.
func NewReplay(replayID, subscriptionID id.ID, from, to time.Time, status Status, now time.Time) (Replay, error) {
	if status == "" {
		status = StatusFailed
	}
	if !slices.Contains(Statuses, status) {
		return Replay{}, fault.ErrInvalidField.WithField("status", "must be one of %v", Statuses)
	}
	if !from.Before(to) {
		return Replay{}, ErrReplayRange
	}
	return Replay{
		ID: replayID, SubscriptionID: subscriptionID, From: sinceEpoch(from), To: sinceEpoch(to), Status: status,
		PerSecond: ReplayPerSecond, CreatedAt: now, NextAt: now,
	}, nil
}

// sinceEpoch replaces a time before 1970 by 1970, where the time in ids begins.
func sinceEpoch(t time.Time) time.Time {
	if epoch := time.Unix(0, 0).UTC(); t.Before(epoch) {
		return epoch
	}
	return t
}

// Until is the end of the deliveries to repeat: To, or CreatedAt if that is earlier.
func (r Replay) Until() time.Time {
	if r.To.Before(r.CreatedAt) {
		return r.To
	}
	return r.CreatedAt
}

// Step is the largest number of deliveries of a step.
func (r Replay) Step() int { return r.PerSecond * int(replayStep/time.Second) }

// Behind says whether the replay makes no redeliveries yet, since a step or more of its subscription's redeliveries,
// waiting, have had no attempt. Otherwise a slow endpoint's redeliveries would gather, and all be sent at once when the
// endpoint is quick again.
func (r Replay) Behind(waiting int) bool { return waiting >= r.Step() }

// Later gives the replay whose next step is due replayStep after now at the earliest.
func (r Replay) Later(now time.Time) Replay {
	if next := now.Add(replayStep); r.NextAt.Before(next) {
		r.NextAt = next
	}
	return r
}

// After gives the replay after a step at now. found are the deliveries of the step, oldest first; made is the number of
// redeliveries, for which the next step of any replay of the partner waits. A step that finds fewer than Step
// deliveries is the last step. After a late step the next step comes sooner, by at most replayStep.
func (r Replay) After(found []id.ID, made int, now time.Time) Replay {
	r.Redelivered += made
	if len(found) > 0 {
		r.Cursor = found[len(found)-1]
	}
	if len(found) < r.Step() {
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

// Unread gives the replay after a step that ended because it had read ReplayReads deliveries. upTo is the last delivery
// that the step read, and the next step begins behind it. No replay of the partner makes a step before replayStep is
// over.
func (r Replay) Unread(upTo id.ID, now time.Time) Replay {
	r = r.Later(now)
	r.Cursor, r.FinishedAt, r.PacedUntil = upTo, time.Time{}, r.NextAt
	return r
}
