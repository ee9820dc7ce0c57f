package deposit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

var operator = actor.Operator(id.ID{1})

func TestEnds_AreTheTriggersThatLeadToFailed(t *testing.T) {
	var byOperator []deposit.CollectionTrigger
	for _, trigger := range deposit.CollectionTriggers {
		to, err := deposit.CollectionAwaitingTenant.Next(trigger)
		require.Equal(t, err == nil && to == deposit.CollectionFailed, trigger.EndsUnpaid(), trigger)
		if trigger.EndedByOperator() {
			byOperator = append(byOperator, trigger)
		}
	}
	require.Equal(t, []deposit.CollectionTrigger{deposit.CollectionTriggerSettledElsewhere,
		deposit.CollectionTriggerWithdrawn},
		byOperator)
}

func TestPayable_OnlyWhileTheDebtIsWithTheTenant(t *testing.T) {
	for name, c := range map[string]struct {
		debt deposit.Debt
		want bool
	}{
		"with the tenant": {deposit.Debt{State: deposit.CollectionAwaitingTenant, CapturedAt: start}, true},
		"with the card":   {deposit.Debt{State: deposit.CollectionRetrying, CapturedAt: start}, false},
		"paid":            {deposit.Debt{State: deposit.CollectionPaid, CapturedAt: start}, false},
		"being cancelled": {deposit.Debt{State: deposit.CollectionAwaitingTenant, CapturedAt: start, CancelAt: start}, false},
		"too old": {
			deposit.Debt{State: deposit.CollectionAwaitingTenant, CapturedAt: start.Add(-deposit.DebtExpiresAfter)}, false,
		},
	} {
		require.Equal(t, c.want, c.debt.Payable(start), name)
	}
}

func TestAskEnd_OnceAndWhileTheCollectionRuns(t *testing.T) {
	for _, state := range deposit.CollectionStates {
		d := deposit.Debt{State: state, CapturedAt: start}
		before := d
		err := d.RequestEnd(deposit.CollectionTriggerSettledElsewhere, operator, start)
		if state.Final() {
			require.ErrorIs(t, err, deposit.ErrCollectionOver)
			require.ErrorContains(t, err, "The collection is "+string(state)+".")
			require.Equal(t, before, d)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, state, d.State, "the provider is told first")
		require.Equal(t, []any{start, operator, deposit.CollectionTriggerSettledElsewhere}, []any{d.CancelAt, d.CancelBy,
			d.CancelAs})
		asked := d
		require.ErrorIs(t, d.RequestEnd(deposit.CollectionTriggerWithdrawn, operator, start.Add(1)),
			deposit.ErrCollectionEnding)
		require.Equal(t, asked, d)
	}
	staff := deposit.Debt{State: deposit.CollectionAwaitingTenant, CancelAt: start, CancelBy: actor.Staff}
	require.ErrorIs(t, staff.RequestEnd(deposit.CollectionTriggerWithdrawn, operator, start), deposit.ErrCollectionEnding)
}

func TestFail_ByTheOperator_HasItsFailure(t *testing.T) {
	untried := deposit.Debt{State: deposit.CollectionScheduled}
	step, err := untried.MarkFailed(deposit.CollectionTriggerTooSmall, actor.Clock, start)
	require.NoError(t, err)
	require.Empty(t, step.Detail, "no attempt, no refusal")
	require.True(t, untried.Answered)
	before := untried
	_, err = untried.MarkFailed(deposit.CollectionTriggerCancelled, actor.Clock, start)
	require.ErrorIs(t, err, deposit.ErrCollectionOver)
	require.Equal(t, before, untried)
	for _, as := range []deposit.CollectionTrigger{deposit.CollectionTriggerSettledElsewhere,
		deposit.CollectionTriggerWithdrawn} {
		d := deposit.Debt{State: deposit.CollectionAwaitingTenant, CapturedAt: start, Answered: true, Failure: "lost_card",
			Attempt: 1}
		step, err := d.MarkFailed(as, operator, start)
		require.NoError(t, err)
		require.Equal(t, []any{deposit.CollectionFailed, string(as), start}, []any{d.State, d.Failure, d.EndedAt})
		require.Equal(t, []any{as, operator, map[string]string{"attempt": "1", "failure": "lost_card"}},
			[]any{step.Trigger, step.Actor, step.Detail})
	}
}

func TestRemind_OnceIn24Hours_OfADebtThatWaitsForTheTenant(t *testing.T) {
	awaited := deposit.Debt{State: deposit.CollectionAwaitingTenant, CapturedAt: start}
	for name, c := range map[string]struct {
		change func(*deposit.Debt)
		want   error
	}{
		"nobody was mailed":   {func(*deposit.Debt) {}, nil},
		"mailed a moment ago": {func(d *deposit.Debt) { d.AskedAt = start.Add(-time.Second) }, deposit.ErrRemindedRecently},
		"mailed almost a day": {func(d *deposit.Debt) { d.AskedAt = start.Add(1 - day) }, deposit.ErrRemindedRecently},
		"mailed a day ago":    {func(d *deposit.Debt) { d.AskedAt = start.Add(-day) }, nil},
		"the card is charged": {
			func(d *deposit.Debt) { d.State = deposit.CollectionRetrying }, deposit.ErrCollectionNotPayable,
		},
		"older than 180 days": {
			func(d *deposit.Debt) { d.CapturedAt = start.Add(-deposit.DebtExpiresAfter) }, deposit.ErrCollectionNotPayable,
		},
		"the end was asked for": {func(d *deposit.Debt) { d.CancelAt = start }, deposit.ErrCollectionEnding},
		"paid":                  {func(d *deposit.Debt) { d.State = deposit.CollectionPaid }, deposit.ErrCollectionOver},
		"failed":                {func(d *deposit.Debt) { d.State = deposit.CollectionFailed }, deposit.ErrCollectionOver},
	} {
		d := awaited
		c.change(&d)
		before := d
		err := d.RecordReminder(start)
		require.ErrorIs(t, err, c.want, name)
		if err != nil {
			require.Equal(t, before, d, name)
			continue
		}
		require.Equal(t, start, d.AskedAt, name)
		require.ErrorIs(t, d.RecordReminder(start), deposit.ErrRemindedRecently, name)
		require.ErrorContains(t, d.RecordReminder(start), deposit.FormatTimestamp(start.Add(day)),
			"when it can be sent again")
		require.Equal(t, start.Add(day), d.RemindableAt())
	}
}

func TestRefuse_ThatLeavesTheDebtToTheTenant_CountsAsAMail(t *testing.T) {
	for passes, want := range map[bool]time.Time{true: {}, false: start} {
		d := deposit.Debt{State: deposit.CollectionScheduled, CapturedAt: start, Attempt: 1}
		_, err := d.RecordRefusal(deposit.ChargeRefusal{Failure: "x", Passes: passes}, deposit.DefaultCollectionSchedule(),
			actor.Clock,
			start)
		require.NoError(t, err)
		require.Equal(t, want, d.AskedAt)
	}
}
