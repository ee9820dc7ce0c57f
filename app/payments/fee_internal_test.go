package payments

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	paymentports "partnerdeposits/ports/payments"
)

func TestDecideFee_EveryAnswerInEveryStatus_ByTheTimeOfThePayment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   time.Duration // of the payment, from the end of the stay
		open bool          // the stay was not over then
	}{
		"long before the end": {-30 * 24 * time.Hour, true}, "in the last microsecond": {-time.Microsecond, true},
		"at the end": {0, false}, "a microsecond later": {time.Microsecond, false},
		"months later": {90 * 24 * time.Hour, false},
	} {
		for _, status := range deposit.Statuses {
			d := &deposit.Deposit{Status: status, CheckoutExpiresAt: noon.Add(24 * time.Hour)}
			d.ContractEndAt = noon
			open := c.open && status.InCheckout()
			moves := open && status != deposit.PaymentIssue
			for fee, want := range map[deposit.PaymentStatus]struct {
				trigger deposit.Trigger
				next    feeEffect
			}{
				deposit.PaymentSucceeded: {map[bool]deposit.Trigger{true: deposit.TriggerSecured}[open],
					map[bool]feeEffect{true: feeMoves, false: feeOrphaned}[open]},
				deposit.PaymentFailed: {map[bool]deposit.Trigger{true: deposit.TriggerFeeFailed}[moves],
					map[bool]feeEffect{true: feeMoves, false: map[bool]feeEffect{true: feeStays,
						false: feeOrphaned}[status.InCheckout()]}[moves]},
				deposit.PaymentVoided: {"", feeStays},
			} {
				trigger, next := decideFee(fee, d, noon.Add(c.at))
				require.Equal(t, []any{want.trigger, want.next}, []any{trigger, next}, "%s, %s, %s", name, status, fee)
			}
		}
	}
}

func TestSettle_EveryAnswerEndsThePayment(t *testing.T) {
	t.Parallel()
	for answer, want := range map[paymentports.ProviderPaymentStatus]struct {
		status deposit.PaymentStatus
		result paymentports.PaymentResult
		open   bool
	}{
		paymentports.ProviderPaymentSucceeded: {deposit.PaymentSucceeded, paymentports.PaymentSucceeded, false},
		paymentports.ProviderPaymentFailed:    {deposit.PaymentFailed, paymentports.PaymentRefused, false},
		paymentports.ProviderPaymentClosed:    {deposit.PaymentVoided, paymentports.PaymentVoided, false},
		paymentports.ProviderPaymentUnknown:   {deposit.PaymentVoided, paymentports.PaymentVoided, true},
		paymentports.ProviderPaymentOpen:      {deposit.PaymentVoided, paymentports.PaymentVoided, true},
	} {
		p := deposit.Payment{Status: deposit.PaymentProcessing, ProviderRef: "pi_1", Failure: "earlier"}
		settle(&p, paymentports.ProviderPayment{Status: answer}, noon)
		require.Equal(t, deposit.Payment{Status: want.status, ProviderRef: "pi_1", SettledAt: noon}, p, answer)
		require.Equal(t, want.result, resultOf(answer), answer)
		require.Equal(t, want.open, undecided(answer), answer)
	}
	var p deposit.Payment
	settle(&p, paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Ref: "pi_2",
		Failure: "card_declined"},
		noon)
	require.Equal(t, deposit.Payment{
		Status: deposit.PaymentFailed, ProviderRef: "pi_2", Failure: "card_declined", SettledAt: noon,
	}, p)
}

