package deposit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
)

func TestRetry_OfADebt_WhileTheCardMayBeCharged(t *testing.T) {
	for name, c := range map[string]struct {
		debt    deposit.Debt
		after   time.Duration
		want    error
		message string
	}{
		"refused for now": {deposit.Debt{State: deposit.CollectionRetrying, Answered: true, Attempt: 1}, day, nil, ""},
		"waiting for the tenant": {deposit.Debt{State: deposit.CollectionAwaitingTenant, Answered: true, Attempt: 4},
			29 * day, nil, ""},
		"an attempt under way": {deposit.Debt{State: deposit.CollectionScheduled, Attempt: 15}, day, nil, ""},
		"barred": {deposit.Debt{State: deposit.CollectionAwaitingTenant, Answered: true, Barred: true, Failure: "stolen_card"}, day,
			deposit.ErrCollectionNotRetryable,
			"The bank forbids another charge of this card (stolen_card). The tenant can pay with another card."},
		"charged fifteen times": {deposit.Debt{State: deposit.CollectionAwaitingTenant, Answered: true, Attempt: 15}, day,
			deposit.ErrCollectionNotRetryable,
			"The card was charged 15 times without success, which is the card networks' limit."},
		"of thirty days ago": {deposit.Debt{State: deposit.CollectionAwaitingTenant, Answered: true, Attempt: 4}, 30 * day,
			deposit.ErrCollectionNotRetryable, "The capture is older than 30 days, which is the card networks' limit."},
		"paid": {deposit.Debt{State: deposit.CollectionPaid, Answered: true, Barred: true}, day, deposit.ErrCollectionOver,
			"The collection is paid."},
		"failed": {deposit.Debt{State: deposit.CollectionFailed, Answered: true}, 40 * day, deposit.ErrCollectionOver,
			"The collection is failed."},
	} {
		t.Run(name, func(t *testing.T) {
			d, now := c.debt, start.Add(c.after)
			d.CapturedAt = start
			before := d
			_, err := d.ScheduleRetry(actor.Staff, now)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				require.ErrorContains(t, err, c.message)
				require.Equal(t, before, d)
				return
			}
			require.Equal(t, before.Answered, d.NextAttemptAt.Equal(now), "an attempt that is under way has no next time")
		})
	}
}

func TestDue_WhileTheCardIsCharged_AtItsTimeOrUnderWay(t *testing.T) {
	for _, state := range deposit.CollectionStates {
		charged := state == deposit.CollectionScheduled || state == deposit.CollectionRetrying
		for name, c := range map[string]struct {
			debt deposit.Debt
			want bool
		}{
			"a moment early": {deposit.Debt{State: state, Answered: true, NextAttemptAt: start.Add(1)}, false},
			"at its time":    {deposit.Debt{State: state, Answered: true, NextAttemptAt: start}, charged},
			"under way":      {deposit.Debt{State: state, NextAttemptAt: start.Add(1)}, charged},
		} {
			require.Equal(t, c.want, c.debt.ChargeDue(start), "%s, %s", state, name)
		}
	}
}

func TestPaid_ByCardOrByTheTenant_EndsTheDebt(t *testing.T) {
	for state, want := range map[deposit.CollectionState]deposit.CollectionTrigger{
		deposit.CollectionScheduled:      deposit.CollectionTriggerCharged,
		deposit.CollectionRetrying:       deposit.CollectionTriggerCharged,
		deposit.CollectionAwaitingTenant: deposit.CollectionTriggerPaidByTenant,
	} {
		d := deposit.Debt{State: state, Attempt: 2, Failure: "card_declined", NextAttemptAt: start.Add(day)}
		step, err := d.MarkPaid(actor.Provider, start)
		require.NoError(t, err)
		require.Equal(t, []any{want, map[string]string{"attempt": "2", "failure": "card_declined"}},
			[]any{step.Trigger, step.Detail})
		require.Equal(t, deposit.Debt{State: deposit.CollectionPaid, Attempt: 2, Transitions: 1, Answered: true,
			EndedAt: start}, d)
		_, err = d.MarkPaid(actor.Provider, start.Add(day))
		require.ErrorIs(t, err, deposit.ErrCollectionOver)
		require.Equal(t, start, d.EndedAt)
	}
	failed := deposit.Debt{State: deposit.CollectionFailed, Failure: "expired"}
	_, err := failed.MarkPaid(actor.Provider, start)
	require.ErrorIs(t, err, deposit.ErrCollectionOver)
	require.Equal(t, deposit.Debt{State: deposit.CollectionFailed, Failure: "expired"}, failed)
}

