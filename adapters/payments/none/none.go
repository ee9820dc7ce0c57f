// Package none is the payment provider of an installation without a provider: every request fails with
// service_unavailable, changes nothing and may be repeated.
package none

import (
	"context"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
)

// Provider implements ports.PaymentProvider for a service without payments (PAYMENTS_PROVIDER=none). Every call returns
// service_unavailable.
type Provider struct{}

// Open implements ports.PaymentProvider.
func (Provider) Open(context.Context, ports.HostedPayment) (ports.HostedPage, error) {
	return ports.HostedPage{}, fault.ErrUnavailable
}

// Lookup implements ports.PaymentProvider.
func (Provider) Lookup(context.Context, id.ID) (ports.ProviderPayment, error) {
	return ports.ProviderPayment{}, fault.ErrUnavailable
}

// Close implements ports.PaymentProvider.
func (Provider) Close(context.Context, id.ID) (ports.ProviderPayment, error) {
	return ports.ProviderPayment{}, fault.ErrUnavailable
}

// Collect implements ports.PaymentProvider.
func (Provider) Collect(context.Context, ports.CollectRequest) (ports.ProviderPayment, error) {
	return ports.ProviderPayment{}, fault.ErrUnavailable
}

// Refund implements ports.PaymentProvider.
func (Provider) Refund(context.Context, ports.RefundRequest) (ports.ProviderRefund, error) {
	return ports.ProviderRefund{}, fault.ErrUnavailable
}

// LeastCharge implements ports.PaymentProvider.
func (Provider) LeastCharge() money.Cents { return 0 }