func TestDecideRefund_SettledOrAskedAboutAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  paymentports.ProviderRefund
		age     time.Duration
		check   time.Duration // from now; 0: not asked again
		settled bool
	}{
		"made": {paymentports.ProviderRefund{Status: "succeeded", Ref: "re_1"}, 0, 0, true},
		"refused": {
			paymentports.ProviderRefund{Status: "failed", Ref: "re_1", Failure: "expired_card"}, 0, 0, true,
		},
		"pending": {paymentports.ProviderRefund{Status: "pending", Ref: "re_1"}, 0, time.Minute, false},
		"pending for ten minutes": {
			paymentports.ProviderRefund{Status: "pending"}, 10 * time.Minute, 10 * time.Minute, false,
		},
		"pending for several hours": {paymentports.ProviderRefund{Status: "pending"}, 7 * time.Hour, time.Hour, false},
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
	for _, status := range paymentports.ProviderPaymentStatuses {
		require.False(t, neverArrived(status, 2*time.Minute-1), "%s: the request may be on its way", status)
		require.Equal(t, status == paymentports.ProviderPaymentUnknown, neverArrived(status, 2*time.Minute), status)
		want := status
		if status == paymentports.ProviderPaymentUnknown {
			want = paymentports.ProviderPaymentClosed
		}
		require.Equal(t, want, closedFor(status), status)
	}
}

func TestPostponed_KeepsReferenceAndFailureUnlessTheAnswerHasThem(t *testing.T) {
	t.Parallel()
	p := deposit.Payment{ID: id.ID{1}, ProviderRef: "cs_1", Failure: "card_declined", Attempts: 1}
	want := deposit.Payment{ID: id.ID{1}, ProviderRef: "cs_1", Failure: "card_declined", Attempts: 2, CheckAt: noon}
	require.Equal(t, want, postponed(p, paymentports.ProviderPayment{}, 2, noon))
	want.ProviderRef, want.Failure = "pi_1", "expired_card"
	require.Equal(t, want, postponed(p, paymentports.ProviderPayment{Ref: "pi_1", Failure: "expired_card"}, 2, noon))
}

func TestFeeAmong_IsTheOldestFeeWithThatStatus(t *testing.T) {
	t.Parallel()
	all := []deposit.Payment{
		{ID: id.ID{1}, Kind: deposit.PaymentKindFee, Status: deposit.PaymentVoided},
		{ID: id.ID{2}, Kind: deposit.PaymentKindCollection, Status: deposit.PaymentSucceeded},
		{ID: id.ID{3}, Kind: deposit.PaymentKindFee, Status: deposit.PaymentSucceeded},
		{ID: id.ID{4}, Kind: deposit.PaymentKindFee, Status: deposit.PaymentSucceeded},
	}
	require.Equal(t, &all[2], feeAmong(all, deposit.PaymentSucceeded))
	require.Nil(t, feeAmong(all, deposit.PaymentProcessing))
}

func TestPageOf_AddressAndLanguageOfWhoeverPays(t *testing.T) {
	t.Parallel()
	client := &deposit.ClientDetails{Email: "grace@example.com"}
	payer := &tenant.Person{Email: "tina@example.com", Locale: "fr"}
	const fee, frais, claim = "Fee for the deposit of Chalet Neuf, 1 Aug 2026",
		"Frais pour la caution de Chalet Neuf, 1er août 2026", "Claim of Chalet Neuf on the deposit, 1 Aug 2026"
	for name, c := range map[string]struct {
		kind          deposit.PaymentKind
		client        *deposit.ClientDetails
		payer         *tenant.Person
		email, locale string
		description   string
	}{
		"a fee":                            {deposit.PaymentKindFee, nil, payer, "tina@example.com", "fr", frais},
		"a fee of a known client":          {deposit.PaymentKindFee, client, payer, "tina@example.com", "fr", frais},
		"a fee, and nobody is named":       {deposit.PaymentKindFee, nil, nil, "", "en", fee},
		"a fee, whose client is not asked": {deposit.PaymentKindFee, client, nil, "", "en", fee},
		"a debt":                           {deposit.PaymentKindCollection, client, nil, "grace@example.com", "en", claim},
		"a debt of an erased client":       {deposit.PaymentKindCollection, nil, nil, "", "en", claim},
	} {
		p := deposit.Payment{ID: id.ID{1}, Kind: c.kind, Amount: 1_750}
		d := &deposit.Deposit{ID: id.ID{2}, Reference: "D-1", Client: c.client}
		d.Locale, d.ContractStartAt, d.ContractEndAt = "en", noon, noon
		ends := map[deposit.PaymentKind]time.Time{deposit.PaymentKindFee: noon}[c.kind] // that of a debt has no end
		require.Equal(t, paymentports.HostedPageRequest{
			PaymentID: id.ID{1}, DepositID: id.ID{2}, Kind: c.kind, Amount: 1_750, Description: c.description,
			Email: c.email, Locale: c.locale, ReturnURL: "https://x.example", EndsAt: ends,
		}, pageOf(p, d, connect.Account{CompanyName: "Chalet Neuf"}, c.payer, "https://x.example"), name)
	}
}

