//go:build !unit

package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

func TestSimulate_DoesWhatATenantOrTimeWouldDo(t *testing.T) {
	b := setup(t)
	type steps []payments.Simulation
	for name, c := range map[string]struct {
		before  steps
		outcome payments.Simulation
		status  deposit.Status
		reason  string
		refused *fault.Error
	}{
		"start":                       {nil, "start", deposit.Pending, "", nil},
		"start again":                 {steps{"start"}, "start", deposit.Pending, "", nil},
		"start after activation":      {steps{"activate"}, "start", deposit.Active, "", deposit.ErrNotSecurable},
		"activate":                    {nil, "activate", deposit.Active, "", nil},
		"activate after a failure":    {steps{"fail_payment"}, "activate", deposit.Active, "", nil},
		"activate twice":              {steps{"activate"}, "activate", deposit.Active, "", deposit.ErrNotSecurable},
		"decline":                     {nil, "decline", deposit.Cancelled, "tenant_declined", nil},
		"decline after activation":    {steps{"activate"}, "decline", deposit.Active, "", deposit.ErrNotCancellable},
		"abandon":                     {nil, "abandon", deposit.Cancelled, "tenant_abandoned", nil},
		"fail_payment":                {nil, "fail_payment", deposit.PaymentIssue, "fee_failed", nil},
		"expire before it is secured": {nil, "expire", deposit.Cancelled, "checkout_expired", nil},
		"expire after activation":     {steps{"activate"}, "expire", deposit.Closed, "coverage_elapsed", nil},
		"expire after expiry": {steps{"activate", "expire"}, "expire", deposit.Closed, "coverage_elapsed",
			deposit.ErrNotReleasable},
		"something else": {nil, "explode", deposit.Pending, "", fault.ErrInvalidField},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := b.Deposit(t)
			for _, before := range c.before {
				_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, before)
				require.NoError(t, err)
			}
			got, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, c.outcome)
			if c.refused != nil {
				require.ErrorIs(t, err, c.refused)
			} else {
				require.NoError(t, err)
				require.Equal(t, c.status, got.Status)
			}
			b.RequireStatus(d.ID, c.status, c.reason)
		})
	}
}

func TestSimulate_Start_LetsTheCheckoutGoIdle(t *testing.T) {
	b := setup(t)
	d, _ := b.Deposit(t)
	_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, payments.SimulateStart)
	require.NoError(t, err)
	b.Clock.Add(31 * time.Minute)
	moved, err := b.Timers.MarkIdle(b.Ctx())
	require.NoError(t, err)
	require.Equal(t, 1, moved)
	b.RequireStatus(d.ID, deposit.Incomplete, "checkout_idle")
}

func TestSimulate_TakesOverThePaymentOfARealTenant(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, payments.SimulateActivate)
	require.NoError(t, err)
	require.Equal(t, deposit.PaymentSucceeded, b.Fee(d.ID).Status)
	require.Equal(t, grace.Email, b.RequireStatus(d.ID, deposit.Active, "").Client.Email)
}

func TestSimulate_AfterATenantLeftAClosedPage_BeginsAnotherPayment(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	_, err := b.Sandbox.Close(b.Ctx(), b.Fee(d.ID).ID)
	require.NoError(t, err)
	_, err = b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, payments.SimulateActivate)
	require.NoError(t, err)
	require.Equal(t, []deposit.PaymentStatus{deposit.PaymentVoided, deposit.PaymentSucceeded}, b.FeeStatuses(d.ID))
}

func TestSimulate_ForeignOrUnknownDeposits_AreRefused(t *testing.T) {
	b := setup(t)
	d, _ := b.Deposit(t)
	dashboard, _ := b.Deposit(t, func(d *deposit.Deposit) { d.ByPartnerAPI = false })
	_, err := b.Payments.Simulate(b.Ctx(), id.ID{9}, d.ID, payments.SimulateActivate)
	require.ErrorIs(t, err, deposit.ErrAccessDenied)
	_, err = b.Payments.Simulate(b.Ctx(), b.PartnerID, dashboard.ID, payments.SimulateActivate)
	require.ErrorIs(t, err, deposit.ErrAccessDenied)
	_, err = b.Payments.Simulate(b.Ctx(), b.PartnerID, id.ID{9}, payments.SimulateActivate)
	require.ErrorIs(t, err, deposit.ErrNotFound)
}
