package payments

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

// FindDebt returns a deposit's debt; nil if it has none.
func (s *Service) FindDebt(ctx context.Context, depositID id.ID) (*deposit.Debt, error) {
	found, err := s.deps.Collections.Debts(ctx, []id.ID{depositID})
	if err != nil {
		return nil, err
	}
	if d, ok := found[depositID]; ok {
		return &d, nil
	}
	return nil, nil //nolint:nilnil // a deposit that was not captured has no debt
}

// OpenDebtPage returns the URL of the provider's page for a debt, the same for two tabs. token is that of the
// checkout URL.
//
// Returns deposit.ErrCollectionNotPayable unless the debt waits for the tenant, or service_unavailable.
func (s *Service) OpenDebtPage(ctx context.Context, d *deposit.Deposit, token secret.Text,
	now time.Time) (string, error) {
	account, err := s.account(ctx, d)
	if err != nil {
		return "", err
	}
	payment, err := s.beginDebtPage(ctx, d.ID, now)
	if err != nil {
		return "", err
	}
	failpoint.Hit("payment.page.committed")
	page, err := s.provider.open(ctx, pageOf(payment, d, account, nil, s.returnURL(d.ID, token)))
	if err != nil {
		s.deps.Log.WarnContext(ctx, "payment page did not open", "payment", id.Payment.Of(payment.ID), "error", err)
		return "", s.providerFailed(payment.Kind, err)
	}
	s.keepReference(ctx, payment, page.Ref)
	return page.URL, nil
}

// beginDebtPage commits that the tenant opens a debt's page, so that CheckDuePayments queries the provider.
func (s *Service) beginDebtPage(ctx context.Context, depositID id.ID,
	now time.Time) (payment deposit.Payment, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		current, err := s.deps.Payments.LockProcessing(ctx, depositID, deposit.PaymentKindCollection)
		if err != nil {
			return err
		}
		if current == nil {
			return deposit.ErrCollectionNotPayable
		}
		debt, err := s.deps.Collections.LockDebt(ctx, current.ID)
		if err != nil {
			return err
		}
		if !debt.Payable(now) || s.tooSmall(*current) {
			return deposit.ErrCollectionNotPayable
		}
		debt.PageAt = now
		current.CheckAt = now.Add(feeWait(0))
		payment = *current
		if err := s.deps.Collections.Save(ctx, debt); err != nil {
			return err
		}
		return s.deps.Payments.Update(ctx, *current)
	})
	return payment, err
}

// ConfirmDebtPayment records the provider's result for a debt and leaves its page open.
//
// Returns service_unavailable when the provider cannot be reached.
func (s *Service) ConfirmDebtPayment(ctx context.Context, depositID id.ID, now time.Time) error {
	debt, err := s.FindDebt(ctx, depositID)
	if err != nil || debt == nil || debt.State != deposit.CollectionAwaitingTenant {
		return err
	}
	answer, err := s.provider.lookup(ctx, debt.PaymentID)
	if err != nil {
		return s.providerFailed(deposit.PaymentKindCollection, err)
	}
	if answer.Status != paymentports.ProviderPaymentSucceeded {
		return nil
	}
	payment := deposit.Payment{ID: debt.PaymentID, DepositID: depositID, Kind: deposit.PaymentKindCollection}
	_, err = s.recordCollection(ctx, payment, plan{act: actAsk, debt: *debt}, answer, now)
	return err
}
