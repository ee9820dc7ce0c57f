package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

// OpenFeePage returns the URL of the provider's page for the fee; a payment in flight keeps its page. payer is nil
// when the tenant gave no name; prepare, which may be nil, runs in the payment's transaction.
//
// Returns deposit.ErrNotSecurable when the checkout has ended, or service_unavailable; the payment then stays
// processing.
func (s *Service) OpenFeePage(ctx context.Context, d *deposit.Deposit, token secret.Text, payer *tenant.Person,
	prepare lifecycle.PrepareDepositFunc, now time.Time) (string, error) {
	payment, page, err := s.openFee(ctx, d, token, payer, prepare, now)
	if err != nil {
		return "", err
	}
	s.keepReference(ctx, payment, page.Ref)
	return page.URL, nil
}

func (s *Service) openFee(ctx context.Context, d *deposit.Deposit, token secret.Text, payer *tenant.Person,
	prepare lifecycle.PrepareDepositFunc, now time.Time) (deposit.Payment, paymentports.HostedPage, error) {
	account, err := s.account(ctx, d)
	if err != nil {
		return deposit.Payment{}, paymentports.HostedPage{}, err
	}
	payment, err := s.beginFee(ctx, d.ID, prepare, now)
	if err != nil {
		return payment, paymentports.HostedPage{}, err
	}
	failpoint.Hit("payment.fee.committed")
	page, err := s.provider.open(ctx, pageOf(payment, d, account, payer, s.returnURL(d.ID, token)))
	if err != nil {
		s.deps.Log.WarnContext(ctx, "payment page did not open", "payment", id.Payment.Of(payment.ID), "error", err)
		err = s.providerFailed(payment.Kind, err)
	}
	return payment, page, err
}

// account returns the account of a deposit, whose company name the tenant recognises.
func (s *Service) account(ctx context.Context, d *deposit.Deposit) (connect.Account, error) {
	account, _, err := s.deps.Operators.AccountByID(ctx, d.AccountID)
	return account, err
}

// subject returns the text of a payment for the tenant: company and rental period.
func subject(kind deposit.PaymentKind, d *deposit.Deposit, of connect.Account, locale string) string {
	return agreement.PaymentSubject{Captured: kind == deposit.PaymentKindCollection, Company: of.CompanyName,
		From: d.ContractStartAt.In(of.Zone()), To: d.ContractEndAt.In(of.Zone())}.InLanguage(locale)
}

// pageOf returns the request for the provider's page of a payment; with a nil payer, the page asks for an e-mail
// address.
func pageOf(p deposit.Payment, d *deposit.Deposit, of connect.Account, payer *tenant.Person,
	returnURL string) paymentports.HostedPageRequest {
	r := paymentports.HostedPageRequest{
		PaymentID: p.ID, DepositID: d.ID, Kind: p.Kind, Amount: p.Amount, Locale: d.Locale, ReturnURL: returnURL,
	}
	if p.Kind == deposit.PaymentKindFee {
		r.EndsAt = d.ContractEndAt
	}
	switch {
	case payer != nil:
		r.Email, r.Locale = payer.Email, payer.Locale
	case p.Kind == deposit.PaymentKindCollection && d.Client != nil:
		r.Email = d.Client.Email
	}
	r.Description = subject(p.Kind, d, of, r.Locale)
	return r
}

// beginFee commits a fee payment before the provider is called, so that no crash loses it, or returns the one in
// flight.
func (s *Service) beginFee(ctx context.Context, depositID id.ID, prepare lifecycle.PrepareDepositFunc,
	now time.Time) (payment deposit.Payment, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		d, err := s.deps.Deposits.LockRow(ctx, depositID)
		if err != nil {
			return err
		}
		if prepare != nil {
			if err := prepare(ctx, d); err != nil {
				return err
			}
		}
		if err := s.deps.Transitions.RecordCheckoutStep(ctx, d, now); err != nil {
			return err
		}
		payment = feeOf(d, s.deps.Entropy.NewID(), now)
		if err := s.deps.Payments.Insert(ctx, payment); !errors.Is(err, paymentports.ErrPaymentExists) {
			return err
		}
		inFlight, err := s.deps.Payments.LockProcessing(ctx, d.ID, deposit.PaymentKindFee)
		if err != nil {
			return err
		}
		// Read the clock again: a fee that is paid after the end of the stay does not secure the deposit.
		if inFlight == nil && d.RentalEnded(s.deps.Clock.Now()) {
			return deposit.ErrNotSecurable
		}
		// The deposit's fee payment has succeeded, yet the deposit is in checkout, which must not happen.
		if inFlight == nil {
			return fault.ErrInternal.WithCause(
				errors.New("payments: a fee was paid and the deposit is not secured: " + d.Reference))
		}
		payment = *inFlight
		return nil
	})
	return payment, err
}

func feeOf(d *deposit.Deposit, paymentID id.ID, now time.Time) deposit.Payment {
	return deposit.Payment{
		ID: paymentID, DepositID: d.ID, Kind: deposit.PaymentKindFee, Amount: deposit.Fee(d.Amount),
		Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: nextFeeCheck(d, 0, now),
	}
}

// keepReference stores the provider's reference of a payment; a failure is only logged, since it only helps support
// staff.
func (s *Service) keepReference(ctx context.Context, p deposit.Payment, ref string) {
	if p.ProviderRef == ref {
		return
	}
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		current, err := s.stillInFlight(ctx, p)
		if err != nil || current == nil {
			return err
		}
		current.ProviderRef = ref
		return s.deps.Payments.Update(ctx, *current)
	})
	if err != nil {
		s.deps.Log.WarnContext(ctx, "payment reference not kept", "payment", id.Payment.Of(p.ID), "error", err)
	}
}
