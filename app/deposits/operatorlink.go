package deposits

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
	"partnerdeposits/core/tenant"
)

// SendLinkByOperator queues a mail with the checkout link of a deposit of the account.
//
// Returns connect.ErrEmailUnverified, missing_field, invalid_field, deposit_not_found, deposit_not_sendable,
// rate_limited after too many mails to the address, and the errors of idempotent.Executor.Run.
func (s *Service) SendLinkByOperator(ctx context.Context, by OperatorCaller, form ActForm,
	to tenant.MailContact) error {
	if err := s.verified(by, ActSendLink); err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	var url string
	_, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: formKey(by, form.Key, []string{id.Deposit.Of(form.DepositID), string(ActSendLink), to.Email, to.Locale}),
		Now: now,
		Prepare: func(ctx context.Context) (err error) {
			if err = to.Validate(""); err == nil {
				url, err = s.CheckoutURL(ctx, by.Account.ID, form.DepositID)
			}
			return err
		},
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			d, err := s.lockOwned(ctx, by, form.DepositID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := d.CheckLinkSendable(now); err != nil {
				return idempotent.Response{}, err
			}
			sent, err := s.deps.Mails.CheckoutLinkMails(ctx, d.ID, now.Add(-deposit.LinkMailWindow), deposit.MaxLinkMails)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := deposit.CheckLinkMails(sent, []string{to.Email}, emailField, now); err != nil {
				return idempotent.Response{}, err
			}
			return formResponse(d.ID), s.mailLink(ctx, by, d, url, to, now)
		},
	})
	return err
}

// mailLink queues the mail with the checkout link, or returns rate_limited after too many mails to the address.
func (s *Service) mailLink(ctx context.Context, by OperatorCaller, d *deposit.Deposit, url string,
	to tenant.MailContact,
	now time.Time) error {
	if err := s.mayMail(ctx, by, to.Email, now); err != nil {
		return err
	}
	mail := mails.DepositLink{To: to.Email, Locale: cmp.Or(to.Locale, d.Locale), Deposit: d.InTimeZone(by.Account.Zone()),
		Company: by.Account.CompanyName, ByCompany: true, Sender: by.Account.ID, Mark: s.deps.Entropy.NewID(), URL: url,
		Imprint: s.deps.Imprint}.Mail(s.deps.Entropy.NewID(), now)
	if err := s.deps.Mails.Enqueue(ctx, mail); err != nil {
		return err
	}
	return s.deps.Audit.Append(ctx, s.audit(by, now, audit.DepositSendLink, d.ID, map[string]string{"mails": "1"}))
}

func (s *Service) mayMail(ctx context.Context, by OperatorCaller, address string, now time.Time) error {
	return mails.CheckSenderLimit(ctx, s.deps.Mails, by.Account.ID, []string{address}, emailField, now)
}

func emailField(int) string { return "email" }

// CheckoutURL returns the checkout URL of the account's deposit, which is a secret, or deposit_not_found.
func (s *Service) CheckoutURL(ctx context.Context, accountID, depositID id.ID) (string, error) {
	d, err := s.deps.Deposits.Deposit(ctx, depositID)
	if err != nil {
		return "", err
	}
	if err := owned(d, accountID); err != nil {
		return "", err
	}
	tokens, err := s.deps.Deposits.CheckoutTokens(ctx, []id.ID{d.ID})
	if err != nil {
		return "", err
	}
	token, ok := tokens[d.ID]
	if !ok {
		return "", fmt.Errorf("deposits: %s has no checkout token", id.Deposit.Of(d.ID))
	}
	return s.checkoutURL(token), nil
}

func (s *Service) checkoutURL(token secret.Text) string {
	return site.CheckoutURL(s.deps.DashboardURL, token.Reveal())
}
