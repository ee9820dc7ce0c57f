//go:build !unit

package checkout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

var grace, alan, declined = checkouttest.TenantGraceHopper, checkouttest.TenantAlanTuring, checkouttest.DeclinedTenant

func requireUnavailable(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestView_ShowsWhatTheTenantNeeds_AndChangesNothing(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t, checkouttest.WithClient("grace@example.com", "Grace", "Hopper"))
	v, err := b.Checkout.CheckoutView(b.Ctx(), token)
	require.NoError(t, err)
	require.Equal(t, checkouttest.CompanyName, v.CompanyName)
	require.Equal(t, deposit.Fee(50_000), v.Fee)
	require.Equal(t, tenant.Person{Email: "grace@example.com", FirstName: "Grace", LastName: "Hopper"}, v.Person)
	require.True(t, v.Open)
	require.False(t, v.PaymentInFlight)
	require.Zero(t, b.LoadDeposit(t, d.ID).CheckoutStartedAt)

	_, err = b.Checkout.CheckoutView(b.Ctx(), "nothing")
	require.ErrorIs(t, err, deposit.ErrNotFound)
}

func TestSubmit_PaidAtTheProvider_SecuresTheDeposit(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	next := b.SubmitCheckoutForm(token, grace)
	require.True(t, strings.HasPrefix(next.PageURL, checkouttest.DashboardURL+"/sandbox/pay/"))

	started := b.RequireStatus(d.ID, deposit.Pending, "")
	require.Equal(t, b.Clock.Now(), started.CheckoutStartedAt)
	require.Equal(t, grace.Email, started.Client.Email)
	require.Equal(t, deposit.PaymentProcessing, b.LoadFeePayment(d.ID).Status)
	require.NotEmpty(t, b.LoadFeePayment(d.ID).ProviderRef)
	require.Empty(t, b.EventNames(t, d.ID))

	b.PayOnPaymentPage(d.ID, true)
	b.Clock.Add(time.Minute)
	v := b.ReturnFromPayment(token)
	require.Equal(t, deposit.OutcomeSecured, v.ReturnOutcome())
	require.False(t, v.Open)
	secured := b.RequireStatus(d.ID, deposit.Active, "")
	require.Equal(t, b.Clock.Now(), secured.ActivatedAt)
	require.Equal(t, deposit.PaymentSucceeded, b.LoadFeePayment(d.ID).Status)
	require.Equal(t, b.Clock.Now(), b.LoadFeePayment(d.ID).SettledAt)
	require.Equal(t, []string{"deposit.activated"}, b.EventNames(t, d.ID))
	require.Equal(t, []string{"pending>active tenant"}, b.Metrics.Transitions())

	require.Equal(t, deposit.OutcomeSecured, b.ReturnFromPayment(token).ReturnOutcome(),
		"coming back again changes nothing")
	require.Len(t, b.EventNames(t, d.ID), 1)
}

func TestSubmit_OfAFormThatIsRefused_LeavesNothingBehind(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	for _, p := range []tenant.Person{{}, {Email: "x"}, {Email: "grace@example.com", FirstName: "G\x00", LastName: "H"},
		{Email: "grace@example.com", FirstName: "G"}} {
		_, err := b.Checkout.Submit(b.Ctx(), token, p, checkouttest.TenantAgreement)
		require.Equal(t, fault.Invalid, fault.KindOf(err))
	}
	for want, given := range map[error]agreement.SubmittedForm{
		agreement.ErrMissing: {Locale: "en"},
		agreement.ErrChanged: {Agreed: true, Locale: "en", PageWords: agreement.Fingerprint("other words")},
	} {
		_, err := b.Checkout.Submit(b.Ctx(), token, grace, given)
		require.ErrorIs(t, err, want)
	}
	require.Empty(t, records(b, d.ID))
	require.Zero(t, b.LoadDeposit(t, d.ID).CheckoutStartedAt)
	require.Zero(t, b.Scoring.AssessmentCount())
	_, err := b.Checkout.Submit(b.Ctx(), "nothing", grace, checkouttest.TenantAgreement)
	require.ErrorIs(t, err, deposit.ErrNotFound)
}

