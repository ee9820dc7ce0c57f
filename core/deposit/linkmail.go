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

	MaxLinksOfAccount = 10 // mails of an account to an address within LinkWindow, over all its deposits
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
		return tooManyLinks(sent[min(over, len(sent))-1],
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
			return tooManyLinks(first[key], now).WithField(field(i), "can get the link of this deposit %d times within 24 hours",
				MaxLinksTo)
		}
	}
	return nil
}

// AccountLinkAllowed decides whether an operator may mail an address once more. sent are the mails with links of the
// account's deposits to the address within LinkWindow, oldest first.
//
// Returns rate_limited, with the time until a mail is allowed.
func AccountLinkAllowed(sent []LinkMail, now time.Time) error {
	if over := len(sent) - MaxLinksOfAccount; over >= 0 {
		return tooManyLinks(sent[over], now).WithField("email", "can get links of this account %d times within 24 hours",
			MaxLinksOfAccount)
	}
	return nil
}

// tooManyLinks is the fault that lasts until m is no longer within LinkWindow.
func tooManyLinks(m LinkMail, now time.Time) *fault.Error {
	return fault.ErrRateLimited.WithRetryAfter(max(m.At.Add(LinkWindow).Sub(now), time.Second))
}
