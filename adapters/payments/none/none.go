// Package none is the payment provider of an installation without payments: every request fails with
// service_unavailable, changes nothing and may be repeated.
package none

import (
	"context"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

type Provider struct{}

func (Provider) OpenPage(context.Context, paymentports.HostedPageRequest) (paymentports.HostedPage, error) {
	return paymentports.HostedPage{}, fault.ErrUnavailable
}

func (Provider) LookupPayment(context.Context, id.ID) (paymentports.ProviderPayment, error) {
	return paymentports.ProviderPayment{}, fault.ErrUnavailable
}

func (Provider) ClosePayment(context.Context, id.ID) (paymentports.ProviderPayment, error) {
	return paymentports.ProviderPayment{}, fault.ErrUnavailable
}

func (Provider) ChargeStoredCard(context.Context, paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
	return paymentports.ProviderPayment{}, fault.ErrUnavailable
}

func (Provider) Refund(context.Context, paymentports.RefundRequest) (paymentports.ProviderRefund, error) {
	return paymentports.ProviderRefund{}, fault.ErrUnavailable
}

func (Provider) LeastCharge() money.Cents { return 0 }
