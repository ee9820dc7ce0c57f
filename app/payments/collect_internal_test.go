package payments

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

const day = 24 * time.Hour

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestDecideStep_TheDebtDecidesTheNextCall(t *testing.T) {
	t.Parallel()
	due := deposit.Debt{
		State: deposit.CollectionRetrying, Answered: true, Attempt: 1,
		CapturedAt: noon.Add(-3 * day), NextAttemptAt: noon,
	}
	with := func(change func(*deposit.Debt)) deposit.Debt {
		d := due
		change(&d)
		return d
	}
	begun := with(func(d *deposit.Debt) {
		d.Attempt, d.Answered, d.AttemptedAt, d.NextAttemptAt = 2, false, noon, time.Time{}
	})
	cancelled := with(func(d *deposit.Debt) { d.CancelAt, d.CancelBy = noon.Add(-time.Hour), actor.Staff })
	later := with(func(d *deposit.Debt) { d.NextAttemptAt = noon.Add(time.Second) })
	awaited := with(func(d *deposit.Debt) { d.State, d.NextAttemptAt = deposit.CollectionAwaitingTenant, time.Time{} })
	old := with(func(d *deposit.Debt) { d.CapturedAt = noon.Add(-deposit.DebtExpiresAfter) })
	expired := with(func(d *deposit.Debt) { d.CapturedAt, d.CancelAt, d.CancelBy = old.CapturedAt, noon, actor.Clock })
	small := with(func(d *deposit.Debt) { d.CancelAt, d.CancelBy = noon, actor.Clock })
	for name, c := range map[string]struct {
		debt     deposit.Debt
		want     plan
		changed  bool
		tooSmall bool
	}{
		"the time of the attempt has come":       {due, plan{actCharge, begun}, true, false},
		"an attempt without an answer":           {begun, plan{actCharge, begun}, true, false},
		"the attempt is later":                   {later, plan{actAsk, later}, false, false},
		"the tenant has to pay":                  {awaited, plan{actAsk, awaited}, false, false},
		"cancelled by staff, though one is due":  {cancelled, plan{actEnd, cancelled}, false, false},
		"unpaid for too long, though one is due": {old, plan{actEnd, expired}, true, false},
		"less than can be charged":               {due, plan{actEnd, small}, true, true},
	} {
		next, changed := decideStep(c.debt, c.tooSmall, noon)
		require.Equal(t, c.want, next, name)
		require.Equal(t, c.changed, changed, name)
	}
}

func TestDecideEffect_EveryAnswerToEveryCall(t *testing.T) {
	t.Parallel()
	pending := deposit.Debt{State: deposit.CollectionRetrying, Attempt: 2}
	for made, answers := range map[act]map[paymentports.ProviderPaymentStatus]effect{
		actCharge: {
			paymentports.ProviderPaymentSucceeded: effectPaid, paymentports.ProviderPaymentOpen: effectUnderWay,
			paymentports.ProviderPaymentClosed: effectFailed,
			paymentports.ProviderPaymentFailed: effectRefused, paymentports.ProviderPaymentUnknown: effectNone,
		},
		actEnd: {
			paymentports.ProviderPaymentSucceeded: effectPaid, paymentports.ProviderPaymentOpen: effectUnderWay,
			paymentports.ProviderPaymentClosed: effectFailed,
			paymentports.ProviderPaymentFailed: effectFailed, paymentports.ProviderPaymentUnknown: effectFailed,
		},
		actAsk: { // only our own wish makes a closed page the end of a debt
			paymentports.ProviderPaymentSucceeded: effectPaid, paymentports.ProviderPaymentOpen: effectNone,
			paymentports.ProviderPaymentClosed: effectNone,
			paymentports.ProviderPaymentFailed: effectNone, paymentports.ProviderPaymentUnknown: effectNone,
		},
	} {
		require.Len(t, answers, len(paymentports.ProviderPaymentStatuses))
		for answer, want := range answers {
			require.Equal(t, want, decideEffect(plan{made, pending}, pending, answer), "%d %s", made, answer)
		}
	}
}

func TestDecideEffect_RefusalThatAnotherProcessRecorded_IsNothingNew(t *testing.T) {
	t.Parallel()
	made := plan{actCharge, deposit.Debt{Attempt: 2}}
	answered, next := deposit.Debt{Attempt: 2, Answered: true}, deposit.Debt{Attempt: 3}
	require.Equal(t, effectNone, decideEffect(made, answered, paymentports.ProviderPaymentFailed))
	require.Equal(t, effectNone, decideEffect(made, next, paymentports.ProviderPaymentFailed))
}

