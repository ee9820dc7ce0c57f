package deposit

import (
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
)

// Limits of the mails with the link to a deposit's checkout (api.md §2, "Mails with the link").
const (
	MaxLinkRecipients = 20 // The largest number of recipients in one request to mail checkout links.
	LinkMailWindow    = 24 * time.Hour
	MaxLinkMails      = 60 // The largest number of mails with the link of one deposit within LinkMailWindow.
	// The largest number of mails with the link of one deposit to one address within LinkMailWindow.
	MaxLinkMailsToAddress = 5

	MaxDepositsPerBulkAct = 50 // The largest number of deposits on which an operator can act at once.

	// Limits of the mails with checkout links to one mailbox within LinkMailWindow, counted over all deposits.
	// The largest number of mails to a mailbox by one sender: a partner, or an operator's account.
	MaxLinkMailsBySender = 10
	// The largest number of mails to a mailbox by all senders together. It applies only to senders with at least
	// GuaranteedLinkMailsPerSender mails to that mailbox, so that a sender is not blocked by others alone.
	MaxLinkMailsByAllSenders     = 30
	GuaranteedLinkMailsPerSender = 3
)

// ErrLinkNotSendable is the fault for a request to mail the link to a checkout that is over.
var ErrLinkNotSendable = fault.New(fault.Conflict, "deposit_not_sendable",
	"The checkout of this deposit is over, so its link is not sent.")

// LinkMail records that a mail with the link to a deposit's checkout was accepted for sending: to which address,
// and when.
type LinkMail struct {
	Address string
	At      time.Time
}

// CheckLinkSendable returns nil if the tenant can still secure the deposit, so that its checkout link may be mailed,
// and otherwise ErrLinkNotSendable.
func (d *Deposit) CheckLinkSendable(now time.Time) error {
	switch {
	case d.CheckoutOpen(now):
		return nil
	case d.Status.InCheckout():
		ended := d.CheckoutExpiresAt
		// The message names the end of the stay if the stay ends before the checkout does.
		if d.ContractEndAt.Before(ended) {
			ended = d.ContractEndAt
		}
		return ErrLinkNotSendable.WithMessage("%s It ended at %s.", ErrLinkNotSendable.Message, FormatTimestamp(ended))
	default:
		return ErrLinkNotSendable.WithMessage("%s It is %s.", ErrLinkNotSendable.Message, d.Status)
	}
}

// CheckLinkMails checks whether the deposit's checkout link may be mailed to the addresses. sent holds the deposit's
// mails within LinkMailWindow, oldest first. field returns the name of the field of the i-th address, for the message.
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

// LinkMailTimes holds the times of the mails with checkout links to one mailbox within LinkMailWindow, newest first.
type LinkMailTimes struct {
	BySender []time.Time // The times of the newest mails by the sender in question, at most MaxLinkMailsBySender.
	ByAll    []time.Time // The times of the newest mails by all senders, at most MaxLinkMailsByAllSenders.
}

// LinkMailsByMailbox maps each mailbox (mailaddr.Mailbox) to the mails with checkout links that it was sent.
type LinkMailsByMailbox map[string]LinkMailTimes

// CountMail checks whether the sender may mail one more checkout link to an address, and counts the mail. field names
// the address in the message.
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

// tooManyLinks returns a rate_limited fault with the time until a mail sent at the time at is older than
// LinkMailWindow.
func tooManyLinks(at, now time.Time) *fault.Error {
	return fault.ErrRateLimited.WithRetryAfter(max(at.Add(LinkMailWindow).Sub(now), time.Second))
}