func TestExpired_AfterHalfAYearWithoutPayment(t *testing.T) {
	const unpaid = 180 * day
	for _, state := range deposit.CollectionStates {
		d := deposit.Debt{State: state, CapturedAt: start}
		require.False(t, d.Expired(start.Add(unpaid-1)), state)
		require.Equal(t, !state.Final(), d.Expired(start.Add(unpaid)), state)
	}
}

func TestIn_OfADebt_KeepsItsTimesInAnotherZone(t *testing.T) {
	paris := time.FixedZone("CEST", 2*60*60)
	require.Nil(t, (*deposit.Debt)(nil).InTimeZone(paris))
	d := &deposit.Debt{CapturedAt: start}
	require.Equal(t, start.In(paris), d.InTimeZone(paris).CapturedAt)
	require.Equal(t, start, d.CapturedAt)
}

func TestRefuse_OfADebtThatIsOver_ChangesNothing(t *testing.T) {
	for _, over := range []deposit.CollectionState{deposit.CollectionAwaitingTenant, deposit.CollectionPaid,
		deposit.CollectionFailed} {
		d := deposit.Debt{State: over, Answered: true, Failure: "before"}
		before := d
		_, err := d.RecordRefusal(deposit.ChargeRefusal{Failure: "card_declined", Passes: true},
			deposit.DefaultCollectionSchedule(),
			actor.Clock, start)
		require.ErrorIs(t, err, deposit.ErrCollectionOver)
		require.Equal(t, before, d)
	}
}

func TestRefuse_LeadsToTheNextTimeOrToTheTenant(t *testing.T) {
	schedule := deposit.DefaultCollectionSchedule()
	for name, c := range map[string]struct {
		refused deposit.ChargeRefusal
		attempt int
		after   time.Duration
		state   deposit.CollectionState
		next    time.Time
	}{
		"may pass": {deposit.ChargeRefusal{Passes: true}, 1, 0, deposit.CollectionRetrying, start.Add(day)},
		"a time passed meanwhile": {deposit.ChargeRefusal{Passes: true}, 1, 36 * time.Hour, deposit.CollectionRetrying,
			start.Add(60 * time.Hour)},
		"all times passed meanwhile": {deposit.ChargeRefusal{Passes: true}, 1, 9 * day, deposit.CollectionRetrying,
			start.Add(10 * day)},
		"the second of these": {deposit.ChargeRefusal{Passes: true}, 2, 10 * day, deposit.CollectionRetrying,
			start.Add(12 * day)},
		"the third of these": {deposit.ChargeRefusal{Passes: true}, 3, 12 * day, deposit.CollectionRetrying,
			start.Add(16 * day)},
		"the last of these": {deposit.ChargeRefusal{Passes: true}, 4, 16 * day, deposit.CollectionAwaitingTenant,
			time.Time{}},
		"on the thirtieth day": {deposit.ChargeRefusal{Passes: true}, 1, 29 * day, deposit.CollectionRetrying,
			start.Add(30 * day)},
		"later than thirty days": {deposit.ChargeRefusal{Passes: true}, 1, 29*day + 1, deposit.CollectionAwaitingTenant,
			time.Time{}},
		"may pass, schedule over": {deposit.ChargeRefusal{Passes: true}, 4, 7 * day, deposit.CollectionAwaitingTenant,
			time.Time{}},
		"may pass, fifteenth charge": {deposit.ChargeRefusal{Passes: true}, deposit.MaxChargeAttempts, 0,
			deposit.CollectionAwaitingTenant,
			time.Time{}},
		"needs the tenant": {deposit.ChargeRefusal{}, 1, 0, deposit.CollectionAwaitingTenant, time.Time{}},
		"bars the card":    {deposit.ChargeRefusal{Barred: true}, 1, 0, deposit.CollectionAwaitingTenant, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			d := deposit.Debt{State: deposit.CollectionScheduled, CapturedAt: start, Attempt: c.attempt}
			c.refused.Failure = "card_declined"
			_, err := d.RecordRefusal(c.refused, schedule, actor.Clock, start.Add(c.after))
			require.NoError(t, err)
			require.Equal(t, []any{c.state, c.next, c.refused.Barred, "card_declined", true},
				[]any{d.State, d.NextAttemptAt, d.Barred, d.Failure, d.Answered})
		})
	}
}