func TestSubmit_RefusedByScoring_CancelsWithoutAPayment(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	next := b.SubmitCheckoutForm(token, declined)
	require.Empty(t, next.PageURL)
	require.Equal(t, deposit.OutcomeDeclined, next.View.ReturnOutcome())
	cancelled := b.RequireStatus(d.ID, deposit.Cancelled, "tenant_declined")
	require.Equal(t, declined.Email, cancelled.Client.Email)
	require.Empty(t, b.PaymentsOf(t, d.ID, deposit.PaymentKindFee))
	require.Empty(t, records(b, d.ID), "nothing is charged, so no evidence is kept")
	require.Zero(t, b.Provider.OpenedPageCount())
	require.Equal(t, []string{"deposit.cancelled"}, b.EventNames(t, d.ID))
}

func TestSubmit_SameDetails_KeepsTheClientOfThePartner(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t, checkouttest.WithClient("Grace@Example.com", "Grace", "Hopper"))
	b.SubmitCheckoutForm(token, grace)
	require.Equal(t, d.ClientID, b.LoadDeposit(t, d.ID).ClientID)
	b.SubmitCheckoutForm(token, alan)
	require.NotEqual(t, d.ClientID, b.LoadDeposit(t, d.ID).ClientID)
	require.Equal(t, "Turing", b.LoadDeposit(t, d.ID).Client.LastName)
}

func TestSubmit_ByAnotherPersonWhileOnePays_ScoresThem(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	page := b.SubmitCheckoutForm(token, grace).PageURL
	require.Equal(t, 1, b.Scoring.AssessmentCount())
	b.SubmitCheckoutForm(token, grace)
	require.Equal(t, 1, b.Scoring.AssessmentCount(), "who is paying was accepted")
	require.Equal(t, page[:len(page)-len("?lang=en")],
		strings.TrimSuffix(b.SubmitCheckoutForm(token, alan).PageURL, "?lang=fr"))
	require.Equal(t, 2, b.Scoring.AssessmentCount())

	b.SubmitCheckoutForm(token, declined)
	b.RequireStatus(d.ID, deposit.Cancelled, "tenant_declined")
	require.Equal(t, deposit.PaymentVoided, b.LoadFeePayment(d.ID).Status)
	b.PayOnPaymentPage(d.ID, true)
	closed, err := b.Sandbox.LookupPayment(b.Ctx(), b.LoadFeePayment(d.ID).ID)
	require.NoError(t, err)
	require.Equal(t, paymentports.ProviderPaymentClosed, closed.Status, "the page takes no money any more")
}

func TestSubmit_RefusedAfterSomebodyPaid_StaysSecured(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	require.Equal(t, deposit.OutcomeSecured, b.SubmitCheckoutForm(token, declined).View.ReturnOutcome())
	require.Equal(t, grace.Email, b.RequireStatus(d.ID, deposit.Active, "").Client.Email)
}

func TestSubmit_ScoringAway_DecidesNothing(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.Scoring.SetError(fault.ErrUnavailable)
	_, err := b.Checkout.Submit(b.Ctx(), token, grace, checkouttest.TenantAgreement)
	requireUnavailable(t, err)
	require.Nil(t, b.RequireStatus(d.ID, deposit.Pending, "").Client)
	require.Empty(t, b.PaymentsOf(t, d.ID, deposit.PaymentKindFee))
	b.Scoring.SetError(nil)
	require.NotEmpty(t, b.SubmitCheckoutForm(token, grace).PageURL)
}

func TestSubmit_ProviderAway_KeepsThePaymentForTheNextTry(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.Provider.SetUnreachable(true)
	_, err := b.Checkout.Submit(b.Ctx(), token, grace, checkouttest.TenantAgreement)
	requireUnavailable(t, err)
	begun := b.LoadFeePayment(d.ID)
	require.Equal(t, deposit.PaymentProcessing, begun.Status)
	_, err = b.Checkout.HandleReturn(b.Ctx(), token, true)
	requireUnavailable(t, err)
	_, err = b.Checkout.Abandon(b.Ctx(), token)
	requireUnavailable(t, err)
	b.RequireStatus(d.ID, deposit.Pending, "")
	require.NotEmpty(t, b.Log.String())
	require.NotContains(t, b.Log.String(), token.Reveal())
	require.NotContains(t, b.Log.String(), grace.Email)

	b.Provider.SetUnreachable(false)
	b.SubmitCheckoutForm(token, grace)
	require.Equal(t, begun.ID, b.LoadFeePayment(d.ID).ID)
	b.PayOnPaymentPage(d.ID, true)
	b.ReturnFromPayment(token)
	b.RequireStatus(d.ID, deposit.Active, "")
}

