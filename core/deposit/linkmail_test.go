package deposit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
)

func TestLinksAllowed_CountsAnAddressInAnyCase(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	var sent []deposit.LinkMail
	for i := range deposit.MaxLinkMailsToAddress {
		require.NoError(t, deposit.CheckLinkMails(sent, []string{"ann@b.example"}, nil, now))
		sent = append(sent, deposit.LinkMail{Address: []string{"ann@b.example", "Ann@B.example"}[i%2],
			At: now.Add(time.Duration(i-20) * time.Hour)})
	}
	field := func(i int) string { return fmt.Sprintf("recipients[%d].email", i) }
	require.NoError(t, deposit.CheckLinkMails(sent, []string{"bob@b.example"}, field, now))
	err := deposit.CheckLinkMails(sent, []string{"bob@b.example", "ANN@b.example"}, field, now)
	require.ErrorIs(t, err, fault.ErrRateLimited)
	require.Equal(t, "recipients[1].email: can get the link of this deposit 5 times within 24 hours",
		fault.FromError(err).Message)
	require.Equal(t, 4*time.Hour, fault.FromError(err).RetryAfter, "until the oldest is a day old")
}

func TestLinksAllowed_OfADeposit(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	var sent []deposit.LinkMail
	for i := range deposit.MaxLinkMails - 1 {
		sent = append(sent,
			deposit.LinkMail{Address: fmt.Sprintf("a%d@b.example", i), At: now.Add(time.Duration(i)*time.Minute - 23*time.Hour)})
	}
	require.NoError(t, deposit.CheckLinkMails(sent, []string{"x@b.example"}, nil, now))
	err := deposit.CheckLinkMails(sent, []string{"x@b.example", "y@b.example", "z@b.example"}, nil, now)
	require.ErrorIs(t, err, fault.ErrRateLimited)
	require.Equal(t, time.Hour+time.Minute, fault.FromError(err).RetryAfter, "until two of them are a day old")
}

func TestSendable_WhileTheTenantCanSecureTheDeposit(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, s := range deposit.Statuses {
		d := &deposit.Deposit{Status: s, CheckoutExpiresAt: now.Add(time.Second)}
		d.ContractEndAt = now.Add(time.Hour)
		if s.InCheckout() {
			require.NoError(t, d.CheckLinkSendable(now), s)
			require.ErrorIs(t, d.CheckLinkSendable(now.Add(time.Second)), deposit.ErrLinkNotSendable, s)
		} else {
			require.ErrorIs(t, d.CheckLinkSendable(now), deposit.ErrLinkNotSendable, s)
		}
	}
}

func TestSendable_StayIsOver_IsRefusedWithItsEnd(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	d := &deposit.Deposit{Status: deposit.Pending, CheckoutExpiresAt: now.Add(24 * time.Hour)}
	d.ContractEndAt = now
	require.True(t, d.RentalEnded(now))
	require.False(t, d.CheckoutOpen(now))
	require.True(t, d.CheckoutOpen(now.Add(-time.Second)))
	require.ErrorContains(t, d.CheckLinkSendable(now), "2026-11-22T10:00:00.000Z")
}

// A row are mails to an address: the hours for which those of the sender and those of others last.
func TestCount_MailsToAMailbox_OfASenderAndOfAll(t *testing.T) {
	now := time.Date(2030, 8, 1, 12, 0, 0, 0, time.UTC)
	hours := func(n, last int) (left []int) { // n mails, the newest of which counts for so many hours
		for i := range n {
			left = append(left, last-i)
		}
		return left
	}
	for name, c := range map[string]struct {
		own, others []int
		wait        int // 0: the mail may go out
	}{
		"the first":                   {nil, nil, 0},
		"the tenth":                   {hours(9, 24), nil, 0},
		"the eleventh":                {hours(10, 23), nil, 14},
		"more than ten":               {hours(12, 23), nil, 14},
		"the 31st, of who sent two":   {hours(2, 24), hours(28, 24), 0},
		"the 40th, of who sent two":   {hours(2, 24), hours(38, 24), 0},
		"the 30th, of who sent three": {hours(3, 24), hours(26, 24), 0},
		"the 31st, of who sent three, who has one end": {[]int{24, 23, 2}, slices.Repeat([]int{20}, 27), 2},
		"the 31st, of who sent three, others end":      {[]int{24, 23, 22}, append(slices.Repeat([]int{20}, 26), 1), 1},
		"the eleventh and the 31st":                    {hours(10, 23), slices.Repeat([]int{20}, 20), 14},
	} {
		at := func(left []int) (times []time.Time) {
			for _, h := range left {
				times = append(times, now.Add(time.Duration(h)*time.Hour-deposit.LinkMailWindow))
			}
			slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
			return times
		}
		all := at(slices.Concat(c.own, c.others))
		sent := deposit.LinkMailsByMailbox{"ann@b.example": {BySender: at(c.own), ByAll: all[:min(len(all),
			deposit.MaxLinkMailsByAllSenders)]}}
		require.NoError(t, sent.CountMail("bob@b.example", "email", now), name)
		err := sent.CountMail("Ann+1@b.example", "email", now)
		if c.wait == 0 {
			require.NoError(t, err, name)
			require.Equal(t, []int{len(c.own) + 1, min(len(all), deposit.MaxLinkMailsByAllSenders) + 1},
				[]int{len(sent["ann@b.example"].BySender), len(sent["ann@b.example"].ByAll)}, name)
			continue
		}
		require.ErrorIs(t, err, fault.ErrRateLimited, name)
		require.Equal(t, time.Duration(c.wait)*time.Hour, fault.FromError(err).RetryAfter, name)
	}
}
