package checkout_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/checkout/checkouttest"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/app/checkout"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var (
	grace    = tenant.Person{Email: "grace@example.com", FirstName: "Grace", LastName: "Hopper", Locale: "en"}
	alan     = tenant.Person{Email: "alan@example.com", FirstName: "Alan", LastName: "Turing", Locale: "fr"}
	declined = tenant.Person{Email: "declined@example.com", FirstName: "De", LastName: "Clined"}
)

// bench is a checkouttest.Bench with the words of these tests.
type bench struct {
	*checkouttest.Bench
	t *testing.T
}

func setup(t *testing.T) bench {
	t.Parallel()
	return bench{checkouttest.New(t, checkouttest.DashboardURL), t}
}

func (b bench) ctx() context.Context { return context.WithoutCancel(b.t.Context()) }

func (b bench) submit(token secret.Text, p tenant.Person) checkout.Next {
	b.t.Helper()
	next, err := b.Service.Submit(b.ctx(), token, p)
	require.NoError(b.t, err)
	return next
}

func (b bench) comeBack(token secret.Text) checkout.View {
	b.t.Helper()
	next, err := b.Service.Return(b.ctx(), token)
	require.NoError(b.t, err)
	require.Empty(b.t, next.PageURL)
	return next.View
}

// fee gives the deposit's only fee payment.
func (b bench) fee(depositID id.ID) deposit.Payment {
	b.t.Helper()
	all := b.Payments(b.t, depositID, deposit.FeePayment)
	require.Len(b.t, all, 1)
	return all[0]
}

// pay is the tenant on the provider's page, with a good card or a bad one.
func (b bench) pay(depositID id.ID, good bool) {
	b.t.Helper()
	all := b.Payments(b.t, depositID, deposit.FeePayment)
	require.NoError(b.t, b.Sandbox.SimulatePayment(b.ctx(), all[len(all)-1].ID, good))
}

func (b bench) requireStatus(depositID id.ID, status deposit.Status, reason string) *deposit.Deposit {
	b.t.Helper()
	d := b.Load(b.t, depositID)
	require.Equal(b.t, status, d.Status)
	require.Equal(b.t, reason, d.StatusReason)
	return d
}

func (b bench) statuses(depositID id.ID) []deposit.PaymentStatus {
	b.t.Helper()
	var out []deposit.PaymentStatus
	for _, p := range b.Payments(b.t, depositID, deposit.FeePayment) {
		out = append(out, p.Status)
	}
	return out
}

func requireUnavailable(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestView_ShowsWhatTheTenantNeeds_AndChangesNothing(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t, checkouttest.Client("grace@example.com", "Grace", "Hopper"))
	v, err := b.Service.View(b.ctx(), token)
	require.NoError(t, err)
	require.Equal(t, checkouttest.Company, v.CompanyName)
	require.Equal(t, deposit.Fee(50_000), v.Fee)
	require.Equal(t, tenant.Person{Email: "grace@example.com", FirstName: "Grace", LastName: "Hopper"}, v.Person)
	require.True(t, v.Open)
	require.False(t, v.PaymentUnderWay)
	require.Zero(t, b.Load(t, d.ID).CheckoutStartedAt)

	_, err = b.Service.View(b.ctx(), "nothing")
	require.ErrorIs(t, err, deposit.ErrNotFound)
}

func TestSubmit_PaidAtTheProvider_SecuresTheDeposit(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	next := b.submit(token, grace)
	require.True(t, strings.HasPrefix(next.PageURL, checkouttest.DashboardURL+"/sandbox/pay/"))

	started := b.requireStatus(d.ID, deposit.Pending, "")
	require.Equal(t, b.Clock.Now(), started.CheckoutStartedAt)
	require.Equal(t, grace.Email, started.Client.Email)
	require.Equal(t, deposit.PaymentProcessing, b.fee(d.ID).Status)
	require.NotEmpty(t, b.fee(d.ID).ProviderRef)
	require.Empty(t, b.Events(t, d.ID))

	b.pay(d.ID, true)
	b.Clock.Add(time.Minute)
	v := b.comeBack(token)
	require.Equal(t, deposit.OutcomeSecured, v.Outcome())
	require.False(t, v.Open)
	secured := b.requireStatus(d.ID, deposit.Active, "")
	require.Equal(t, b.Clock.Now(), secured.ActivatedAt)
	require.Equal(t, deposit.PaymentSucceeded, b.fee(d.ID).Status)
	require.Equal(t, b.Clock.Now(), b.fee(d.ID).SettledAt)
	require.Equal(t, []string{"deposit.activated"}, b.Events(t, d.ID))
	require.Equal(t, []string{"pending>active tenant"}, b.Metrics.Steps())

	require.Equal(t, deposit.OutcomeSecured, b.comeBack(token).Outcome(), "coming back again changes nothing")
	require.Len(t, b.Events(t, d.ID), 1)
}