func TestSubmit_AfterTheCheckoutIsOver_ShowsTheDeposit(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.Clock.Add(d.CheckoutExpiresAt.Sub(b.Clock.Now()))
	v := b.SubmitCheckoutForm(token, grace).View
	require.False(t, v.Open)
	require.True(t, v.Expired)
	require.Empty(t, b.PaymentsOf(t, d.ID, deposit.PaymentKindFee))
	next, err := b.Checkout.Abandon(b.Ctx(), token)
	require.NoError(t, err)
	require.True(t, next.View.Expired)
	b.RequireStatus(d.ID, deposit.Pending, "") // the timer cancels it later
}

func TestReturn_WithoutHavingPaid_ClosesThePage(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	require.True(t, b.ReturnFromPayment(token).Open, "nothing was begun")
	b.SubmitCheckoutForm(token, grace)
	v := b.ReturnFromPayment(token)
	require.True(t, v.Open)
	require.False(t, v.PaymentInFlight)
	require.Equal(t, deposit.PaymentVoided, b.LoadFeePayment(d.ID).Status)
	b.RequireStatus(d.ID, deposit.Pending, "")

	b.SubmitCheckoutForm(token, grace)
	require.Equal(t, []deposit.PaymentStatus{deposit.PaymentVoided, deposit.PaymentProcessing}, b.FeeStatuses(d.ID))
}

func TestReturn_AfterAFailedPayment_LeavesPaymentIssueToRecover(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, false)
	v := b.ReturnFromPayment(token)
	require.True(t, v.Open)
	require.Equal(t, deposit.OutcomeDeclined, v.ReturnOutcome())
	b.RequireStatus(d.ID, deposit.PaymentIssue, "fee_failed")
	require.NotEmpty(t, b.LoadFeePayment(d.ID).Failure)

	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, false)
	b.ReturnFromPayment(token)
	require.Equal(t, 2, b.RequireStatus(d.ID, deposit.PaymentIssue, "fee_failed").Version,
		"a second failure is no transition")

	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	b.ReturnFromPayment(token)
	b.RequireStatus(d.ID, deposit.Active, "")
	require.Equal(t, []deposit.PaymentStatus{deposit.PaymentFailed, deposit.PaymentFailed, deposit.PaymentSucceeded},
		b.FeeStatuses(d.ID))
	require.Equal(t, []string{"deposit.status_changed", "deposit.activated"}, b.EventNames(t, d.ID))
	require.Equal(t, []string{"pending>payment_issue tenant", "payment_issue>active tenant"}, b.Metrics.Transitions())
}

func TestAbandon_CancelsAndClosesThePage(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	next, err := b.Checkout.Abandon(b.Ctx(), token)
	require.NoError(t, err)
	require.Equal(t, deposit.OutcomeAbandoned, next.View.ReturnOutcome())
	b.RequireStatus(d.ID, deposit.Cancelled, "tenant_abandoned")
	require.Equal(t, deposit.PaymentVoided, b.LoadFeePayment(d.ID).Status)

	next, err = b.Checkout.Abandon(b.Ctx(), token)
	require.NoError(t, err)
	require.Equal(t, deposit.OutcomeAbandoned, next.View.ReturnOutcome())
	require.Len(t, b.EventNames(t, d.ID), 1)
}

func TestAbandon_AfterPaying_IsSecured(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	next, err := b.Checkout.Abandon(b.Ctx(), token)
	require.NoError(t, err)
	require.Equal(t, deposit.OutcomeSecured, next.View.ReturnOutcome())
	b.RequireStatus(d.ID, deposit.Active, "")
}

