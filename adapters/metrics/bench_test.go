package metrics_test

import (
	"testing"
	"time"

	"partnerdeposits/core/webhook"
)

// costs tells what do costs without a trace and with an exemplar (ADR 0028).
func costs(b *testing.B, do func(trace string)) {
	b.Helper()
	for name, trace := range map[string]string{"without a trace": "", "with an exemplar": traceID} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do(trace)
			}
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	_, h, _, _ := full(b)
	costs(b, func(trace string) { h.ObserveRequest("partner_api", route, "POST", 201, 20*time.Millisecond, trace) })
}

func BenchmarkDelivery(b *testing.B) {
	_, _, _, w := full(b)
	costs(b, func(trace string) {
		w.ObserveStartDelay(time.Millisecond, trace)
		w.CountAttempt(webhook.EventDepositActivated, webhook.ResultSuccess, 20*time.Millisecond, trace)
		w.CountFinished(webhook.EventDepositActivated, webhook.StatusSucceeded, 30*time.Millisecond, trace)
		w.ObserveHealthyLatency(30*time.Millisecond, trace)
	})
}
