package deposits_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	depositports "partnerdeposits/ports/deposits"
)

func TestStatusesOfWork_ThoseThatWaitForSomebody(t *testing.T) {
	for kind, want := range map[depositports.OverviewGroup][]deposit.Status{
		depositports.OverviewAwaitingTenant: {deposit.Pending, deposit.Incomplete},
		depositports.OverviewPaymentRefused: {deposit.PaymentIssue},
		depositports.OverviewCoverEnding:    {deposit.Active},
		depositports.OverviewCollecting:     {deposit.Captured},
		depositports.OverviewActive:         {deposit.Active},
	} {
		require.Equal(t, want, kind.Statuses(), kind)
	}
	for _, s := range deposit.Statuses {
		waits := append(depositports.OverviewAwaitingTenant.Statuses(), depositports.OverviewPaymentRefused.Statuses()...)
		require.Equal(t, s.InCheckout(), slices.Contains(waits, s), "every checkout awaits the tenant: %s", s)
	}
}
