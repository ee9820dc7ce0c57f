package payments

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
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
	cancelled := with(func(d *deposit.Debt) { d.CancelAt, d.CancelBy = noon.Add(-time.Hour), "admin" })
	later := with(func(d *deposit.Debt) { d.NextAttemptAt = noon.Add(time.Second) })
	awaited := with(func(d *deposit.Debt) { d.State, d.NextAttemptAt = deposit.AwaitingTenant, time.Time{} })
	old := with(func(d *deposit.Debt) { d.CapturedAt = noon.Add(-deposit.UnpaidFor) })
	expired := with(func(d *deposit.Debt) { d.CapturedAt, d.CancelAt, d.CancelBy = old.CapturedAt, noon, "dispatcher" })
	for name, c := range map[string]struct {
		debt    deposit.Debt
		want    plan
		changed bool
	}{
		"the time of the attempt has come":       {due, plan{actCharge, begun}, true},
		"an attempt without an answer":           {begun, plan{actCharge, begun}, true},
		"the attempt is later":                   {later, plan{actAsk, later}, false},
		"the tenant has to pay":                  {awaited, plan{actAsk, awaited}, false},
		"cancelled by staff, though one is due":  {cancelled, plan{actEnd, cancelled}, false},
		"unpaid for too long, though one is due": {old, plan{actEnd, expired}, true},
	} {
		next, changed := decideStep(c.debt, noon)
		require.Equal(t, c.want, next, name)
		require.Equal(t, c.changed, changed, name)
	}
}

func TestDecideEffect_EveryAnswerToEveryCall(t *testing.T) {
	t.Parallel()
	pending := deposit.Debt{State: deposit.CollectionRetrying, Attempt: 2}
	for made, answers := range map[act]map[ports.ProviderStatus]effect{
		actCharge: {
			ports.ProviderSucceeded: effectPaid, ports.ProviderOpen: effectUnderWay, ports.ProviderClosed: effectFailed,
			ports.ProviderFailed: effectRefused, ports.ProviderUnknown: effectNone,
		},
		actEnd: {
			ports.ProviderSucceeded: effectPaid, ports.ProviderOpen: effectUnderWay, ports.ProviderClosed: effectFailed,
			ports.ProviderFailed: effectFailed, ports.ProviderUnknown: effectFailed,
		},
		actAsk: { // only our own wish makes a closed page the end of a debt
			ports.ProviderSucceeded: effectPaid, ports.ProviderOpen: effectNone, ports.ProviderClosed: effectNone,
			ports.ProviderFailed: effectNone, ports.ProviderUnknown: effectNone,
		},
	} {
		require.Len(t, answers, len(ports.ProviderStatuses))
		for answer, want := range answers {
			require.Equal(t, want, decideEffect(plan{made, pending}, pending, answer), "%d %s", made, answer)
		}
	}
}

func TestDecideEffect_RefusalThatAnotherProcessRecorded_IsNothingNew(t *testing.T) {
	t.Parallel()
	made := plan{actCharge, deposit.Debt{Attempt: 2}}
	answered, next := deposit.Debt{Attempt: 2, Answered: true}, deposit.Debt{Attempt: 3}
	require.Equal(t, effectNone, decideEffect(made, answered, ports.ProviderFailed))
	require.Equal(t, effectNone, decideEffect(made, next, ports.ProviderFailed))
}

func TestRefusal_TheClassDecidesWhetherTheCardIsChargedAgain(t *testing.T) {
	t.Parallel()
	for class, want := range map[ports.Refusal]deposit.Refused{
		ports.RefusedForNow:    {Failure: "card_declined", Passes: true},
		ports.RefusedForTenant: {Failure: "card_declined"},
		ports.RefusedForGood:   {Failure: "card_declined", Barred: true},
		"":                     {Failure: "card_declined", Passes: true},
	} {
		require.Equal(t, want, refusal(ports.ProviderPayment{Failure: "card_declined", Refusal: class}), class)
	}
}

func TestEnding_NamesWhoEndedTheDebt(t *testing.T) {
	t.Parallel()
	for cancelBy, want := range map[string][2]string{
		"dispatcher": {"expired", "dispatcher"},
		"admin":      {"cancelled", "admin"},
		"":           {"cancelled", "provider"},
	} {
		trigger, actor := ending(cancelBy)
		require.Equal(t, want, [2]string{string(trigger), actor}, cancelBy)
	}
}