func TestSubmit_InvalidPerson_LeavesNothingBehind(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	for _, p := range []tenant.Person{{}, {Email: "x"}, {Email: "grace@example.com", FirstName: "G\x00", LastName: "H"}, {Email: "grace@example.com", FirstName: "G"}} {
		_, err := b.Service.Submit(b.ctx(), token, p)
		require.Equal(t, fault.Invalid, fault.KindOf(err))
	}
	require.Zero(t, b.Load(t, d.ID).CheckoutStartedAt)
	require.Zero(t, b.Scoring.Asked())
	_, err := b.Service.Submit(b.ctx(), "nothing", grace)
	require.ErrorIs(t, err, deposit.ErrNotFound)
}

func TestSubmit_RefusedByScoring_CancelsWithoutAPayment(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	next := b.submit(token, declined)
	require.Empty(t, next.PageURL)
	require.Equal(t, deposit.OutcomeDeclined, next.View.Outcome())
	cancelled := b.requireStatus(d.ID, deposit.Cancelled, "tenant_declined")
	require.Equal(t, declined.Email, cancelled.Client.Email)
	require.Empty(t, b.Payments(t, d.ID, deposit.FeePayment))
	require.Zero(t, b.Provider.Opened())
	require.Equal(t, []string{"deposit.cancelled"}, b.Events(t, d.ID))
}

func TestSubmit_SameDetails_KeepsTheClientOfThePartner(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t, checkouttest.Client("Grace@Example.com", "Grace", "Hopper"))
	b.submit(token, grace)
	require.Equal(t, d.ClientID, b.Load(t, d.ID).ClientID)
	b.submit(token, alan)
	require.NotEqual(t, d.ClientID, b.Load(t, d.ID).ClientID)
	require.Equal(t, "Turing", b.Load(t, d.ID).Client.LastName)
}

func TestSubmit_ManyAtOnce_IsOnePaymentOnOnePage(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	pages := make([]string, 20)
	var wg sync.WaitGroup
	for i := range pages {
		wg.Go(func() {
			next, err := b.Service.Submit(b.ctx(), token, grace)
			if err == nil {
				pages[i] = next.PageURL
			}
		})
	}
	wg.Wait()
	require.NotEmpty(t, pages[0])
	for _, page := range pages {
		require.Equal(t, pages[0], page)
	}
	require.Equal(t, deposit.PaymentProcessing, b.fee(d.ID).Status)
	require.Equal(t, 1, b.Provider.Opened())
}

func TestSubmit_ByAnotherPersonWhileOnePays_ScoresThem(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	page := b.submit(token, grace).PageURL
	require.Equal(t, 1, b.Scoring.Asked())
	b.submit(token, grace)
	require.Equal(t, 1, b.Scoring.Asked(), "who is paying was accepted")
	require.Equal(t, page[:len(page)-len("?lang=en")], strings.TrimSuffix(b.submit(token, alan).PageURL, "?lang=fr"))
	require.Equal(t, 2, b.Scoring.Asked())

	b.submit(token, declined)
	b.requireStatus(d.ID, deposit.Cancelled, "tenant_declined")
	require.Equal(t, deposit.PaymentVoided, b.fee(d.ID).Status)
	b.pay(d.ID, true)
	closed, err := b.Sandbox.Lookup(b.ctx(), b.fee(d.ID).ID)
	require.NoError(t, err)
	require.Equal(t, ports.ProviderClosed, closed.Status, "the page takes no money any more")
}

func TestSubmit_RefusedAfterSomebodyPaid_StaysSecured(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, true)
	require.Equal(t, deposit.OutcomeSecured, b.submit(token, declined).View.Outcome())
	require.Equal(t, grace.Email, b.requireStatus(d.ID, deposit.Active, "").Client.Email)
}

func TestSubmit_ScoringAway_DecidesNothing(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Scoring.Break(fault.ErrUnavailable)
	_, err := b.Service.Submit(b.ctx(), token, grace)
	requireUnavailable(t, err)
	require.Nil(t, b.requireStatus(d.ID, deposit.Pending, "").Client)
	require.Empty(t, b.Payments(t, d.ID, deposit.FeePayment))
	b.Scoring.Break(nil)
	require.NotEmpty(t, b.submit(token, grace).PageURL)
}

func TestSubmit_ProviderAway_KeepsThePaymentForTheNextTry(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Provider.Away(true)
	_, err := b.Service.Submit(b.ctx(), token, grace)
	requireUnavailable(t, err)
	begun := b.fee(d.ID)
	require.Equal(t, deposit.PaymentProcessing, begun.Status)
	_, err = b.Service.Return(b.ctx(), token)
	requireUnavailable(t, err)
	_, err = b.Service.Abandon(b.ctx(), token)
	requireUnavailable(t, err)
	b.requireStatus(d.ID, deposit.Pending, "")

	b.Provider.Away(false)
	b.submit(token, grace)
	require.Equal(t, begun.ID, b.fee(d.ID).ID)
	b.pay(d.ID, true)
	b.comeBack(token)
	b.requireStatus(d.ID, deposit.Active, "")
}

