package deposits_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	depositports "partnerdeposits/ports/deposits"
)

func TestStatusesOfWork_ThoseThatWaitForSomebody(t *testing.T) {
	for kind, want := range map[depositports.WorkKind][]deposit.Status{
		depositports.WorkAwaitingTenant: {deposit.Pending, deposit.Incomplete},
		depositports.WorkPaymentRefused: {deposit.PaymentIssue},
		depositports.WorkCoverEnding:    {deposit.Active},
		depositports.WorkCollecting:     {deposit.Captured},
		depositports.WorkActive:         {deposit.Active},
	} {
		require.Equal(t, want, kind.Statuses(), kind)
	}
	for _, s := range deposit.Statuses {
		waits := append(depositports.WorkAwaitingTenant.Statuses(), depositports.WorkPaymentRefused.Statuses()...)
		require.Equal(t, s.InCheckout(), slices.Contains(waits, s), "every checkout awaits the tenant: %s", s)
	}
}
