//go:build !unit

package payments_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/payments"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	paymentports "partnerdeposits/ports/payments"
)

const day = 24 * time.Hour

// captured makes a captured deposit whose collection is due.
func (b bench) captured() (depositID, collectionID id.ID) {
	b.T.Helper()
	depositID, collectionID, _ = b.capturedWithToken()
	return depositID, collectionID
}

func (b bench) capturedWithToken() (depositID, collectionID id.ID, token secret.Text) {
	b.T.Helper()
	d, token := b.CreateDeposit(b.T)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	b.ReturnFromPayment(token)
	return d.ID, b.CaptureDeposit(b.T, d.ID), token
}

func (b bench) collection(depositID id.ID) deposit.Payment {
	b.T.Helper()
	all := b.PaymentsOf(b.T, depositID, deposit.PaymentKindCollection)
	require.Len(b.T, all, 1)
	return all[0]
}

// refuse lets the provider refuse every charge, in that class.
func (b bench) refuse(failure string, class paymentports.ChargeRefusalKind) *[]int {
	attempts := &[]int{}
	b.Provider.OnChargeStoredCard(func(r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
		*attempts = append(*attempts, r.Attempt)
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Ref: "ch_1", Failure: failure,
			Refusal: class}, nil
	})
	return attempts
}

func (b bench) debt(depositID id.ID) deposit.Debt {
	b.T.Helper()
	d, err := b.Payments.FindDebt(b.Ctx(), depositID)
	require.NoError(b.T, err)
	require.NotNil(b.T, d)
	return *d
}

// life is the history of a collection, each step as "from>to trigger actor".
func (b bench) life(depositID id.ID) []string {
	b.T.Helper()
	shown, err := b.Payments.ShowCollection(b.Ctx(), depositID)
	require.NoError(b.T, err)
	var out []string
	for _, s := range shown.History {
		out = append(out, string(s.From)+">"+string(s.To)+" "+string(s.Trigger)+" "+s.Actor.String())
	}
	return out
}

// mailTenants makes mails of the notices that wait, and gives the subjects of all mails to Grace.
func (b bench) mailTenants() (subjects []string) {
	b.T.Helper()
	told := payments.TenantNoticeMailer{
		Notices: b.Postgres.TenantNotices, Mails: b.Postgres.Mails, UnitOfWork: b.Postgres, Deposits: b.Postgres.Deposits,
		Operators: b.Postgres.Operators, Collections: b.Postgres.Collections, Refunds: b.Postgres.Refunds,
		Payments: b.Postgres.Payments, Agreements: b.Postgres.Agreements,
		Clock: b.Clock, Entropy: entropy{}, Log: discard, DashboardURL: "http://dash.test",
	}
	_, err := told.ScheduledJob(time.Second).Run(b.Ctx())
	require.NoError(b.T, err)
	for _, m := range b.ListMails(grace.Email) {
		subjects = append(subjects, m.Subject)
	}
	return subjects
}

func TestCollect_AtOnce_IsPaid(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	require.Equal(t, deposit.CollectionScheduled, b.debt(depositID).State)
	require.Equal(t, b.Clock.Now(), b.debt(depositID).NextAttemptAt)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, []string{"scheduled>paid charged scheduler"}, b.life(depositID))
	paid := b.debt(depositID)
	require.Equal(t, []any{deposit.CollectionPaid, 1, true, b.Clock.Now()},
		[]any{paid.State, paid.Attempt, paid.Answered, paid.EndedAt})
	require.Equal(t, 1, b.collection(depositID).Attempts)
}

func TestCollect_LackOfFunds_IsPaidOnTheThirdDay(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	begun := b.Clock.Now()
	attempts := b.refuse("insufficient_funds", paymentports.ChargeRefusedForNow)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.Equal(t, deposit.CollectionRetrying, b.debt(depositID).State)
	require.Equal(t, begun.Add(day), b.debt(depositID).NextAttemptAt)
	require.Equal(t, "insufficient_funds", b.debt(depositID).Failure)
	b.Clock.Add(day - time.Second)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.Equal(t, []int{1}, *attempts, "not before its time")
	b.Clock.Add(time.Second)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.Equal(t, []int{1, 2}, *attempts)
	require.Equal(t, begun.Add(3*day), b.debt(depositID).NextAttemptAt)
	b.Provider.OnChargeStoredCard(nil)
	b.Clock.Set(begun.Add(3 * day))
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, []string{"scheduled>retrying refused_for_now scheduler",
		"retrying>retrying refused_for_now scheduler", "retrying>paid charged scheduler"}, b.life(depositID))
	require.Empty(t, b.debt(depositID).Failure)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
}

