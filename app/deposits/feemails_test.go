//go:build !unit

package deposits_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits"
	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/checkouttest"
)

// tellSecured runs the job that mails about secured deposits.
func tellSecured(b checkouttest.Steps) {
	b.T.Helper()
	job := deposits.OperatorNotices{
		Notices: b.Postgres.OperatorNotices, Mails: b.Postgres.Mails, UnitOfWork: b.Postgres, Addresses: b.Postgres.Addresses,
		Clock: b.Clock, Entropy: entropy{}, DashboardURL: "https://dash.example", VerifyAddresses: true,
	}.Jobs(1)[0]
	_, err := job.Run(b.Ctx())
	require.NoError(b.T, err)
}

func secured(b checkouttest.Steps) *deposit.Deposit {
	b.T.Helper()
	d, token := b.Deposit(b.T)
	b.Submit(token, checkouttest.Grace)
	b.Pay(d.ID, true)
	b.Return(token)
	return b.Load(b.T, d.ID)
}

func TestFeeMail_TenantPaid_IsToldTheFeeAndTheWordsOnce(t *testing.T) {
	b := checkouttest.Start(t)
	secured(b)
	require.Empty(t, b.Mails(checkouttest.Grace.Email))
	tellSecured(b)
	tellSecured(b)
	got := b.Mails(checkouttest.Grace.Email)
	require.Len(t, got, 1)
	require.Contains(t, got[0].Subject, "€17.50")
	require.Contains(t, got[0].Body, "I agree that up to €500.00 may be charged to my card for claims until")
	require.Len(t, b.Mails(""), 1, "the operator's address is not verified")
}

func TestFeeMail_ClientErasedSince_GoesToTheSealedAddress(t *testing.T) {
	b := checkouttest.Start(t)
	d := secured(b)
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	tellSecured(b)
	require.Len(t, b.Mails(checkouttest.Grace.Email), 1)
}

func TestFeeMail_SimulatedPayment_TellsNobody(t *testing.T) {
	b := checkouttest.Start(t)
	d, _ := b.Deposit(t, checkouttest.Client("tina@example.com", "Tina", "Tenant"))
	_, err := b.Payments.Simulate(context.WithoutCancel(t.Context()), b.PartnerID, d.ID, payments.SimulateActivate)
	require.NoError(t, err)
	tellSecured(b)
	require.Zero(t, b.Count("secured_notices", ""), "the notice is taken")
	require.Empty(t, b.Mails(""))
}
