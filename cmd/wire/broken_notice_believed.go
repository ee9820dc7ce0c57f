//go:build broken_notice_believed

package wire

import (
	"context"
	"encoding/json"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// noticeReader returns a reader that believes a notice: the payment ends as the notice says, and the provider is not asked.
func noticeReader(s Stores, p ports.PaymentNotices) ports.PaymentNotices { return believing{p, s} }

type believing struct {
	ports.PaymentNotices
	stores Stores
}

// Notice ends the payment of a charge that failed, and the collection of a page that was paid. A fee that was paid is asked about, since
// its deposit must be secured too.
func (b believing) Notice(body []byte, signature string, now time.Time) (ports.PaymentNotice, error) {
	n, err := b.PaymentNotices.Notice(body, signature, now)
	if err != nil || n.PaymentID.IsZero() {
		return n, err
	}
	var event struct{ Type string }
	if err := json.Unmarshal(body, &event); err != nil {
		return n, err
	}
	switch event.Type {
	case "charge.failed", "payment_intent.payment_failed":
		_, err = b.end(n.PaymentID, deposit.PaymentFailed, "declined", now)
		return ports.PaymentNotice{Ref: n.Ref}, err
	case "checkout.session.completed":
		ended, err := b.end(n.PaymentID, deposit.PaymentSucceeded, "", now)
		if ended {
			n = ports.PaymentNotice{Ref: n.Ref}
		}
		return n, err
	}
	return n, nil
}

// end ends a payment that is processing. A fee ends without success only.
func (b believing) end(paymentID id.ID, status deposit.PaymentStatus, failure string, now time.Time) (ended bool, err error) {
	tag, err := b.stores.Pool.Exec(context.Background(), `
		UPDATE payments SET status = $2, failure = $3, settled_at = $4
		WHERE id = $1 AND status = 'processing' AND (kind = 'collection' OR $2 <> 'succeeded')`, paymentID, status, failure, now)
	return tag.RowsAffected() > 0, err
}