// During a rolling deployment an older dispatcher may end what a new one has begun, and the other way round. The older
// one knows the clock by the text "dispatcher" alone.
func TestCollect_AnEndByTheClock_IsStoredAsEveryVersionReadsIt(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Clock.Add(deposit.DebtExpiresAfter)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, []string{"scheduled>failed expired scheduler"}, b.life(depositID))
	require.Equal(t, 1, b.Count("collections", "cancel_by = 'dispatcher'"))
	require.Equal(t, 1, b.Count("audit_log", "action = 'payment.collection_failed' AND actor = 'scheduler'"))
}

func TestCollect_AnEndByTheClockOfAnOlderVersion_IsExpired(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.exec(`UPDATE collections SET cancel_at = now(), cancel_by = 'dispatcher'`)
	require.Equal(t, actor.Clock, b.debt(depositID).CancelBy)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, []string{"scheduled>failed expired scheduler"}, b.life(depositID))
	b.exec(`UPDATE collection_steps SET actor = 'dispatcher'`)
	require.Equal(t, []string{"scheduled>failed expired scheduler"}, b.life(depositID), "a step of an older version")
}

func TestCollect_EveryTimeOfTheScheduleRefused_AwaitsTheTenant(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	attempts := b.refuse("insufficient_funds", paymentports.ChargeRefusedForNow)
	for range 10 {
		b.RequireJobCount(0, b.Payments.CheckDuePayments)
		b.Clock.Add(day)
	}
	require.Equal(t, []int{1, 2, 3, 4}, *attempts)
	require.Equal(t, deposit.CollectionAwaitingTenant, b.debt(depositID).State)
	require.Equal(t, deposit.PaymentProcessing, b.collection(depositID).Status, "the debt is not over")
	b.RequireStatus(depositID, deposit.Captured, "claim")
	b.Clock.Add(160 * day)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	b.Clock.Add(10 * day)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, "awaiting_tenant>failed expired scheduler", b.life(depositID)[4])
	require.Equal(t, deposit.PaymentFailed, b.collection(depositID).Status)
	require.Equal(t, []string{"payment.collection_failed"}, b.AuditActions(t, depositID))
}

func TestCollect_HardRefusal_TheTenantPaysOnThePage(t *testing.T) {
	b := setup(t)
	depositID, collectionID, token := b.capturedWithToken()
	attempts := b.refuse("lost_card", paymentports.ChargeRefusedForGood)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	b.Clock.Add(30 * day)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.Equal(t, []int{1}, *attempts, "no automatic charge follows")
	require.Equal(t, []string{"scheduled>awaiting_tenant card_refused scheduler"}, b.life(depositID))
	require.Equal(t, []string{
		"Les Gîtes d’Ada claims €500.00 of your rental deposit",
		"Please pay €500.00 for your rental deposit"}, b.mailTenants(), "in the language in which the tenant agreed")
	require.Contains(t, b.ListMails(grace.Email)[0].Body, "Broken coffee table")
	require.Contains(t, b.ListMails(grace.Email)[1].Body, "http://dash.test/checkout/"+token.Reveal()+"\n")

	b.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen}
	})
	b.Provider.OnOpenPage(func(r paymentports.HostedPageRequest) (paymentports.HostedPage, error) {
		require.Equal(t, []any{collectionID, depositID, deposit.PaymentKindCollection, b.LoadDeposit(t,
			depositID).CapturedAmount},
			[]any{r.PaymentID, r.DepositID, r.Kind, r.Amount})
		return paymentports.HostedPage{Ref: "cs_1", URL: "https://pay.test/cs_1"}, nil
	})
	next, err := b.Checkout.StartDebtPayment(b.Ctx(), token)
	require.NoError(t, err)
	require.Equal(t, "https://pay.test/cs_1", next.PageURL)
	again, err := b.Checkout.StartDebtPayment(b.Ctx(), token) // another tab
	require.NoError(t, err)
	require.Equal(t, next.PageURL, again.PageURL)
	require.Equal(t, deposit.CollectionAwaitingTenant, b.ReturnFromPayment(token).Debt.State, "came back without paying")
	b.Clock.Add(30 * time.Second)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.LessOrEqual(t, b.collection(depositID).CheckAt.Sub(b.Clock.Now()), time.Minute,
		"a payment on the page is known soon")

	b.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentSucceeded, Ref: "cs_1"}
	})
	require.Equal(t, deposit.CollectionPaid, b.ReturnFromPayment(token).Debt.State)
	require.Equal(t, "awaiting_tenant>paid paid_by_tenant tenant", b.life(depositID)[1])
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
	require.Len(t, b.mailTenants(), 3)
	next, err = b.Checkout.StartDebtPayment(b.Ctx(), token)
	require.NoError(t, err)
	require.Empty(t, next.PageURL, "paid already")
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
}

