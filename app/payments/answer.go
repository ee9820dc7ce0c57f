package payments

import (
	"errors"
	"fmt"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	paymentports "partnerdeposits/ports/payments"
)

// providerFailed marks an error of the provider with paymentports.ErrProviderAway, for the tenant's pages.
func (s *Service) providerFailed(kind deposit.PaymentKind, err error) error {
	s.deps.PaymentMetrics.Answered(kind, paymentports.PaymentUnavailable, 0)
	if errors.Is(err, paymentports.ErrProviderAnswered) {
		return err
	}
	return fmt.Errorf("%w: %w", paymentports.ErrProviderAway, err)
}

// resultOf is the result of a payment with that final answer of the provider.
func resultOf(status paymentports.ProviderStatus) paymentports.PaymentResult {
	switch status {
	case paymentports.ProviderSucceeded:
		return paymentports.PaymentSucceeded
	case paymentports.ProviderFailed:
		return paymentports.PaymentRefused
	case paymentports.ProviderClosed, paymentports.ProviderUnknown, paymentports.ProviderOpen:
	}
	return paymentports.PaymentVoided
}

// settle sets the payment's final status. A payment that the provider closed or does not know can never be paid.
func settle(p *deposit.Payment, answer paymentports.ProviderPayment, now time.Time) {
	switch answer.Status {
	case paymentports.ProviderSucceeded:
		p.Status = deposit.PaymentSucceeded
	case paymentports.ProviderFailed:
		p.Status = deposit.PaymentFailed
	case paymentports.ProviderClosed, paymentports.ProviderUnknown, paymentports.ProviderOpen:
		p.Status = deposit.PaymentVoided
	}
	if answer.Ref != "" {
		p.ProviderRef = answer.Ref
	}
	p.Failure, p.SettledAt = answer.Failure, now
}

// undecided reports whether the tenant can still pay, by the provider's answer.
func undecided(status paymentports.ProviderStatus) bool {
	return status == paymentports.ProviderOpen || status == paymentports.ProviderUnknown
}

// errPaymentOpen refuses to end a checkout whose payment cannot be stopped right now.
var errPaymentOpen = fault.ErrUnavailable.WithMessage("A payment of the tenant is under way. Please retry shortly.")