func TestSubmit_AfterTheCheckoutIsOver_ShowsTheDeposit(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Clock.Add(d.CheckoutExpiresAt.Sub(b.Clock.Now()))
	v := b.submit(token, grace).View
	require.False(t, v.Open)
	require.True(t, v.Expired)
	require.Empty(t, b.Payments(t, d.ID, deposit.FeePayment))
	next, err := b.Service.Abandon(b.ctx(), token)
	require.NoError(t, err)
	require.True(t, next.View.Expired)
	b.requireStatus(d.ID, deposit.Pending, "") // the scheduler's to cancel
}

func TestReturn_WithoutHavingPaid_ClosesThePage(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	require.True(t, b.comeBack(token).Open, "nothing was begun")
	b.submit(token, grace)
	v := b.comeBack(token)
	require.True(t, v.Open)
	require.False(t, v.PaymentUnderWay)
	require.Equal(t, deposit.PaymentVoided, b.fee(d.ID).Status)
	b.requireStatus(d.ID, deposit.Pending, "")

	b.submit(token, grace)
	require.Equal(t, []deposit.PaymentStatus{deposit.PaymentVoided, deposit.PaymentProcessing}, b.statuses(d.ID))
}

func TestReturn_AfterAFailedPayment_LeavesPaymentIssueToRecover(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, false)
	v := b.comeBack(token)
	require.True(t, v.Open)
	require.Equal(t, deposit.OutcomeDeclined, v.Outcome())
	b.requireStatus(d.ID, deposit.PaymentIssue, "fee_failed")
	require.NotEmpty(t, b.fee(d.ID).Failure)

	b.submit(token, grace)
	b.pay(d.ID, false)
	b.comeBack(token)
	require.Equal(t, 2, b.requireStatus(d.ID, deposit.PaymentIssue, "fee_failed").Version, "a second failure is no transition")

	b.submit(token, grace)
	b.pay(d.ID, true)
	b.comeBack(token)
	b.requireStatus(d.ID, deposit.Active, "")
	require.Equal(t, []deposit.PaymentStatus{deposit.PaymentFailed, deposit.PaymentFailed, deposit.PaymentSucceeded}, b.statuses(d.ID))
	require.Equal(t, []string{"deposit.status_changed", "deposit.activated"}, b.Events(t, d.ID))
	require.Equal(t, []string{"pending>payment_issue tenant", "payment_issue>active tenant"}, b.Metrics.Steps())
}

func TestAbandon_CancelsAndClosesThePage(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	next, err := b.Service.Abandon(b.ctx(), token)
	require.NoError(t, err)
	require.Equal(t, deposit.OutcomeAbandoned, next.View.Outcome())
	b.requireStatus(d.ID, deposit.Cancelled, "tenant_abandoned")
	require.Equal(t, deposit.PaymentVoided, b.fee(d.ID).Status)

	next, err = b.Service.Abandon(b.ctx(), token)
	require.NoError(t, err)
	require.Equal(t, deposit.OutcomeAbandoned, next.View.Outcome())
	require.Len(t, b.Events(t, d.ID), 1)
}

func TestAbandon_AfterPaying_IsSecured(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, true)
	next, err := b.Service.Abandon(b.ctx(), token)
	require.NoError(t, err)
	require.Equal(t, deposit.OutcomeSecured, next.View.Outcome())
	b.requireStatus(d.ID, deposit.Active, "")
}

func TestAbandon_WhileTheProviderCannotStopThePayment_IsToldToWait(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.Provider.OnAsk(func() ports.ProviderPayment { return ports.ProviderPayment{Status: ports.ProviderOpen} })
	_, err := b.Service.Abandon(b.ctx(), token)
	requireUnavailable(t, err)
	b.requireStatus(d.ID, deposit.Pending, "")
	require.Equal(t, deposit.PaymentProcessing, b.fee(d.ID).Status)
}

// The invariant rules this out; a database that was mended by hand does not.
func TestReturn_PaidOnACancelledDeposit_KeepsThePaymentAndTellsTheOperator(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, true)
	_, err := b.Pool.Exec(b.ctx(), `UPDATE deposits SET status = 'cancelled', status_reason = 'by_partner', cancelled_at = now(), version = version + 1 WHERE id = $1`, d.ID)
	require.NoError(t, err)
	b.comeBack(token)
	b.requireStatus(d.ID, deposit.Cancelled, "by_partner")
	require.Equal(t, deposit.PaymentSucceeded, b.fee(d.ID).Status)
	require.Contains(t, b.fee(d.ID).Failure, "refund")
	require.Equal(t, []string{"payment.orphaned"}, b.Audit(t, d.ID))
	require.Contains(t, b.Log.String(), "level=ERROR")
}

func TestLog_NeverHoldsATokenOrAnEmail(t *testing.T) {
	b := setup(t)
	_, token := b.Deposit(t)
	b.Provider.Away(true)
	_, err := b.Service.Submit(b.ctx(), token, grace)
	requireUnavailable(t, err)
	require.NotEmpty(t, b.Log.String())
	require.NotContains(t, b.Log.String(), token.Reveal())
	require.NotContains(t, b.Log.String(), grace.Email)
}
