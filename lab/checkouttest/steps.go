package checkouttest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// Tenants for tests of the checkout. The sandbox's scoring refuses only DeclinedTenant.
var (
	TenantGraceHopper = tenant.Person{Email: "grace@example.com", FirstName: "Grace", LastName: "Hopper", Locale: "en"}
	TenantAlanTuring  = tenant.Person{Email: "alan@example.com", FirstName: "Alan", LastName: "Turing", Locale: "fr"}
	DeclinedTenant    = tenant.Person{Email: "declined@example.com", FirstName: "De", LastName: "Clined"}
)

// TenantAgreement is an agreement in English, from a fixed address and browser.
var TenantAgreement = agreement.SubmittedForm{Agreed: true, Locale: "en",
	Origin: agreement.RequestOrigin{Address: "192.0.2.7", UserAgent: "Mozilla/5.0 (test)"}}

// Steps is a Fixture with methods for a tenant's steps through the checkout, which fail the test on an error.
type Steps struct {
	*Fixture
	T *testing.T
}

// NewSteps sets up a Fixture for a parallel test of the checkout.
func NewSteps(t *testing.T) Steps {
	t.Helper()
	t.Parallel()
	return Steps{New(t, DashboardURL), t}
}

// Ctx returns a context that outlives the test's own, for cleanups.
func (s Steps) Ctx() context.Context { return context.WithoutCancel(s.T.Context()) }

// SubmitCheckoutForm sends a tenant's checkout form, and returns the page that follows.
func (s Steps) SubmitCheckoutForm(token secret.Text, p tenant.Person) checkout.NextPage {
	s.T.Helper()
	next, err := s.Checkout.Submit(s.Ctx(), token, p, TenantAgreement)
	require.NoError(s.T, err)
	return next
}

// ReturnFromPayment takes the tenant back to the checkout's page. A further payment page fails the test.
func (s Steps) ReturnFromPayment(token secret.Text) checkout.View {
	s.T.Helper()
	next, err := s.Checkout.HandleReturn(s.Ctx(), token, true)
	require.NoError(s.T, err)
	require.Empty(s.T, next.PageURL)
	return next.View
}

// PayOnPaymentPage pays on a deposit's newest payment page. good reports whether the card is accepted.
func (s Steps) PayOnPaymentPage(depositID id.ID, good bool) {
	s.T.Helper()
	all := s.PaymentsOf(s.T, depositID, deposit.PaymentKindFee)
	require.NoError(s.T, s.Sandbox.SimulatePayment(s.Ctx(), all[len(all)-1].ID, good))
}

// LoadFeePayment fails the test unless the deposit has exactly one fee payment.
func (s Steps) LoadFeePayment(depositID id.ID) deposit.Payment {
	s.T.Helper()
	all := s.PaymentsOf(s.T, depositID, deposit.PaymentKindFee)
	require.Len(s.T, all, 1)
	return all[0]
}

// FeeStatuses returns the statuses of a deposit's fee payments, oldest first.
func (s Steps) FeeStatuses(depositID id.ID) []deposit.PaymentStatus {
	s.T.Helper()
	var out []deposit.PaymentStatus
	for _, p := range s.PaymentsOf(s.T, depositID, deposit.PaymentKindFee) {
		out = append(out, p.Status)
	}
	return out
}

func (s Steps) RequireStatus(depositID id.ID, status deposit.Status, reason string) *deposit.Deposit {
	s.T.Helper()
	d := s.LoadDeposit(s.T, depositID)
	require.Equal(s.T, status, d.Status)
	require.Equal(s.T, reason, d.StatusReason)
	return d
}

// RequireJobCount fails the test unless a scheduled job reports the wanted number of rows.
func (s Steps) RequireJobCount(want int, run func(context.Context) (int, error)) {
	s.T.Helper()
	got, err := run(s.Ctx())
	require.NoError(s.T, err)
	require.Equal(s.T, want, got)
}