func TestCollect_PageIsPaidAndTheTenantLeft_IsFoundByTheReconciler(t *testing.T) {
	b := setup(t)
	depositID, _, token := b.capturedWithToken()
	b.refuse("authentication_required", paymentports.ChargeRefusedUntilTenantActs)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	b.Provider.OnOpenPage(func(paymentports.HostedPageRequest) (paymentports.HostedPage, error) {
		return paymentports.HostedPage{URL: "https://pay.test/cs_1"}, nil
	})
	_, err := b.Checkout.StartDebtPayment(b.Ctx(), token)
	require.NoError(t, err)
	b.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen}
	})
	var asked []time.Duration
	opened := b.Clock.Now()
	for range 6 {
		b.Clock.Set(b.collection(depositID).CheckAt)
		asked = append(asked, b.Clock.Now().Sub(opened))
		b.RequireJobCount(0, b.Payments.CheckDuePayments)
	}
	require.Equal(t, []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute,
		12 * time.Minute}, asked)
	b.Clock.Set(opened.Add(26 * time.Hour))
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.Equal(t, b.debt(depositID).CapturedAt.Add(deposit.DebtExpiresAfter), b.collection(depositID).CheckAt,
		"the page is dead")
	b.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentSucceeded}
	})
	// a notice of the provider is a reason to ask
	b.exec(`UPDATE payments SET check_at = $2 WHERE deposit_id = $1`, depositID, b.Clock.Now())
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, deposit.CollectionPaid, b.debt(depositID).State)
}

// Outages and lost answers are no attempts: the same attempt is asked for again, and charges once.
func TestCollect_AnswerLost_AsksForTheSameAttempt(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	var attempts []int
	b.Provider.OnChargeStoredCard(func(r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
		attempts = append(attempts, r.Attempt)
		if len(attempts) < 3 {
			return paymentports.ProviderPayment{}, context.DeadlineExceeded
		}
		return b.Sandbox.ChargeStoredCard(b.Ctx(), r)
	})
	for range 3 {
		_, err := b.Payments.CheckDuePayments(b.Ctx())
		require.NoError(t, err)
		b.Clock.Add(time.Minute)
	}
	require.Equal(t, []int{1, 1, 1}, attempts)
	require.Equal(t, deposit.CollectionPaid, b.debt(depositID).State)
}

// Two dispatchers, and a command beside them, make an attempt at the same time.
func TestCollect_TwoProcessesAtOnce_AskForOneAttemptAndRecordOnce(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	var mu sync.Mutex
	seen := map[int]int{}
	gate := make(chan struct{})
	b.Provider.OnChargeStoredCard(func(r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
		mu.Lock()
		seen[r.Attempt]++
		if len(seen) == 1 && seen[r.Attempt] == 2 {
			close(gate)
		}
		mu.Unlock()
		select {
		case <-gate:
		case <-time.After(10 * time.Second): // the other asked for another attempt
		}
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Failure: "insufficient_funds",
			Refusal: paymentports.ChargeRefusedForNow}, nil
	})
	var both sync.WaitGroup
	for range 2 {
		other := b.BuildServices()
		both.Go(func() {
			_, err := other.Payments.RetryCollection(b.Ctx(), depositID)
			require.NoError(t, err)
		})
	}
	both.Wait()
	require.Equal(t, map[int]int{1: 2}, seen)
	require.Equal(t, 1, b.debt(depositID).Attempt)
	require.Equal(t, "scheduled>retrying refused_for_now scheduler", b.life(depositID)[len(b.life(depositID))-1])
}
