//go:build !unit

package checkout_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
)

func records(b checkouttest.Steps, depositID id.ID) []agreement.Record {
	b.T.Helper()
	all, err := b.Postgres.Agreements.Agreements(b.Ctx(), depositID)
	require.NoError(b.T, err)
	return all
}

func TestSubmit_Agreed_KeepsTheEvidenceWithThePayment(t *testing.T) {
	b := checkouttest.Start(t)
	d, token := b.Deposit(t)
	v, err := b.Checkout.View(b.Ctx(), token)
	require.NoError(t, err)
	b.Submit(token, grace)
	kept := records(b, d.ID)
	require.Len(t, kept, 1)
	require.Equal(t, agreement.Record{
		ID: kept[0].ID, DepositID: d.ID, ClientID: b.Load(t, d.ID).ClientID, Version: agreement.Version, Locale: "en",
		Words: v.Terms.Words("en"),
		At:    b.Clock.Now(), Origin: checkouttest.Agrees.Origin,
	}, kept[0])
	require.NotZero(t, b.Count("deposit_agreements", "position('192.0.2.7'::bytea in origin) = 0"),
		"the origin is encrypted")

	b.Clock.Add(time.Minute)
	b.Submit(token, grace)
	require.Len(t, records(b, d.ID), 1, "a double click adds no evidence younger than the payment")
	b.Submit(token, alan)
	require.Len(t, records(b, d.ID), 2, "another person")

	b.Return(token)
	b.Clock.Add(time.Minute)
	b.Submit(token, alan)
	all := records(b, d.ID)
	require.Len(t, all, 3, "another payment")
	require.Equal(t, b.Clock.Now(), all[2].At)
}

func TestSubmit_WithoutAgreement_LeavesNothingBehind(t *testing.T) {
	b := checkouttest.Start(t)
	d, token := b.Deposit(t)
	for want, given := range map[error]agreement.Given{
		agreement.ErrMissing: {Locale: "en"},
		agreement.ErrChanged: {Agreed: true, Locale: "en", PageWords: agreement.Fingerprint("other words")},
	} {
		_, err := b.Checkout.Submit(b.Ctx(), token, grace, given)
		require.ErrorIs(t, err, want)
	}
	require.Empty(t, records(b, d.ID))
	require.Zero(t, b.Load(t, d.ID).CheckoutStartedAt)
	require.Zero(t, b.Scoring.Asked())
}

func TestSubmit_RefusedByScoring_KeepsNoEvidence(t *testing.T) {
	b := checkouttest.Start(t)
	d, token := b.Deposit(t)
	b.Submit(token, declined)
	require.Empty(t, records(b, d.ID), "nothing is charged")
}

func TestCheckout_StayThatIsOver_AsksForNothing(t *testing.T) {
	b := checkouttest.Start(t)
	d, token := b.Deposit(t, func(d *deposit.Deposit) {
		d.ContractEndAt, d.ContractStartAt = b.Clock.Now(), b.Clock.Now().Add(-time.Hour)
	})
	v, err := b.Checkout.View(b.Ctx(), token)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{v.Open, v.StayOver})
	require.Empty(t, b.Submit(token, grace).PageURL)
	require.Zero(t, b.Provider.Opened())
	require.Zero(t, b.Scoring.Asked())
	require.Empty(t, b.PaymentsOf(t, d.ID, deposit.FeePayment))

	b.RequireCount(0, b.Timers.ExpireCheckouts)
	b.Clock.Set(d.CheckoutExpiresAt)
	b.RequireCount(1, b.Timers.ExpireCheckouts)
	b.RequireStatus(d.ID, deposit.Cancelled, "checkout_expired")
}