func TestRefusal_TheClassDecidesWhetherTheCardIsChargedAgain(t *testing.T) {
	t.Parallel()
	for class, want := range map[paymentports.ChargeRefusalKind]deposit.ChargeRefusal{
		paymentports.ChargeRefusedForNow:          {Failure: "card_declined", Passes: true},
		paymentports.ChargeRefusedUntilTenantActs: {Failure: "card_declined"},
		paymentports.ChargeRefusedForGood:         {Failure: "card_declined", Barred: true},
		"":                                        {Failure: "card_declined", Passes: true},
	} {
		require.Equal(t, want, refusal(paymentports.ProviderPayment{Failure: "card_declined", Refusal: class}), class)
	}
}

func TestEnding_NamesWhoEndedTheDebt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cancelBy string // as stored
		cancelAs deposit.CollectionTrigger
		tooSmall bool
		trigger  deposit.CollectionTrigger
		by       actor.Actor
	}{
		{"dispatcher", "", false, "expired", actor.Clock},
		{"dispatcher", "", true, "below_minimum", actor.Clock},
		{"scheduler", "", false, "expired", actor.Clock},
		{"scheduler", "", true, "below_minimum", actor.Clock},
		{"admin", "", false, "cancelled", actor.Staff},
		{"admin", "", true, "cancelled", actor.Staff},
		{"", "", false, "cancelled", actor.Provider},
		{"operator:opr_1", "settled_elsewhere", false, "settled_elsewhere", actor.Parse("operator:opr_1")},
		{"operator:opr_1", "withdrawn", true, "withdrawn", actor.Parse("operator:opr_1")},
	} {
		trigger, by := ending(deposit.Debt{CancelBy: actor.Parse(c.cancelBy), CancelAs: c.cancelAs}, c.tooSmall)
		require.Equal(t, []any{c.trigger, c.by}, []any{trigger, by}, c.cancelBy)
	}
}

func TestPayer_IsTheTenantOnceTheDebtIsWithTheTenant(t *testing.T) {
	t.Parallel()
	for state, want := range map[deposit.CollectionState]actor.Actor{
		deposit.CollectionScheduled: actor.Clock, deposit.CollectionRetrying: actor.Clock,
		deposit.CollectionAwaitingTenant: actor.Tenant,
	} {
		require.Equal(t, want, payer(state), state)
	}
}

func TestNextCheck_FollowsTheAttemptOrThePage(t *testing.T) {
	t.Parallel()
	captured := noon.Add(-10 * day)
	awaited := func(page time.Time) deposit.Debt {
		return deposit.Debt{State: deposit.CollectionAwaitingTenant, Answered: true, CapturedAt: captured, PageAt: page}
	}
	end := captured.Add(180 * day)
	for name, c := range map[string]struct {
		debt deposit.Debt
		want time.Time
	}{
		"the next attempt": {
			deposit.Debt{State: deposit.CollectionRetrying, Answered: true, NextAttemptAt: noon.Add(day)},
			noon.Add(day),
		},
		"an attempt without an answer":   {deposit.Debt{State: deposit.CollectionScheduled}, noon.Add(time.Minute)},
		"the tenant has not come":        {awaited(time.Time{}), end},
		"a page, just opened":            {awaited(noon), noon.Add(30 * time.Second)},
		"a page, a minute old":           {awaited(noon.Add(-time.Minute)), noon.Add(time.Minute)},
		"a page, an hour old":            {awaited(noon.Add(-time.Hour)), noon.Add(4 * time.Minute)},
		"a page on its last day":         {awaited(noon.Add(-25 * time.Hour)), noon.Add(4 * time.Minute)},
		"a page that has certainly died": {awaited(noon.Add(-25*time.Hour - 1)), end},
	} {
		require.Equal(t, c.want, nextCheck(c.debt, noon), name)
	}
}

func TestChargeOf_TheCardThatPaidTheFee(t *testing.T) {
	t.Parallel()
	p := deposit.Payment{ID: id.ID{1}, Kind: deposit.PaymentKindCollection, Amount: 50_000}
	d := &deposit.Deposit{ID: id.ID{2}, Reference: "D-7K3M-9Q2X"}
	d.Locale, d.ContractStartAt, d.ContractEndAt = "fr", noon, noon.Add(4*time.Hour)
	account := connect.Account{CompanyName: "Chalet Neuf", Timezone: "Asia/Tokyo"}
	r, ok := chargeOf(p, d, account, &deposit.Payment{ID: id.ID{3}}, 4)
	require.True(t, ok)
	require.Equal(t, paymentports.CollectRequest{
		PaymentID: id.ID{1}, FeePaymentID: id.ID{3}, DepositID: id.ID{2}, Amount: 50_000,
		Description: "Réclamation de Chalet Neuf sur la caution, 1er août – 2 août 2026",
		Attempt:     4,
	}, r)
	_, ok = chargeOf(p, d, connect.Account{}, nil, 4)
	require.False(t, ok, "without a card")
}