func TestAbandon_WhileTheProviderCannotStopThePayment_IsToldToWait(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen}
	})
	_, err := b.Checkout.Abandon(b.Ctx(), token)
	requireUnavailable(t, err)
	b.RequireStatus(d.ID, deposit.Pending, "")
	require.Equal(t, deposit.PaymentProcessing, b.LoadFeePayment(d.ID).Status)
}

// The invariant of app/payments rules this out; a database changed by hand does not.
func TestReturn_PaidOnACancelledDeposit_RefundsTheFee(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	b.PayOnPaymentPage(d.ID, true)
	_, err := b.Pool.Exec(b.Ctx(),
		`UPDATE deposits SET status = 'cancelled', status_reason = 'by_partner', cancelled_at = now(), version = version + 1
			WHERE id = $1`,
		d.ID)
	require.NoError(t, err)
	b.ReturnFromPayment(token)
	b.RequireStatus(d.ID, deposit.Cancelled, "by_partner")
	require.Equal(t, deposit.PaymentSucceeded, b.LoadFeePayment(d.ID).Status)
	require.Equal(t, []string{"payment.orphaned"}, b.AuditActions(t, d.ID))
	require.Contains(t, b.Log.String(), "level=WARN")
	require.Contains(t, b.Log.String(), "is refunded")
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, 1, b.Count("refunds", "deposit_id = $1 AND status = 'succeeded' AND amount_cents = 1750", d.ID))
	require.Equal(t, 1, b.Count("tenant_notices", "kind = 'refunded'"))
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
}

func records(b checkouttest.Steps, depositID id.ID) []agreement.Record {
	b.T.Helper()
	all, err := b.Postgres.Agreements.Agreements(b.Ctx(), depositID)
	require.NoError(b.T, err)
	return all
}

func TestSubmit_Agreed_KeepsTheEvidenceWithThePayment(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t)
	v, err := b.Checkout.CheckoutView(b.Ctx(), token)
	require.NoError(t, err)
	b.SubmitCheckoutForm(token, grace)
	kept := records(b, d.ID)
	require.Len(t, kept, 1)
	require.Equal(t, agreement.Record{
		ID: kept[0].ID, DepositID: d.ID, ClientID: b.LoadDeposit(t, d.ID).ClientID, Version: agreement.Version, Locale: "en",
		Words: v.Terms.FullText("en"),
		At:    b.Clock.Now(), Origin: checkouttest.TenantAgreement.Origin,
	}, kept[0])
	require.NotZero(t, b.Count("deposit_agreements", "position('192.0.2.7'::bytea in origin) = 0"),
		"the origin is encrypted")

	b.Clock.Add(time.Minute)
	b.SubmitCheckoutForm(token, grace)
	require.Len(t, records(b, d.ID), 1, "a double click adds no evidence younger than the payment")
	b.SubmitCheckoutForm(token, alan)
	require.Len(t, records(b, d.ID), 2, "another person")

	b.ReturnFromPayment(token)
	b.Clock.Add(time.Minute)
	b.SubmitCheckoutForm(token, alan)
	all := records(b, d.ID)
	require.Len(t, all, 3, "another payment")
	require.Equal(t, b.Clock.Now(), all[2].At)
}

func TestCheckout_StayThatIsOver_AsksForNothing(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, token := b.CreateDeposit(t, func(d *deposit.Deposit) {
		d.ContractEndAt, d.ContractStartAt = b.Clock.Now(), b.Clock.Now().Add(-time.Hour)
	})
	v, err := b.Checkout.CheckoutView(b.Ctx(), token)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{v.Open, v.StayOver})
	require.Empty(t, b.SubmitCheckoutForm(token, grace).PageURL)
	require.Zero(t, b.Provider.OpenedPageCount())
	require.Zero(t, b.Scoring.AssessmentCount())
	require.Empty(t, b.PaymentsOf(t, d.ID, deposit.PaymentKindFee))

	b.RequireJobCount(0, b.Timers.ExpireCheckouts)
	b.Clock.Set(d.CheckoutExpiresAt)
	b.RequireJobCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(d.ID, deposit.Cancelled, "checkout_expired")
}
