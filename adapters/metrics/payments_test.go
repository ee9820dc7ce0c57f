package metrics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/metrics"
	"partnerdeposits/core/deposit"
	paymentports "partnerdeposits/ports/payments"
)

func TestPayments_SumCentsOfThoseThatSucceeded(t *testing.T) {
	r := metrics.NewRegistry(quiet)
	p := r.RegisterPayments()
	p.CountResult(deposit.PaymentKindFee, paymentports.PaymentSucceeded, 2_450)
	p.CountResult(deposit.PaymentKindFee, paymentports.PaymentRefused, 70_000)
	p.CountRefundResult(paymentports.PaymentSucceeded, 500)
	p.CountRefundResult(paymentports.PaymentUnavailable, 500)
	got := scrape(t, r)
	require.Equal(t, "2450", got[`svc_payments_cents_total{kind="fee"}`])
	require.Equal(t, "0", got[`svc_payments_cents_total{kind="collection"}`])
	require.Equal(t, "500", got[`svc_payments_cents_total{kind="refund"}`])
	require.Equal(t, "1", got[`svc_payments_total{kind="refund",result="unavailable"}`])
}
