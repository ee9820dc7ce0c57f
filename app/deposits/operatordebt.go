package deposits

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// RemindByOperator mails the tenant of a refused charge the link to pay again.
//
// Returns connect.ErrEmailUnverified, deposit_not_found, ErrChanged, the errors of OperatorAct.CheckPossible,
// rate_limited after too many mails to the address, and the errors of idempotent.Executor.Run.
func (s *Service) RemindByOperator(ctx context.Context, by OperatorCaller, form ActForm) error {
	if err := s.verified(by, ActRemind); err != nil {
		return err
	}
	var url, locale string
	return s.onDebt(ctx, by, form, ActRemind,
		func(ctx context.Context) (err error) {
			if url, err = s.CheckoutURL(ctx, by.Account.ID, form.DepositID); err != nil {
				return err
			}
			agreed, err := s.deps.Agreements.Agreements(ctx, form.DepositID)
			locale = agreement.LatestLocale(agreed)
			return err
		},
		func(ctx context.Context, d *deposit.Deposit, now time.Time) error {
			if err := s.deps.Payments.RecordReminder(ctx, d.ID, now); err != nil {
				return err
			}
			return s.mailReminder(ctx, by, d, reminder{url, locale}, now)
		})
}

type reminder struct {
	url string
	// The language of the tenant's agreement, for a deposit without a language of its own.
	agreed string
}

// mailReminder queues the mail that reminds a tenant of a debt.
//
// Returns deposit.ErrNobodyToRemind, or rate_limited after too many mails to the address.
func (s *Service) mailReminder(ctx context.Context, by OperatorCaller, d *deposit.Deposit, r reminder,
	now time.Time) error {
	if d.Client == nil {
		return deposit.ErrNobodyToRemind
	}
	if err := s.mayMail(ctx, by, d.Client.Email, now); err != nil {
		return err
	}
	money := mails.NewChargeOrRefundNotice(d, r.agreed, paymentports.TenantNoticeCardRefused, by.Account,
		s.deps.Imprint.SupportEmail)
	money.URL = r.url
	mail := money.Mail(s.deps.Entropy.NewID(), now)
	mail.Sender = by.Account.ID
	if err := s.deps.Mails.Enqueue(ctx, mail); err != nil {
		return err
	}
	return s.deps.Audit.Append(ctx, s.audit(by, now, audit.DepositRemind, d.ID, map[string]string{"mails": "1"}))
}

// debtEnds maps each act that ends a debt without payment to its trigger.
var debtEnds = map[OperatorAct]deposit.CollectionTrigger{
	ActMarkSettledElsewhere: deposit.CollectionTriggerSettledElsewhere,
	ActWithdrawClaim:        deposit.CollectionTriggerWithdrawn,
}

// EndDebtByOperator ends a debt without payment, by ActMarkSettledElsewhere or ActWithdrawClaim. The decision
// commits before the provider is called; if it cannot be reached, the dispatcher completes the end.
//
// Returns deposit_not_found, ErrChanged, deposit.ErrCollectionOver, also where the tenant has paid,
// deposit.ErrCollectionEnding, and the errors of idempotent.Executor.Run.
func (s *Service) EndDebtByOperator(ctx context.Context, by OperatorCaller, form ActForm, act OperatorAct) error {
	err := s.onDebt(ctx, by, form, act, nil, func(ctx context.Context, d *deposit.Deposit, now time.Time) error {
		return s.deps.Payments.RequestDebtEnd(ctx, d.ID, debtEnds[act], by.Operator.Actor(), now)
	})
	if err != nil {
		return err
	}
	debt, err := s.deps.Payments.FinishDebtEnd(ctx, form.DepositID)
	if err == nil && debt.State == deposit.CollectionPaid {
		err = debt.CheckEndable()
	}
	return err
}

// onDebt runs an operator's act on a debt, once for each form. prepare runs before the transaction and may be nil.
func (s *Service) onDebt(ctx context.Context, by OperatorCaller, form ActForm, act OperatorAct,
	prepare func(context.Context) error, do func(context.Context, *deposit.Deposit, time.Time) error) error {
	now := s.deps.Clock.Now()
	_, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: formKey(by, form.Key, []string{id.Deposit.Of(form.DepositID), string(act)}), Now: now, Prepare: prepare,
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			d, err := s.lockOwned(ctx, by, form.DepositID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := form.unchanged(d); err != nil {
				return idempotent.Response{}, err
			}
			return formResponse(d.ID), do(ctx, d, now)
		},
	})
	return err
}
