// Package none is the payment provider of an installation without a provider: every request fails with
// service_unavailable, changes nothing and may be repeated.
package none

import (
	"context"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

// Provider implements paymentports.PaymentProvider for a service without payments (PAYMENTS_PROVIDER=none). Every call
// returns service_unavailable.
type Provider struct{}

// Open implements paymentports.PaymentProvider.
func (Provider) Open(context.Context, paymentports.HostedPayment) (paymentports.HostedPage, error) {
	return paymentports.HostedPage{}, fault.ErrUnavailable
}

// Lookup implements paymentports.PaymentProvider.
func (Provider) Lookup(context.Context, id.ID) (paymentports.ProviderPayment, error) {
	return paymentports.ProviderPayment{}, fault.ErrUnavailable
}

// Close implements paymentports.PaymentProvider.
func (Provider) Close(context.Context, id.ID) (paymentports.ProviderPayment, error) {
	return paymentports.ProviderPayment{}, fault.ErrUnavailable
}

// Collect implements paymentports.PaymentProvider.
func (Provider) Collect(context.Context, paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
	return paymentports.ProviderPayment{}, fault.ErrUnavailable
}

// Refund implements paymentports.PaymentProvider.
func (Provider) Refund(context.Context, paymentports.RefundRequest) (paymentports.ProviderRefund, error) {
	return paymentports.ProviderRefund{}, fault.ErrUnavailable
}

// LeastCharge implements paymentports.PaymentProvider.
func (Provider) LeastCharge() money.Cents { return 0 }
