package deposits

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/site"
	"partnerdeposits/core/tenant"
	ports "partnerdeposits/ports/platform"
)

// SendLinkRequest is a request to mail the checkout link.
type SendLinkRequest struct {
	DepositID  id.ID
	Recipients []tenant.MailContact
	// Batch reports whether errors name the fields of the i-th recipient as recipients[i].email, instead of email.
	Batch bool
}

// QueuedLinkMail is a queued mail with a checkout link.
type QueuedLinkMail struct {
	Email     string
	MessageID id.ID
}

// SendLink queues a mail with the checkout link for every recipient or for none, also for a deposit without a
// depositUrl.
//
// Returns missing_field, invalid_field, deposit_not_found, deposit_access_denied, account_revoked,
// deposit_not_sendable, rate_limited after too many mails to an address, and the errors of idempotent.Executor.Run.
func (s *Service) SendLink(ctx context.Context, by partner.Caller, in SendLinkRequest,
	call idempotent.KeyAndEncoder[[]QueuedLinkMail]) (idempotent.Response, error) {
	sending := &linkSending{Service: s, by: by, in: in, call: call, now: s.deps.Clock.Now()}
	return s.deps.Idempotent.Run(ctx,
		idempotent.Request{Key: call.Key, Now: sending.now, Prepare: sending.prepare, Effect: sending.effect})
}

type linkSending struct {
	*Service
	by      partner.Caller
	in      SendLinkRequest
	call    idempotent.KeyAndEncoder[[]QueuedLinkMail]
	now     time.Time
	account connect.Account
	url     string
}

// prepare checks the recipients of a checkout link and reads the account before the transaction.
func (l *linkSending) prepare(ctx context.Context) error {
	if err := l.in.validate(); err != nil {
		return err
	}
	d, err := l.deps.Deposits.Deposit(ctx, l.in.DepositID)
	if err != nil {
		return err
	}
	if err := changeable(d, l.by.Partner.ID); err != nil {
		return err
	}
	account, _, err := l.deps.Operators.AccountByID(ctx, d.AccountID)
	if err != nil {
		return err
	}
	tokens, err := l.deps.Deposits.CheckoutTokens(ctx, []id.ID{d.ID})
	if err != nil {
		return err
	}
	token, ok := tokens[d.ID]
	if !ok {
		return fmt.Errorf("deposits: %s has no checkout token", id.Deposit.Of(d.ID))
	}
	l.account, l.url = account, site.CheckoutURL(l.deps.DashboardURL, token.Reveal())
	return nil
}

func (l *linkSending) effect(ctx context.Context) (response idempotent.Response, err error) {
	d, err := l.lockLinked(ctx, l.by, l.in.DepositID)
	if err != nil {
		return response, err
	}
	if err := d.CheckLinkSendable(l.now); err != nil {
		return response, err
	}
	sent, err := l.deps.Mails.CheckoutLinkMails(ctx, d.ID, l.now.Add(-deposit.LinkMailWindow), deposit.MaxLinkMails)
	if err != nil {
		return response, err
	}
	if err := deposit.CheckLinkMails(sent, l.in.addresses(), l.in.emailField, l.now); err != nil {
		return response, err
	}
	sender := l.by.Partner.ID
	err = mails.CheckSenderLimit(ctx, l.deps.Mails, sender, l.in.addresses(), l.in.emailField, l.now)
	if err != nil {
		return response, err
	}
	queued := make([]QueuedLinkMail, 0, len(l.in.Recipients))
	for _, r := range l.in.Recipients {
		mail := mails.DepositLink{To: r.Email, Locale: cmp.Or(r.Locale, d.Locale), Deposit: d.InTimeZone(l.account.Zone()),
			Company: l.account.CompanyName, Sender: sender, Mark: l.deps.Entropy.NewID(), URL: l.url, Imprint: l.deps.Imprint,
		}.Mail(l.deps.Entropy.NewID(), l.now)
		if err := l.deps.Mails.Enqueue(ctx, mail); err != nil {
			return response, err
		}
		queued = append(queued, QueuedLinkMail{Email: r.Email, MessageID: mail.ID})
	}
	if err := l.deps.Audit.Append(ctx, l.audit(d.ID, len(queued))); err != nil {
		return response, err
	}
	return l.call.Encode(queued)
}

// audit returns the audit entry about mails with a checkout link, without their addresses.
func (l *linkSending) audit(depositID id.ID, count int) ports.AuditEntry {
	detail := map[string]string{"mails": strconv.Itoa(count)}
	return audit.NewEntry(l.deps.Entropy, l.now, l.by.Actor(), audit.DepositSendLink, id.Deposit.Of(depositID), detail)
}

// validate checks the recipients of a checkout link; an address may occur once, in any case.
func (r SendLinkRequest) validate() error {
	seen := map[string]int{}
	for i, to := range r.Recipients {
		if err := to.Validate(r.prefix(i)); err != nil {
			return err
		}
		key := mailaddr.Normalized(to.Email)
		if before, double := seen[key]; double {
			return fault.ErrInvalidField.WithField(r.emailField(i), "is the address of recipients[%d] too", before)
		}
		seen[key] = i
	}
	return nil
}

// prefix returns the beginning of the field names in errors about the i-th recipient of a checkout link.
func (r SendLinkRequest) prefix(i int) string {
	if !r.Batch {
		return ""
	}
	return "recipients[" + strconv.Itoa(i) + "]."
}

func (r SendLinkRequest) emailField(i int) string { return r.prefix(i) + "email" }

func (r SendLinkRequest) addresses() []string {
	list := make([]string, len(r.Recipients))
	for i, to := range r.Recipients {
		list[i] = to.Email
	}
	return list
}
