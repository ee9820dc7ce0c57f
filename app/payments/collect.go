package payments

import (
	"context"
	"strconv"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

// A payment page can no longer be paid after this time: the provider keeps it open for 24 h.
const pageLife = 25 * time.Hour

// The result of charging a deposit without a card, because no fee was paid.
var withoutCard = paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Failure: "no_card",
	Refusal: paymentports.ChargeRefusedForGood}

// The result of a charge that an outage delayed beyond the card networks' limit.
var tooLate = paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Failure: "too_late",
	Refusal: paymentports.ChargeRefusedUntilTenantActs}

// plan is the next step of a collection, committed before the provider is called.
type plan struct {
	act  act
	debt deposit.Debt
}

type act int

const (
	actNothing act = iota // No step of the collection: another process has settled the payment.
	actCharge             // The step to charge the card, whose attempt is due.
	actEnd                // The step to end the collection: the debt is cancelled or has expired.
	// The step to query the provider: the tenant may have paid, or a callback named the payment.
	actAsk
)

// checkCollection makes a collection's due step and records the result. When the provider cannot be reached, the
// charge is repeated without counting as refused.
func (s *Service) checkCollection(ctx context.Context, p deposit.Payment, now time.Time) (settled bool, err error) {
	next, err := s.planCollection(ctx, p, now)
	if err != nil || next.act == actNothing {
		return false, err
	}
	var answer paymentports.ProviderPayment
	switch next.act {
	case actEnd:
		failpoint.Hit("payment.cancel.committed")
		answer, err = s.provider.close(ctx, p.ID)
	case actCharge:
		failpoint.Hit("payment.attempt.committed")
		answer, err = s.charge(ctx, p, next.debt)
	case actAsk, actNothing:
		answer, err = s.provider.lookup(ctx, p.ID)
	}
	if err != nil {
		s.deps.PaymentMetrics.CountResult(p.Kind, paymentports.PaymentUnavailable, p.Amount)
		return false, err
	}
	return s.recordCollection(ctx, p, next, answer, now)
}

// planCollection locks the debt and commits its due step.
func (s *Service) planCollection(ctx context.Context, p deposit.Payment, now time.Time) (next plan, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		next = plan{}
		current, err := s.stillInFlight(ctx, p)
		if err != nil || current == nil {
			return err
		}
		debt, err := s.deps.Collections.LockDebt(ctx, p.ID)
		if err != nil {
			return err
		}
		changed := false
		if next, changed = decideStep(debt, s.tooSmall(*current), now); !changed {
			return nil
		}
		return s.deps.Collections.Save(ctx, next.debt)
	})
	return next, err
}

// tooSmall reports whether the provider cannot charge so small an amount.
func (s *Service) tooSmall(p deposit.Payment) bool { return p.Amount < s.deps.Provider.LeastCharge() }

// decideStep returns a collection's next step, and whether the debt changed.
func decideStep(debt deposit.Debt, tooSmall bool, now time.Time) (next plan, changed bool) {
	switch {
	case !debt.CancelAt.IsZero():
		return plan{actEnd, debt}, false
	case tooSmall || debt.Expired(now):
		debt.CancelAt, debt.CancelBy = now, actor.Clock
		return plan{actEnd, debt}, true
	case debt.ChargeDue(now):
		debt.BeginAttempt(now)
		return plan{actCharge, debt}, true
	default:
		return plan{actAsk, debt}, false
	}
}

// charge collects a debt from the card that paid the fee.
func (s *Service) charge(ctx context.Context, p deposit.Payment,
	debt deposit.Debt) (paymentports.ProviderPayment, error) {
	if debt.AttemptedAt.After(debt.CapturedAt.Add(deposit.ChargeAttemptWindow)) {
		return tooLate, nil
	}
	d, err := s.deps.Deposits.Deposit(ctx, p.DepositID)
	if err != nil {
		return paymentports.ProviderPayment{}, err
	}
	fee, err := s.feeWithStatus(ctx, p.DepositID, deposit.PaymentSucceeded)
	if err != nil {
		return paymentports.ProviderPayment{}, err
	}
	account, err := s.account(ctx, d)
	if err != nil {
		return paymentports.ProviderPayment{}, err
	}
	request, ok := chargeOf(p, d, account, fee, debt.Attempt)
	if !ok {
		return withoutCard, nil
	}
	return s.provider.collect(ctx, request)
}