func TestFeeOf_IsAskedAboutSoon_AndAtTheEndOfTheStay(t *testing.T) {
	t.Parallel()
	for left, wait := range map[time.Duration]time.Duration{
		time.Hour: 30 * time.Second, 30 * time.Second: 30 * time.Second, time.Second: time.Second, 0: 0,
		-time.Second: -time.Second, // the form was sent in time, and its payment begins late
	} {
		d := &deposit.Deposit{ID: id.ID{2}}
		d.Amount, d.ContractEndAt = 50_000, noon.Add(left)
		require.Equal(t, deposit.Payment{
			ID: id.ID{1}, DepositID: id.ID{2}, Kind: deposit.PaymentKindFee, Amount: 1_750, Status: deposit.PaymentProcessing,
			CreatedAt: noon, CheckAt: noon.Add(wait),
		}, feeOf(d, id.ID{1}, noon), left)
	}
	d := &deposit.Deposit{}
	d.ContractEndAt = noon.Add(3 * time.Minute)
	require.Equal(t, noon.Add(2*time.Minute), nextFeeCheck(d, 2, noon))
	require.Equal(t, d.ContractEndAt, nextFeeCheck(d, 3, noon), "not after four minutes")
}

func TestDecideSimulation_EachOutcomeHasAWay(t *testing.T) {
	t.Parallel()
	type decision struct {
		way     way
		trigger deposit.Trigger
	}
	for outcome, want := range map[SimulatedEvent]decision{
		SimulatedCheckoutStart:  {byStart, ""},
		SimulatedActivation:     {byPayment, deposit.TriggerSecured},
		SimulatedPaymentFailure: {byPayment, deposit.TriggerFeeFailed},
		SimulatedRefusal:        {byEnd, deposit.TriggerTenantDeclined},
		SimulatedAbandonment:    {byEnd, deposit.TriggerTenantAbandoned},
		"explode":               {byNothing, ""},
		"":                      {byNothing, ""},
	} {
		for _, status := range deposit.Statuses {
			way, trigger := decideSimulation(outcome, status)
			require.Equal(t, want, decision{way, trigger}, "%s, %s", outcome, status)
		}
	}
	checkout, cover := decision{byEnd, deposit.TriggerCheckoutExpired}, decision{byTime, deposit.TriggerCoverElapsed}
	for status, want := range map[deposit.Status]decision{
		deposit.Pending: checkout, deposit.Incomplete: checkout, deposit.PaymentIssue: checkout,
		deposit.Cancelled: checkout,
		deposit.Active:    cover, deposit.Closed: cover, deposit.Captured: cover,
	} {
		way, trigger := decideSimulation(SimulatedExpiry, status)
		require.Equal(t, want, decision{way, trigger}, status)
	}
}

func TestSimulate_WithoutASimulator_DoesNotExist(t *testing.T) {
	t.Parallel()
	_, err := New(Deps{}).Simulate(t.Context(), id.ID{1}, id.ID{2}, SimulatedActivation)
	require.ErrorIs(t, err, fault.ErrRouteNotFound)
}