func TestPayer_IsTheTenantOnceTheDebtIsWithTheTenant(t *testing.T) {
	t.Parallel()
	for state, want := range map[deposit.CollectionState]string{
		deposit.CollectionScheduled: "dispatcher", deposit.CollectionRetrying: "dispatcher",
		deposit.AwaitingTenant: "tenant",
	} {
		require.Equal(t, want, payer(state), state)
	}
}

func TestNextCheck_FollowsTheAttemptOrThePage(t *testing.T) {
	t.Parallel()
	captured := noon.Add(-10 * day)
	awaited := func(page time.Time) deposit.Debt {
		return deposit.Debt{State: deposit.AwaitingTenant, Answered: true, CapturedAt: captured, PageAt: page}
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

func TestPayable_OnlyWhileTheDebtIsWithTheTenant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		debt deposit.Debt
		want bool
	}{
		"with the tenant": {deposit.Debt{State: deposit.AwaitingTenant, CapturedAt: noon}, true},
		"with the card":   {deposit.Debt{State: deposit.CollectionRetrying, CapturedAt: noon}, false},
		"paid":            {deposit.Debt{State: deposit.CollectionPaid, CapturedAt: noon}, false},
		"being cancelled": {deposit.Debt{State: deposit.AwaitingTenant, CapturedAt: noon, CancelAt: noon}, false},
		"too old": {
			deposit.Debt{State: deposit.AwaitingTenant, CapturedAt: noon.Add(-deposit.UnpaidFor)}, false,
		},
	} {
		require.Equal(t, c.want, payable(c.debt, noon), name)
	}
}

func TestDecideFee_EveryAnswerInEveryStatus(t *testing.T) {
	t.Parallel()
	inCheckout := map[deposit.Status]bool{deposit.Pending: true, deposit.Incomplete: true, deposit.PaymentIssue: true}
	for _, status := range deposit.Statuses {
		trigger, next := decideFee(deposit.PaymentSucceeded, status)
		require.Equal(t, deposit.Secured, trigger, status)
		require.Equal(t, map[bool]feeEffect{true: feeMoves, false: feeOrphaned}[inCheckout[status]], next, status)

		trigger, next = decideFee(deposit.PaymentFailed, status)
		switch {
		case status == deposit.PaymentIssue:
			require.Equal(t, []any{deposit.Trigger(""), feeStays}, []any{trigger, next}, "another failure")
		case inCheckout[status]:
			require.Equal(t, []any{deposit.FeeFailed, feeMoves}, []any{trigger, next}, status)
		default:
			require.Equal(t, []any{deposit.FeeFailed, feeOrphaned}, []any{trigger, next}, status)
		}

		trigger, next = decideFee(deposit.PaymentVoided, status)
		require.Equal(t, []any{deposit.Trigger(""), feeStays}, []any{trigger, next}, status)
	}
}

func TestSettle_EveryAnswerEndsThePayment(t *testing.T) {
	t.Parallel()
	for answer, want := range map[ports.ProviderStatus]struct {
		status deposit.PaymentStatus
		result ports.PaymentResult
		open   bool
	}{
		ports.ProviderSucceeded: {deposit.PaymentSucceeded, ports.PaymentSucceeded, false},
		ports.ProviderFailed:    {deposit.PaymentFailed, ports.PaymentRefused, false},
		ports.ProviderClosed:    {deposit.PaymentVoided, ports.PaymentVoided, false},
		ports.ProviderUnknown:   {deposit.PaymentVoided, ports.PaymentVoided, true},
		ports.ProviderOpen:      {deposit.PaymentVoided, ports.PaymentVoided, true},
	} {
		p := deposit.Payment{Status: deposit.PaymentProcessing, ProviderRef: "pi_1", Failure: "earlier"}
		settle(&p, ports.ProviderPayment{Status: answer}, noon)
		require.Equal(t, deposit.Payment{Status: want.status, ProviderRef: "pi_1", SettledAt: noon}, p, answer)
		require.Equal(t, want.result, resultOf(answer), answer)
		require.Equal(t, want.open, undecided(answer), answer)
	}
	var p deposit.Payment
	settle(&p, ports.ProviderPayment{Status: ports.ProviderFailed, Ref: "pi_2", Failure: "card_declined"}, noon)
	require.Equal(t, deposit.Payment{
		Status: deposit.PaymentFailed, ProviderRef: "pi_2", Failure: "card_declined", SettledAt: noon,
	}, p)
}