// chargeOf returns the request to charge the card; ok is false for a deposit without a card.
func chargeOf(
	p deposit.Payment, d *deposit.Deposit, of connect.Account, fee *deposit.Payment, attempt int,
) (r paymentports.CollectRequest, ok bool) {
	if fee == nil {
		return r, false
	}
	return paymentports.CollectRequest{
		PaymentID: p.ID, FeePaymentID: fee.ID, DepositID: d.ID, Amount: p.Amount,
		Description: subject(p.Kind, d, of, d.Locale), Attempt: attempt,
	}, true
}

// recordCollection stores the provider's response to a collection's step, unless another process has.
func (s *Service) recordCollection(ctx context.Context, p deposit.Payment, made plan,
	answer paymentports.ProviderPayment, now time.Time) (settled bool, err error) {
	var result paymentports.PaymentResult
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		settled, result = false, ""
		current, err := s.stillInFlight(ctx, p)
		if err != nil || current == nil {
			return err
		}
		debt, err := s.deps.Collections.LockDebt(ctx, p.ID)
		if err != nil {
			return err
		}
		r := recording{Service: s, ctx: ctx, payment: current, debt: &debt, now: now}
		switch decideEffect(made, debt, answer.Status) {
		case effectPaid:
			settled, result = true, paymentports.PaymentSucceeded
			return r.paid(answer)
		case effectFailed:
			settled, result = true, paymentports.PaymentVoided
			return r.failed(answer)
		case effectRefused:
			result = paymentports.PaymentRefused
			return r.refused(answer)
		case effectUnderWay:
			current.CheckAt = now.Add(openWait)
		case effectNone:
			current.CheckAt = nextCheck(debt, now)
		}
		return s.deps.Payments.Update(ctx, *current)
	})
	if err == nil && result != "" {
		s.deps.PaymentMetrics.CountResult(p.Kind, result, p.Amount)
	}
	return settled && err == nil, err
}

type effect int

const (
	effectNone     effect = iota // The provider's response contains nothing new about the collection.
	effectUnderWay               // The charge, or the closing of the payment page, has not ended at the provider.
	effectPaid
	effectFailed
	effectRefused // The bank has refused this attempt to charge the card.
)

// decideEffect returns what the provider's response to a step of a collection changes in the present debt.
func decideEffect(made plan, debt deposit.Debt, answer paymentports.ProviderPaymentStatus) effect {
	switch {
	case answer == paymentports.ProviderPaymentSucceeded:
		return effectPaid
	case answer == paymentports.ProviderPaymentOpen && made.act != actAsk:
		return effectUnderWay
	case made.act == actEnd || (made.act == actCharge && answer == paymentports.ProviderPaymentClosed):
		return effectFailed
	case made.act == actCharge && answer == paymentports.ProviderPaymentFailed && !debt.Answered &&
		debt.Attempt == made.debt.Attempt:
		return effectRefused
	}
	return effectNone
}

type recording struct {
	*Service
	ctx     context.Context //nolint:containedctx // lives as long as the transaction
	payment *deposit.Payment
	debt    *deposit.Debt
	now     time.Time
}

func (r recording) paid(answer paymentports.ProviderPayment) error {
	step, err := r.debt.MarkPaid(payer(r.debt.State), r.now)
	if err != nil {
		return err
	}
	if err := r.settle(answer, step); err != nil {
		return err
	}
	return r.tell(paymentports.TenantNoticePaid)
}

// payer returns who paid a debt in this state: the tenant, or the scheduler by a charge.
func payer(state deposit.CollectionState) actor.Actor {
	if state == deposit.CollectionAwaitingTenant {
		return actor.Tenant
	}
	return actor.Clock
}