func TestChargeOf_WithoutACard_TheDebtGoesToTheTenant(t *testing.T) {
	t.Parallel()
	debt := deposit.Debt{State: deposit.CollectionScheduled, Attempt: 1, CapturedAt: noon}
	require.Equal(t, effectRefused, decideEffect(plan{actCharge, debt}, debt, withoutCard.Status))
	_, err := debt.RecordRefusal(refusal(withoutCard), deposit.DefaultCollectionSchedule(), actor.Clock, noon)
	require.NoError(t, err)
	require.Equal(t, []any{deposit.CollectionAwaitingTenant, "no_card", true}, []any{debt.State, debt.Failure,
		debt.Barred})
}

// An entry of the audit log has this time, and commits a minute later at most (operations.md, "Admin CLI").
func TestSweep_AProviderThatIsSlow_EachItemHasTheTimeOfItsOwnBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Service{deps: Deps{Clock: wall{}}, provider: newGuard(&provider{}, wall{}, slog.New(slog.DiscardHandler))}
		take := func(context.Context, time.Time, int) ([]int, error) { return make([]int, 5*workers), nil }
		begun := time.Now()
		done, err := sweep(t.Context(), s, take, func(_ context.Context, _ int, now time.Time) (bool, error) {
			require.Equal(t, time.Now(), now)
			<-time.After(chargeTimeout)
			return true, nil
		}, func(int) []any { return nil })
		require.NoError(t, err)
		require.Equal(t, 5*workers, done)
		require.Equal(t, 5*chargeTimeout, time.Since(begun))
	})
}

func TestClaimed_TheWordsOfTheCapture_AndTheFirstCharge(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	steps := []deposit.Transition{
		{Trigger: deposit.TriggerSecured, Detail: map[string]string{"reason": "no"}},
		{Trigger: deposit.TriggerCaptureRequested, Detail: map[string]string{"reason": "damage",
			"description": "Broken table"}},
	}
	m := mails.ChargeOrRefundNotice{Kind: paymentports.TenantNoticeCaptured}
	want := mails.ChargeOrRefundNotice{Kind: paymentports.TenantNoticeCaptured, Reason: "damage", Words: "Broken table",
		ChargedAt: first}
	require.Equal(t, want, claimed(m, steps, deposit.Debt{NextAttemptAt: first}))
	require.Equal(t, m, claimed(m, nil, deposit.Debt{Attempt: 1, NextAttemptAt: first}), "the card has been charged")
	require.Equal(t, m, claimed(m, nil, deposit.Debt{}), "captured before its debt was noted")
}

func TestRefunded_OfTheFeeOrOfACapturedAmount(t *testing.T) {
	t.Parallel()
	fee := deposit.Payment{ID: id.ID{1}, Kind: deposit.PaymentKindFee}
	collection := deposit.Payment{ID: id.ID{2}, Kind: deposit.PaymentKindCollection}
	refunds := []deposit.Refund{
		{ID: id.ID{3}, PaymentID: fee.ID, Amount: 1_750}, {ID: id.ID{4}, PaymentID: collection.ID, Amount: 20_000},
	}
	m := mails.ChargeOrRefundNotice{Amount: 50_000}
	for refundID, want := range map[id.ID]mails.ChargeOrRefundNotice{
		{3}: {Amount: 1_750, Fee: true}, {4}: {Amount: 20_000}, {5}: m,
	} {
		require.Equal(t, want, refunded(m, refunds, []deposit.Payment{fee, collection}, refundID))
	}
}

type noUpkeep struct{ paymentports.PaymentEraser }

func (noUpkeep) ReconcileDaily(context.Context) (run paymentports.ReconciliationRun, err error) {
	return run, err
}

func TestUpkeep_AsksOnlyAProviderThatHasBooksOrCustomers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		upkeep ProviderUpkeep
		want   []string
	}{
		{ProviderUpkeep{}, []string{"payment notices"}},
		{ProviderUpkeep{Books: noUpkeep{}}, []string{"payment notices", "reconciliation"}},
		{ProviderUpkeep{Eraser: noUpkeep{}}, []string{"payment notices", "payment erasures"}},
		{
			ProviderUpkeep{Books: noUpkeep{}, Eraser: noUpkeep{}},
			[]string{"payment notices", "reconciliation", "payment erasures"},
		},
	} {
		jobs := c.upkeep.ScheduledJobs(7 * time.Second)
		require.Equal(t, c.want, schedules.JobNames(jobs))
		require.Equal(t, 7*time.Second, jobs[0].Every)
	}
}
