package deposit

import (
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
)

// Limits of the mails with the link to a deposit's checkout (api.md §2, "Mails with the link").
const (
	MaxLinkRecipients = 20
	LinkMailWindow    = 24 * time.Hour
	MaxLinkMails      = 60 // The largest number of mails with one deposit's link within LinkMailWindow.
	// The largest number of mails with one deposit's link to one address within LinkMailWindow.
	MaxLinkMailsToAddress = 5

	MaxDepositsPerBulkAct = 50

	// Limits of mails with checkout links to one mailbox within LinkMailWindow, over all deposits. One sender, a
	// partner or an operator's account, may send this many.
	MaxLinkMailsBySender = 10
	// The limit for all senders together. It applies only to senders with at least GuaranteedLinkMailsPerSender mails
	// to the mailbox, so that others alone cannot block a sender.
	MaxLinkMailsByAllSenders     = 30
	GuaranteedLinkMailsPerSender = 3
)

// ErrLinkNotSendable is the fault for a request to mail the link to a checkout that is over.
var ErrLinkNotSendable = fault.New(fault.Conflict, "deposit_not_sendable",
	"The checkout of this deposit is over, so its link is not sent.")

// LinkMail records that a mail with a deposit's checkout link was accepted for sending.
type LinkMail struct {
	Address string
	At      time.Time
}

// CheckLinkSendable returns ErrLinkNotSendable if the tenant can no longer secure the deposit.
func (d *Deposit) CheckLinkSendable(now time.Time) error {
	switch {
	case d.CheckoutOpen(now):
		return nil
	case d.Status.InCheckout():
		ended := d.CheckoutExpiresAt
		// The message names the end of the stay if that is before the end of the checkout.
		if d.ContractEndAt.Before(ended) {
			ended = d.ContractEndAt
		}
		return ErrLinkNotSendable.WithMessage("%s It ended at %s.", ErrLinkNotSendable.Message, FormatTimestamp(ended))
	default:
		return ErrLinkNotSendable.WithMessage("%s It is %s.", ErrLinkNotSendable.Message, d.Status)
	}
}

// CheckLinkMails checks whether the deposit's link may be mailed to the addresses. sent holds its mails within
// LinkMailWindow, oldest first. field names the field of the i-th address for the message.
//
// Returns rate_limited, with the time until the mails are allowed.
func CheckLinkMails(sent []LinkMail, addresses []string, field func(i int) string, now time.Time) error {
	if over := len(sent) + len(addresses) - MaxLinkMails; over > 0 {
		return tooManyLinks(sent[min(over, len(sent))-1].At,
			now).WithMessage("The link of this deposit can be mailed %d times within 24 hours.", MaxLinkMails)
	}
	first, count := map[string]LinkMail{}, map[string]int{}
	for _, m := range sent {
		key := mailaddr.Normalized(m.Address)
		if count[key]++; count[key] == 1 {
			first[key] = m
		}
	}
	for i, a := range addresses {
		if key := mailaddr.Normalized(a); count[key] >= MaxLinkMailsToAddress {
			return tooManyLinks(first[key].At, now).WithField(field(i),
				"can get the link of this deposit %d times within 24 hours", MaxLinkMailsToAddress)
		}
	}
	return nil
}

// LinkMailTimes holds the times of the mails with links to one mailbox, newest first.
type LinkMailTimes struct {
	BySender []time.Time // The newest mails by the sender in question, at most MaxLinkMailsBySender.
	ByAll    []time.Time // The newest mails by all senders, at most MaxLinkMailsByAllSenders.
}

// LinkMailsByMailbox maps each mailbox (mailaddr.CanonicalMailbox) to the mails with links that it was sent.
type LinkMailsByMailbox map[string]LinkMailTimes

// CountMail checks whether the sender may mail one more link to an address, and counts the mail. field names the
// address in the message.
//
// Returns rate_limited, with the time until the mail is allowed.
func (s LinkMailsByMailbox) CountMail(address, field string, now time.Time) error {
	mailbox := mailaddr.CanonicalMailbox(address)
	sent := s[mailbox]
	if len(sent.BySender) >= MaxLinkMailsBySender {
		return tooManyLinks(sent.BySender[MaxLinkMailsBySender-1], now).WithField(field,
			"can get %d links of one sender within 24 hours", MaxLinkMailsBySender)
	}
	if len(sent.ByAll) >= MaxLinkMailsByAllSenders && len(sent.BySender) >= GuaranteedLinkMailsPerSender {
		first := sent.ByAll[MaxLinkMailsByAllSenders-1]
		if few := sent.BySender[GuaranteedLinkMailsPerSender-1]; few.Before(first) {
			first = few
		}
		return tooManyLinks(first, now).WithField(field, "can get %d links within 24 hours", MaxLinkMailsByAllSenders)
	}
	s[mailbox] = LinkMailTimes{append([]time.Time{now}, sent.BySender...), append([]time.Time{now}, sent.ByAll...)}
	return nil
}

// tooManyLinks returns rate_limited with the time until a mail sent at at is older than LinkMailWindow.
func tooManyLinks(at, now time.Time) *fault.Error {
	return fault.ErrRateLimited.WithRetryAfter(max(at.Add(LinkMailWindow).Sub(now), time.Second))
}
