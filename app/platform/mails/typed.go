package mails

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// CheckSenderLimit checks whether a sender may mail a link to typed addresses, in the transaction that queues the
// mails (api.md §2, "Mails with the link"). field names the field of the i-th address.
//
// Returns rate_limited after too many mails to an address.
func CheckSenderLimit(ctx context.Context, queue ports.MailQueue, sender id.ID, addresses []string, field func(i int) string,
	now time.Time) error {
	sent, err := queue.SentTo(ctx, sender, addresses, now.Add(-deposit.LinkMailWindow))
	if err != nil {
		return err
	}
	for i, address := range addresses {
		if err := sent.CountMail(address, field(i), now); err != nil {
			return err
		}
	}
	return nil
}