func TestDecideRefund_SettledOrAskedAboutAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  ports.ProviderRefund
		age     time.Duration
		check   time.Duration // from now; 0: not asked again
		settled bool
	}{
		"made": {ports.ProviderRefund{Status: "succeeded", Ref: "re_1"}, 0, 0, true},
		"refused": {
			ports.ProviderRefund{Status: "failed", Ref: "re_1", Failure: "expired_card"}, 0, 0, true,
		},
		"pending": {ports.ProviderRefund{Status: "pending", Ref: "re_1"}, 0, time.Minute, false},
		"pending for ten minutes": {
			ports.ProviderRefund{Status: "pending"}, 10 * time.Minute, 10 * time.Minute, false,
		},
		"pending for several hours": {ports.ProviderRefund{Status: "pending"}, 7 * time.Hour, time.Hour, false},
	} {
		before := deposit.Refund{ID: id.ID{1}, Amount: 500, Status: deposit.RefundPending, CreatedAt: noon.Add(-c.age)}
		want := before
		want.Status = deposit.RefundStatus(c.answer.Status)
		want.ProviderRef, want.Failure = c.answer.Ref, c.answer.Failure
		if c.settled {
			want.SettledAt = noon
		} else {
			want.CheckAt = noon.Add(c.check)
		}
		require.Equal(t, want, decideRefund(before, c.answer, noon), name)
	}
}

func TestEndedUnpaid_OnlyAPaymentThatMayHaveBeenPaidInVain(t *testing.T) {
	t.Parallel()
	for status, want := range map[deposit.PaymentStatus]bool{
		deposit.PaymentProcessing: false, deposit.PaymentSucceeded: false,
		deposit.PaymentFailed: true, deposit.PaymentVoided: true,
	} {
		require.Equal(t, want, endedUnpaid(deposit.Payment{Status: status}, nil), status)
		refunds := []deposit.Refund{{Status: deposit.RefundFailed}}
		require.False(t, endedUnpaid(deposit.Payment{Status: status}, refunds), status)
	}
}

func TestFeeWait_DoublesUpToFourMinutes(t *testing.T) {
	t.Parallel()
	for attempts, want := range []time.Duration{
		30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 4 * time.Minute, 4 * time.Minute,
	} {
		require.Equal(t, want, feeWait(attempts), attempts)
	}
	require.Equal(t, 4*time.Minute, feeWait(1_000_000), "no overflow")
}

func TestNeverArrived_AfterAGrace(t *testing.T) {
	t.Parallel()
	for _, status := range ports.ProviderStatuses {
		require.False(t, neverArrived(status, 2*time.Minute-1), "%s: the request may be on its way", status)
		require.Equal(t, status == ports.ProviderUnknown, neverArrived(status, 2*time.Minute), status)
		want := status
		if status == ports.ProviderUnknown {
			want = ports.ProviderClosed
		}
		require.Equal(t, want, closedFor(status), status)
	}
}

func TestPostponed_KeepsReferenceAndFailureUnlessTheAnswerHasThem(t *testing.T) {
	t.Parallel()
	p := deposit.Payment{ID: id.ID{1}, ProviderRef: "cs_1", Failure: "card_declined", Attempts: 1}
	want := deposit.Payment{ID: id.ID{1}, ProviderRef: "cs_1", Failure: "card_declined", Attempts: 2, CheckAt: noon}
	require.Equal(t, want, postponed(p, ports.ProviderPayment{}, 2, noon))
	want.ProviderRef, want.Failure = "pi_1", "expired_card"
	require.Equal(t, want, postponed(p, ports.ProviderPayment{Ref: "pi_1", Failure: "expired_card"}, 2, noon))
}

func TestFeeAmong_IsTheOldestFeeWithThatStatus(t *testing.T) {
	t.Parallel()
	all := []deposit.Payment{
		{ID: id.ID{1}, Kind: deposit.FeePayment, Status: deposit.PaymentVoided},
		{ID: id.ID{2}, Kind: deposit.Collection, Status: deposit.PaymentSucceeded},
		{ID: id.ID{3}, Kind: deposit.FeePayment, Status: deposit.PaymentSucceeded},
		{ID: id.ID{4}, Kind: deposit.FeePayment, Status: deposit.PaymentSucceeded},
	}
	require.Equal(t, &all[2], feeAmong(all, deposit.PaymentSucceeded))
	require.Nil(t, feeAmong(all, deposit.PaymentProcessing))
}

func TestChargeOf_TheCardThatPaidTheFee(t *testing.T) {
	t.Parallel()
	p := deposit.Payment{ID: id.ID{1}, Kind: deposit.Collection, Amount: 50_000}
	d := &deposit.Deposit{ID: id.ID{2}, Reference: "D-7K3M-9Q2X"}
	r, ok := chargeOf(p, d, &deposit.Payment{ID: id.ID{3}}, 4)
	require.True(t, ok)
	require.Equal(t, ports.CollectRequest{
		PaymentID: id.ID{1}, FeePaymentID: id.ID{3}, DepositID: id.ID{2}, Amount: 50_000, Description: "D-7K3M-9Q2X", Attempt: 4,
	}, r)
	_, ok = chargeOf(p, d, nil, 4)
	require.False(t, ok, "without a card")
}

