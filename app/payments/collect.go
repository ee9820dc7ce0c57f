package payments

import (
	"context"
	"errors"
	"strconv"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
)

const (
	// maxRefusals is how many refusals of the card end a collection. With collectionWaits that takes about five days.
	maxRefusals = 10
	// outageWait is the time between tries of a collection while the provider cannot be reached.
	outageWait = 5 * time.Minute
)

// collectionWaits are the times after the first, second, … refusal; the last one repeats. They spread the tries over days,
// since a card without money today may have some tomorrow.
var collectionWaits = []time.Duration{
	time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

func collectionWait(refusals int) time.Duration {
	return collectionWaits[min(refusals, len(collectionWaits))-1]
}

// reconcileCollection tries to charge the card and records the answer, or the time of the next try.
func (s *Service) reconcileCollection(ctx context.Context, p deposit.Payment, now time.Time) (settled bool, err error) {
	answer, err := s.charge(ctx, p)
	refusals := p.Attempts + 1
	switch {
	case err != nil: // an outage is no refusal and does not count
		return false, errors.Join(err, s.postpone(ctx, p, answer, p.Attempts, now.Add(outageWait)))
	case answer.Status == ports.ProviderOpen || answer.Status == ports.ProviderUnknown,
		answer.Status != ports.ProviderSucceeded && refusals < maxRefusals:
		return false, s.postpone(ctx, p, answer, refusals, now.Add(collectionWait(refusals)))
	}
	err = s.recordCollection(ctx, p, answer, now)
	return err == nil, err
}

// charge collects from the card that paid the fee.
func (s *Service) charge(ctx context.Context, p deposit.Payment) (ports.ProviderPayment, error) {
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	d, err := s.deps.Deposits.Deposit(ctx, p.DepositID)
	if err != nil {
		return ports.ProviderPayment{}, err
	}
	fee, err := s.feeWithStatus(ctx, p.DepositID, deposit.PaymentSucceeded)
	if err != nil {
		return ports.ProviderPayment{}, err
	}
	if fee == nil {
		return ports.ProviderPayment{Status: ports.ProviderFailed, Failure: "no card to charge: no fee was paid"}, nil
	}
	return s.deps.Provider.Collect(ctx, ports.CollectRequest{PaymentID: p.ID, FeePaymentID: fee.ID, Amount: p.Amount, Description: d.Reference})
}

// recordCollection ends a collection. A failed collection is also written to the audit log for the operator; the deposit
// stays captured, since the operator's guarantee does not depend on the tenant's payment.
func (s *Service) recordCollection(ctx context.Context, p deposit.Payment, answer ports.ProviderPayment, now time.Time) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		current, err := stillInFlight(ctx, repos, p)
		if err != nil || current == nil {
			return err
		}
		current.Attempts++
		settle(current, answer, now)
		if err := repos.Payments.Update(ctx, *current); err != nil || current.Status == deposit.PaymentSucceeded {
			return err
		}
		return repos.Audit.Append(ctx, ports.AuditEntry{
			ID: s.deps.Entropy.NewID(), At: now, Actor: auditActor, Action: "payment.collection_failed", Subject: id.Deposit.Of(p.DepositID),
			Detail: map[string]string{
				"payment": id.Payment.Of(p.ID), "amountCents": cents(p.Amount), "failure": current.Failure, "attempts": strconv.Itoa(current.Attempts),
			},
		})
	})
}

func cents(c money.Cents) string { return strconv.FormatInt(int64(c), 10) }
