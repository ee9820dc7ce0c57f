package mails

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// MayMail decides whether a sender, a partner or an operator's account, may mail a link to addresses that somebody
// typed, each once (api.md §2, "Mails with the link"). It runs in the transaction of the mails, which have the sender.
// field names the field of the i-th address.
//
// Returns rate_limited (deposit.SentTo).
func MayMail(ctx context.Context, queue ports.Mails, sender id.ID, addresses []string, field func(i int) string,
	now time.Time) error {
	sent, err := queue.SentTo(ctx, sender, addresses, now.Add(-deposit.LinkWindow))
	if err != nil {
		return err
	}
	for i, address := range addresses {
		if err := sent.Count(address, field(i), now); err != nil {
			return err
		}
	}
	return nil
}
