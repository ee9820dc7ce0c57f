package deposit

import (
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
)

// Limits of the mails with the link to a deposit's checkout (api.md §2, "Mails with the link").
const (
	MaxRecipients = 20 // of a request
	LinkWindow    = 24 * time.Hour
	MaxLinks      = 60 // mails of a deposit within LinkWindow
	MaxLinksTo    = 5  // mails of a deposit to an address within LinkWindow

	MaxTogether = 50 // deposits of an operator's act on several

	// Limits of mailed links to an address that a sender typed, within LinkWindow and over all deposits.
	MaxLinksOfSender = 10 // of a sender: a partner, or an operator's account
	MaxLinksOfAll    = 30 // of all senders; refuses who has sent FewLinks
	FewLinks         = 3
)

// ErrNotSendable is the fault of sending the link to a checkout that is over.
var ErrNotSendable = fault.New(fault.Conflict, "deposit_not_sendable",
	"The checkout of this deposit is over, so its link is not sent.")

// LinkMail is a mail with the link to a deposit's checkout that was accepted.
type LinkMail struct {
	Address string
	At      time.Time
}

// Sendable returns ErrNotSendable when no tenant can secure the deposit any more.
func (d *Deposit) Sendable(now time.Time) error {
	switch {
	case d.CheckoutOpen(now):
		return nil
	case d.Status.InCheckout():
		ended := d.CheckoutExpiresAt
		if d.ContractEndAt.Before(ended) { // the last day of a short stay, or a stay from before the deposit
			ended = d.ContractEndAt
		}
		return ErrNotSendable.WithMessage("%s It ended at %s.", ErrNotSendable.Message, Timestamp(ended))
	default:
		return ErrNotSendable.WithMessage("%s It is %s.", ErrNotSendable.Message, d.Status)
	}
}

// LinksAllowed decides whether the addresses may get the link. sent are the mails of the deposit within LinkWindow,
// oldest first. field names the field of the i-th address for the message.
//
// Returns rate_limited, with the time until the mails are allowed.
func LinksAllowed(sent []LinkMail, addresses []string, field func(i int) string, now time.Time) error {
	if over := len(sent) + len(addresses) - MaxLinks; over > 0 {
		return tooManyLinks(sent[min(over, len(sent))-1].At,
			now).WithMessage("The link of this deposit can be mailed %d times within 24 hours.", MaxLinks)
	}
	first, count := map[string]LinkMail{}, map[string]int{}
	for _, m := range sent {
		key := mailaddr.Normal(m.Address)
		if count[key]++; count[key] == 1 {
			first[key] = m
		}
	}
	for i, a := range addresses {
		if key := mailaddr.Normal(a); count[key] >= MaxLinksTo {
			return tooManyLinks(first[key].At, now).WithField(field(i),
				"can get the link of this deposit %d times within 24 hours", MaxLinksTo)
		}
	}
	return nil
}

// SentLinks are the times of the mails with a link to a mailbox within LinkWindow, newest first.
type SentLinks struct {
	BySender []time.Time // the newest MaxLinksOfSender
	ByAll    []time.Time // the newest MaxLinksOfAll, those of the sender too
}

// SentTo has the mails to each mailbox (mailaddr.Mailbox).
type SentTo map[string]SentLinks

// Count decides whether the sender may mail an address once more, and counts the mail. field names the address for the
// message.
//
// Returns rate_limited, with the time until the mail is allowed.
func (s SentTo) Count(address, field string, now time.Time) error {
	mailbox := mailaddr.Mailbox(address)
	sent := s[mailbox]
	if len(sent.BySender) >= MaxLinksOfSender {
		return tooManyLinks(sent.BySender[MaxLinksOfSender-1], now).WithField(field,
			"can get %d links of one sender within 24 hours", MaxLinksOfSender)
	}
	if len(sent.ByAll) >= MaxLinksOfAll && len(sent.BySender) >= FewLinks {
		first := sent.ByAll[MaxLinksOfAll-1]
		if few := sent.BySender[FewLinks-1]; few.Before(first) {
			first = few
		}
		return tooManyLinks(first, now).WithField(field, "can get %d links within 24 hours", MaxLinksOfAll)
	}
	s[mailbox] = SentLinks{append([]time.Time{now}, sent.BySender...), append([]time.Time{now}, sent.ByAll...)}
	return nil
}

// tooManyLinks is the fault that lasts until a mail from at is no longer within LinkWindow.
func tooManyLinks(at, now time.Time) *fault.Error {
	return fault.ErrRateLimited.WithRetryAfter(max(at.Add(LinkWindow).Sub(now), time.Second))
}