func TestChargeOf_WithoutACard_TheDebtGoesToTheTenant(t *testing.T) {
	t.Parallel()
	debt := deposit.Debt{State: deposit.CollectionScheduled, Attempt: 1, CapturedAt: noon}
	require.Equal(t, effectRefused, decideEffect(plan{actCharge, debt}, debt, withoutCard.Status))
	_, err := debt.Refuse(refusal(withoutCard), deposit.DefaultCollectionSchedule(), auditActor, noon)
	require.NoError(t, err)
	require.Equal(t, []any{deposit.AwaitingTenant, "no_card", true}, []any{debt.State, debt.Failure, debt.Barred})
}

func TestPageOf_AddressAndLanguageOfWhoeverPays(t *testing.T) {
	t.Parallel()
	client := &deposit.Client{Email: "grace@example.com"}
	payer := &tenant.Person{Email: "tina@example.com", Locale: "fr"}
	for name, c := range map[string]struct {
		kind          deposit.PaymentKind
		client        *deposit.Client
		payer         *tenant.Person
		email, locale string
	}{
		"a fee":                            {deposit.FeePayment, nil, payer, "tina@example.com", "fr"},
		"a fee of a known client":          {deposit.FeePayment, client, payer, "tina@example.com", "fr"},
		"a fee, and nobody is named":       {deposit.FeePayment, nil, nil, "", "en"},
		"a fee, whose client is not asked": {deposit.FeePayment, client, nil, "", "en"},
		"a debt":                           {deposit.Collection, client, nil, "grace@example.com", "en"},
		"a debt of an erased client":       {deposit.Collection, nil, nil, "", "en"},
	} {
		p := deposit.Payment{ID: id.ID{1}, Kind: c.kind, Amount: 1_750}
		d := &deposit.Deposit{ID: id.ID{2}, Reference: "D-1", Client: c.client}
		d.Locale = "en"
		require.Equal(t, ports.HostedPayment{
			PaymentID: id.ID{1}, DepositID: id.ID{2}, Kind: c.kind, Amount: 1_750, Description: "D-1",
			Email: c.email, Locale: c.locale, ReturnURL: "https://x.example",
		}, pageOf(p, d, c.payer, "https://x.example"), name)
	}
}

func TestFeeOf_IsAskedAboutSoon(t *testing.T) {
	t.Parallel()
	d := &deposit.Deposit{ID: id.ID{2}}
	d.Amount = 50_000
	require.Equal(t, deposit.Payment{
		ID: id.ID{1}, DepositID: id.ID{2}, Kind: deposit.FeePayment, Amount: 1_750, Status: deposit.PaymentProcessing,
		CreatedAt: noon, CheckAt: noon.Add(30 * time.Second),
	}, feeOf(d, id.ID{1}, noon))
}

func TestDecideSimulation_EachOutcomeHasAWay(t *testing.T) {
	t.Parallel()
	type decision struct {
		way     way
		trigger deposit.Trigger
	}
	for outcome, want := range map[Simulation]decision{
		SimulateStart:       {byStart, ""},
		SimulateActivate:    {byPayment, deposit.Secured},
		SimulateFailPayment: {byPayment, deposit.FeeFailed},
		SimulateDecline:     {byEnd, deposit.TenantDeclined},
		SimulateAbandon:     {byEnd, deposit.TenantAbandoned},
		"explode":           {byNothing, ""},
		"":                  {byNothing, ""},
	} {
		for _, status := range deposit.Statuses {
			way, trigger := decideSimulation(outcome, status)
			require.Equal(t, want, decision{way, trigger}, "%s, %s", outcome, status)
		}
	}
	checkout, cover := decision{byEnd, deposit.CheckoutExpired}, decision{byTime, deposit.CoverageElapsed}
	for status, want := range map[deposit.Status]decision{
		deposit.Pending: checkout, deposit.Incomplete: checkout, deposit.PaymentIssue: checkout,
		deposit.Cancelled: checkout,
		deposit.Active:    cover, deposit.Closed: cover, deposit.Captured: cover,
	} {
		way, trigger := decideSimulation(SimulateExpire, status)
		require.Equal(t, want, decision{way, trigger}, status)
	}
}
