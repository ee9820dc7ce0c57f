package deposit_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
)

// documentedSteps reads the table of collections in docs/deposit.md: state, trigger, next state.
func documentedSteps(t *testing.T) map[deposit.CollectionState]map[deposit.CollectionTrigger]deposit.CollectionState {
	t.Helper()
	page, err := os.ReadFile("../../docs/deposit.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Collections")
	require.True(t, found)
	table := map[deposit.CollectionState]map[deposit.CollectionTrigger]deposit.CollectionState{}
	for _, cells := range regexp.MustCompile(`(?m)^\| ([a-z_, ]+) \| ([a-z_]+) \| ([a-z_]+) \|`).FindAllStringSubmatch(
		section, -1) {
		if cells[1] == "from" {
			continue
		}
		for from := range strings.SplitSeq(cells[1], ", ") {
			if table[deposit.CollectionState(from)] == nil {
				table[deposit.CollectionState(from)] = map[deposit.CollectionTrigger]deposit.CollectionState{}
			}
			table[deposit.CollectionState(from)][deposit.CollectionTrigger(cells[2])] = deposit.CollectionState(cells[3])
		}
	}
	return table
}

func TestCollectionSteps_AreThoseOfTheDocument(t *testing.T) {
	table := documentedSteps(t)
	require.Len(t, table, 3, "states that are not final")
	for _, from := range deposit.CollectionStates {
		require.Equal(t, len(table[from]) == 0, from.Final(), from)
		for _, trigger := range deposit.CollectionTriggers {
			to, err := from.Next(trigger)
			if want, allowed := table[from][trigger]; allowed {
				require.NoError(t, err)
				require.Equal(t, want, to, "%s, %s", from, trigger)
				continue
			}
			require.ErrorIs(t, err, deposit.ErrCollectionOver, "%s, %s", from, trigger)
			require.Equal(t, from, to)
		}
	}
}

// requireSound checks what holds of every debt.
func requireSound(t *rapid.T, d deposit.Debt, now time.Time) {
	require.Equal(t, d.State.Final(), !d.EndedAt.IsZero())
	require.LessOrEqual(t, d.Attempt, deposit.MaxChargeAttempts)
	require.Equal(t, d.Attempt > 0, !d.AttemptedAt.IsZero())
	planned := !d.NextAttemptAt.IsZero()
	switch d.State {
	case deposit.CollectionScheduled, deposit.CollectionRetrying:
		require.Equal(t, d.Answered, planned, "either an attempt is under way, or the next has its time")
		require.False(t, d.NextAttemptAt.After(d.CapturedAt.Add(deposit.ChargeAttemptWindow)), "30 days at most")
	case deposit.CollectionAwaitingTenant, deposit.CollectionPaid, deposit.CollectionFailed:
		require.False(t, planned)
		require.False(t, d.ChargeDue(now))
		require.True(t, d.Answered)
	}
}

