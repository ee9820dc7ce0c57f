package payments

import (
	"errors"
	"fmt"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	paymentports "partnerdeposits/ports/payments"
)

// providerFailed counts a failed call of the provider; it wraps unreachability in
// paymentports.ErrProviderUnreachable, which the tenant's pages explain.
func (s *Service) providerFailed(kind deposit.PaymentKind, err error) error {
	s.deps.PaymentMetrics.CountResult(kind, paymentports.PaymentUnavailable, 0)
	if errors.Is(err, paymentports.ErrProviderRefused) {
		return err
	}
	return fmt.Errorf("%w: %w", paymentports.ErrProviderUnreachable, err)
}

// resultOf returns the result of a payment for the metrics, by its final status at the provider.
func resultOf(status paymentports.ProviderPaymentStatus) paymentports.PaymentResult {
	switch status {
	case paymentports.ProviderPaymentSucceeded:
		return paymentports.PaymentSucceeded
	case paymentports.ProviderPaymentFailed:
		return paymentports.PaymentRefused
	case paymentports.ProviderPaymentClosed, paymentports.ProviderPaymentUnknown, paymentports.ProviderPaymentOpen:
	}
	return paymentports.PaymentVoided
}

// settle sets the payment's final status by the provider's response; one that the provider does not have can never
// be paid.
func settle(p *deposit.Payment, answer paymentports.ProviderPayment, now time.Time) {
	switch answer.Status {
	case paymentports.ProviderPaymentSucceeded:
		p.Status = deposit.PaymentSucceeded
	case paymentports.ProviderPaymentFailed:
		p.Status = deposit.PaymentFailed
	case paymentports.ProviderPaymentClosed, paymentports.ProviderPaymentUnknown, paymentports.ProviderPaymentOpen:
		p.Status = deposit.PaymentVoided
	}
	if answer.Ref != "" {
		p.ProviderRef = answer.Ref
	}
	p.Failure, p.SettledAt = answer.Failure, now
}

// undecided reports whether the tenant can still pay, by the provider's status: open or unknown.
func undecided(status paymentports.ProviderPaymentStatus) bool {
	return status == paymentports.ProviderPaymentOpen || status == paymentports.ProviderPaymentUnknown
}

// The error for the end of a checkout whose payment the provider cannot stop right now.
var errPaymentOpen = fault.ErrUnavailable.WithMessage("A payment of the tenant is under way. Please retry shortly.")
