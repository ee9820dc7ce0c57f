package webhook

import (
	"slices"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// ErrReplayRange refuses a replay of no time at all.
var ErrReplayRange = fault.New(fault.Invalid, "invalid_date_range", "to: must be after from.")

// Statuses lists the statuses of a delivery record.
var Statuses = []Status{StatusPending, StatusRetrying, StatusSucceeded, StatusFailed}

// Pace of a replay: so many redeliveries a second, and no more than this is made up for after a pause.
const (
	ReplayPerSecond = 50
	replayStep      = time.Second
)

// Replay repeats what was sent to a subscription in a span of time: each original delivery of that span which stands at
// Status when its turn comes, the oldest first, as a redelivery of its own. Redeliveries and tests are not repeated, so
// that a replay sends each event once, however often replays cover it. What was made after CreatedAt is no part of it.
//
// A replay advances in steps of one second, each one transaction: the redeliveries and the cursor commit together.
type Replay struct {
	ID             id.ID
	SubscriptionID id.ID
	From           time.Time // deliveries created from here on …
	To             time.Time // … and before this
	Status         Status
	PerSecond      int
	Matched        int   // when it was asked for
	Made           int   // redeliveries so far; Matched and this differ where deliveries changed their status meanwhile
	Cursor         id.ID // the last delivery that was repeated; zero: none yet
	CreatedAt      time.Time
	NextAt         time.Time // when the next step may be made
	FinishedAt     time.Time // zero: under way
}

// NewReplay checks what is asked for. status "" is StatusFailed.
//
// Returns invalid_date_range or invalid_field.
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

// sinceEpoch moves what was before 1970, where the time in ids begins and nothing was sent, to there.
func sinceEpoch(t time.Time) time.Time {
	if epoch := time.Unix(0, 0).UTC(); t.Before(epoch) {
		return epoch
	}
	return t
}

// Until is where the replay ends: To, or its own beginning.
func (r Replay) Until() time.Time {
	if r.To.Before(r.CreatedAt) {
		return r.To
	}
	return r.CreatedAt
}

// Step is how many deliveries one step repeats at most.
func (r Replay) Step() int { return r.PerSecond * int(replayStep/time.Second) }

// After gives the replay after a step at now, which found these deliveries, the oldest first, and made so many
// redeliveries of them. Fewer than a step holds are the last ones. A step that comes late is followed by the next one
// sooner, but a pause is not caught up with.
func (r Replay) After(found []id.ID, made int, now time.Time) Replay {
	r.Made += made
	if len(found) > 0 {
		r.Cursor = found[len(found)-1]
	}
	if len(found) < r.Step() {
		r.FinishedAt = now
	}
	if late := now.Add(-replayStep); r.NextAt.Before(late) {
		r.NextAt = late
	}
	r.NextAt = r.NextAt.Add(replayStep)
	return r
}