// Random answers, pauses and decisions of staff keep a debt sound, and every step follows the document's table.
func TestDebt_RandomLives_KeepTheInvariants(t *testing.T) {
	table := documentedSteps(t)
	rapid.Check(t, func(t *rapid.T) {
		schedule := deposit.CollectionSchedule{}
		at := time.Duration(0)
		for range rapid.IntRange(1, deposit.MaxChargeAttempts).Draw(t, "times") {
			schedule = append(schedule, at)
			at += time.Duration(rapid.IntRange(1, 47).Draw(t, "hours")) * time.Hour
		}
		require.Empty(t, schedule.FindMistake())
		now := start
		d := deposit.NewDebt(deposit.Payment{CreatedAt: now, Amount: 1}, schedule)
		made := func(before deposit.Debt, step deposit.CollectionTransition, err error) {
			if err != nil {
				require.Equal(t, before, d, "a refused step changes nothing")
				return
			}
			require.Equal(t, table[before.State][step.Trigger], d.State)
			require.Equal(t, []any{before.State, d.State, before.Transitions + 1, d.Transitions},
				[]any{step.From, step.To, step.Number, step.Number})
		}
		t.Repeat(map[string]func(*rapid.T){
			"attempt": func(t *rapid.T) {
				if !d.ChargeDue(now) {
					return
				}
				before := d
				d.BeginAttempt(now)
				repeated := d
				repeated.BeginAttempt(now.Add(time.Hour))
				require.Equal(t, d, repeated, "a repeated begin is the same attempt")
				require.LessOrEqual(t, d.Attempt-before.Attempt, 1)
			},
			"refusal": func(t *rapid.T) {
				if d.Answered {
					return
				}
				before := d
				r := deposit.ChargeRefusal{Failure: "card_declined", Passes: rapid.Bool().Draw(t, "passes"),
					Barred: rapid.Bool().Draw(t, "barred")}
				step, err := d.RecordRefusal(r, schedule, actor.Clock, now)
				made(before, step, err)
				if err == nil && d.State == deposit.CollectionRetrying {
					require.True(t, d.NextAttemptAt.After(now), "no card is charged again at once")
				}
			},
			"payment": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "luck") == 0 {
					before := d
					step, err := d.MarkPaid(actor.Clock, now)
					made(before, step, err)
				}
			},
			"retry": func(*rapid.T) {
				before := d
				step, err := d.ScheduleRetry(actor.Staff, now)
				made(before, step, err)
				require.False(t, err == nil && before.Barred, "the bank forbids it")
			},
			"end": func(t *rapid.T) {
				before := d
				if d.Expired(now) || rapid.IntRange(0, 9).Draw(t, "whim") == 0 {
					step, err := d.MarkFailed(rapid.SampledFrom([]deposit.CollectionTrigger{deposit.CollectionTriggerCancelled,
						deposit.CollectionTriggerExpired, deposit.CollectionTriggerTooSmall, deposit.CollectionTriggerSettledElsewhere,
						deposit.CollectionTriggerWithdrawn}).Draw(t, "trigger"), actor.Staff, now)
					made(before, step, err)
				}
			},
			"wait": func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 10*24).Draw(t, "hours")) * time.Hour) },
			"":     func(t *rapid.T) { requireSound(t, d, now) },
		})
	})
}

func TestSchedule_Mistakes_AreNamed(t *testing.T) {
	require.Empty(t, deposit.DefaultCollectionSchedule().FindMistake())
	for _, wrong := range []deposit.CollectionSchedule{nil, make(deposit.CollectionSchedule, 16), {0, 0}, {2 * day, day},
		{-1}, {0, 30*day + 1}} {
		require.NotEmpty(t, wrong.FindMistake(), "%v", wrong)
	}
	fifteen := make(deposit.CollectionSchedule, 15)
	for i := range fifteen {
		fifteen[i] = time.Duration(i+16) * day
	}
	require.Empty(t, fifteen.FindMistake(), "up to the thirtieth day")
	require.Empty(t, deposit.CollectionSchedule{30 * day}.FindMistake())
}

func TestRefundable_IsTheRestOfThePayment(t *testing.T) {
	paid := deposit.Payment{Amount: 100, Status: deposit.PaymentSucceeded}
	some := []deposit.Refund{{Amount: 30, Status: deposit.RefundSucceeded}, {Amount: 30, Status: deposit.RefundPending},
		{Amount: 90, Status: deposit.RefundFailed}}
	for want, expect := range map[money.Cents]money.Cents{0: 40, 1: 1, 40: 40} {
		got, err := deposit.RefundableAmount(paid, some, want)
		require.NoError(t, err)
		require.Equal(t, expect, got)
	}
	_, err := deposit.RefundableAmount(paid, some, 41)
	require.ErrorIs(t, err, deposit.ErrRefundExceedsPayment)
	_, err = deposit.RefundableAmount(paid, some, -1)
	require.ErrorContains(t, err, "amount: must be more than 0")
	_, err = deposit.RefundableAmount(paid, append(some, deposit.Refund{Amount: 40}), 0)
	require.ErrorIs(t, err, deposit.ErrPaymentNotRefundable)
	_, err = deposit.RefundableAmount(deposit.Payment{Amount: 100, Status: deposit.PaymentFailed}, nil, 0)
	require.ErrorIs(t, err, deposit.ErrPaymentNotRefundable)
}
