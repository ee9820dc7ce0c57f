package mails

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// CheckSenderLimit checks whether a sender, a partner or an operator's account, may mail a link to addresses that
// a person typed in, each once (api.md §2, "Mails with the link"). It runs in the transaction that queues the
// mails with this sender. field returns the name of the field with the i-th address.
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
