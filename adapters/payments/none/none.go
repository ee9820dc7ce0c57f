// Package none is the payment provider of an installation that has not set one up: it takes no money and says so. What
// is asked of it stays as it is and can be asked again later.
package none

import (
	"context"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// Provider implements ports.PaymentProvider; every answer is service_unavailable.
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