// failed ends a debt that can never be paid; the deposit stays captured, since the claim remains.
func (r recording) failed(answer paymentports.ProviderPayment) error {
	trigger, by := ending(*r.debt, r.tooSmall(*r.payment))
	step, err := r.debt.MarkFailed(trigger, by, r.now)
	if err != nil {
		return err
	}
	answer.Status, answer.Failure = paymentports.ProviderPaymentFailed, r.debt.Failure
	if err := r.settle(answer, step); err != nil {
		return err
	}
	subject, detail := id.Deposit.Of(r.payment.DepositID), map[string]string{
		"payment": id.Payment.Of(r.payment.ID), "amountCents": cents(r.payment.Amount), "failure": r.debt.Failure,
		"attempts": strconv.Itoa(r.debt.Attempt),
	}
	entry := audit.NewEntry(r.deps.Entropy, r.now, by, audit.PaymentCollectionFailed, subject, detail)
	if err := r.deps.Audit.Append(r.ctx, entry); err != nil || !trigger.EndedByOperator() {
		return err
	}
	return r.tell(paymentports.TenantNoticeDebtEnded)
}

// ending returns the trigger and actor with which an unpaid debt ends; the scheduler ends one that is too small or
// expired.
func ending(debt deposit.Debt, tooSmall bool) (trigger deposit.CollectionTrigger, by actor.Actor) {
	switch {
	case debt.CancelBy == actor.Actor{}:
		// The payment of the debt was closed at the provider, neither by the operator nor by the scheduler.
		return deposit.CollectionTriggerCancelled, actor.Provider
	case debt.CancelAs != "":
		return debt.CancelAs, debt.CancelBy
	case debt.CancelBy != actor.Clock:
		return deposit.CollectionTriggerCancelled, debt.CancelBy
	case tooSmall:
		return deposit.CollectionTriggerTooSmall, actor.Clock
	default:
		return deposit.CollectionTriggerExpired, actor.Clock
	}
}

// settle stores a collection's end, the debt before its payment, since a database trigger ends the debt of a
// payment that an older version settles.
func (r recording) settle(answer paymentports.ProviderPayment, step deposit.CollectionTransition) error {
	if err := r.deps.Collections.Save(r.ctx, *r.debt, step); err != nil {
		return err
	}
	r.payment.Attempts = r.debt.Attempt
	settle(r.payment, answer, r.now)
	return r.deps.Payments.Update(r.ctx, *r.payment)
}

func (r recording) refused(answer paymentports.ProviderPayment) error {
	step, err := r.debt.RecordRefusal(refusal(answer), r.deps.Schedule, actor.Clock, r.now)
	if err != nil {
		return err
	}
	if err := r.deps.Collections.Save(r.ctx, *r.debt, step); err != nil {
		return err
	}
	r.payment.Attempts, r.payment.Failure, r.payment.CheckAt = r.debt.Attempt, answer.Failure, nextCheck(*r.debt, r.now)
	if answer.Ref != "" {
		r.payment.ProviderRef = answer.Ref
	}
	if err := r.deps.Payments.Update(r.ctx, *r.payment); err != nil || r.debt.State != deposit.CollectionAwaitingTenant {
		return err
	}
	return r.tell(paymentports.TenantNoticeCardRefused)
}

// refusal returns the bank's refusal; one without a class counts as temporary.
func refusal(answer paymentports.ProviderPayment) deposit.ChargeRefusal {
	return deposit.ChargeRefusal{
		Failure: answer.Failure, Barred: answer.Refusal == paymentports.ChargeRefusedForGood,
		Passes: answer.Refusal == paymentports.ChargeRefusedForNow || answer.Refusal == "",
	}
}

func (r recording) tell(kind paymentports.TenantNoticeKind) error {
	return r.deps.TenantNotices.Add(r.ctx,
		paymentports.TenantMailNotice{SubjectID: r.payment.ID, Kind: kind, DepositID: r.payment.DepositID, At: r.now})
}

// nextCheck returns the time at which a collection is checked again. A paid page is noticed within 5 minutes, even
// without a callback.
func nextCheck(d deposit.Debt, now time.Time) time.Time {
	switch {
	case d.State != deposit.CollectionAwaitingTenant && d.Answered:
		return d.NextAttemptAt
	case d.State != deposit.CollectionAwaitingTenant:
		return now.Add(openWait)
	}
	open := now.Sub(d.PageAt)
	if d.PageAt.IsZero() || open > pageLife {
		return d.CapturedAt.Add(deposit.DebtExpiresAfter)
	}
	return now.Add(min(max(open, feeWait(0)), longestWait))
}
