package ports_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/ports"
)

func TestStatusesOfWork_ThoseThatWaitForSomebody(t *testing.T) {
	for kind, want := range map[ports.Work][]deposit.Status{
		ports.WorkAwaiting:   {deposit.Pending, deposit.Incomplete},
		ports.WorkRefused:    {deposit.PaymentIssue},
		ports.WorkEnding:     {deposit.Active},
		ports.WorkCollecting: {deposit.Captured},
		ports.WorkActive:     {deposit.Active},
	} {
		require.Equal(t, want, kind.Statuses(), kind)
	}
	for _, s := range deposit.Statuses {
		waits := append(ports.WorkAwaiting.Statuses(), ports.WorkRefused.Statuses()...)
		require.Equal(t, s.InCheckout(), slices.Contains(waits, s), "every checkout awaits the tenant: %s", s)
	}
}
