package deposit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
)

func TestLinksAllowed_CountsAnAddressInAnyCase(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	var sent []deposit.LinkMail
	for i := range deposit.MaxLinksTo {
		require.NoError(t, deposit.LinksAllowed(sent, []string{"ann@b.example"}, nil, now))
		sent = append(sent, deposit.LinkMail{Address: []string{"ann@b.example", "Ann@B.example"}[i%2],
			At: now.Add(time.Duration(i-20) * time.Hour)})
	}
	field := func(i int) string { return fmt.Sprintf("recipients[%d].email", i) }
	require.NoError(t, deposit.LinksAllowed(sent, []string{"bob@b.example"}, field, now))
	err := deposit.LinksAllowed(sent, []string{"bob@b.example", "ANN@b.example"}, field, now)
	require.ErrorIs(t, err, fault.ErrRateLimited)
	require.Equal(t, "recipients[1].email: can get the link of this deposit 5 times within 24 hours",
		fault.Of(err).Message)
	require.Equal(t, 4*time.Hour, fault.Of(err).RetryAfter, "until the oldest is a day old")
}

func TestLinksAllowed_OfADeposit(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	var sent []deposit.LinkMail
	for i := range deposit.MaxLinks - 1 {
		sent = append(sent,
			deposit.LinkMail{Address: fmt.Sprintf("a%d@b.example", i), At: now.Add(time.Duration(i)*time.Minute - 23*time.Hour)})
	}
	require.NoError(t, deposit.LinksAllowed(sent, []string{"x@b.example"}, nil, now))
	err := deposit.LinksAllowed(sent, []string{"x@b.example", "y@b.example", "z@b.example"}, nil, now)
	require.ErrorIs(t, err, fault.ErrRateLimited)
	require.Equal(t, time.Hour+time.Minute, fault.Of(err).RetryAfter, "until two of them are a day old")
}

func TestSendable_WhileTheTenantCanSecureTheDeposit(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, s := range deposit.Statuses {
		d := &deposit.Deposit{Status: s, CheckoutExpiresAt: now.Add(time.Second)}
		d.ContractEndAt = now.Add(time.Hour)
		if s.InCheckout() {
			require.NoError(t, d.Sendable(now), s)
			require.ErrorIs(t, d.Sendable(now.Add(time.Second)), deposit.ErrNotSendable, s)
		} else {
			require.ErrorIs(t, d.Sendable(now), deposit.ErrNotSendable, s)
		}
	}
}

func TestSendable_StayIsOver_IsRefusedWithItsEnd(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	d := &deposit.Deposit{Status: deposit.Pending, CheckoutExpiresAt: now.Add(24 * time.Hour)}
	d.ContractEndAt = now
	require.True(t, d.StayOver(now))
	require.False(t, d.CheckoutOpen(now))
	require.True(t, d.CheckoutOpen(now.Add(-time.Second)))
	require.ErrorContains(t, d.Sendable(now), "2026-11-22T10:00:00.000Z")
}

func TestAccountLinkAllowed_TenTimesWithinADay(t *testing.T) {
	at := time.Date(2030, 8, 1, 12, 0, 0, 0, time.UTC)
	var sent []deposit.LinkMail
	for i := range deposit.MaxLinksOfAccount {
		require.NoError(t, deposit.AccountLinkAllowed(sent, at), i)
		sent = append(sent, deposit.LinkMail{Address: "a@b.example", At: at.Add(time.Duration(i) * time.Minute)})
	}
	refused := fault.Of(deposit.AccountLinkAllowed(sent, at.Add(time.Hour)))
	require.Equal(t, "rate_limited", refused.Code)
	require.Equal(t, 23*time.Hour, refused.RetryAfter)
}
