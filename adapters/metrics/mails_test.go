package metrics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/metrics"
)

func TestMails_CountAttemptsByResult(t *testing.T) {
	r := metrics.NewRegistry(quiet)
	m := r.RegisterMails()
	m.CountAttempt(true)
	m.CountAttempt(true)
	m.CountAttempt(false)
	got := scrape(t, r)
	require.Equal(t, "2", got[`svc_mails_total{result="sent"}`])
	require.Equal(t, "1", got[`svc_mails_total{result="failed"}`])
}
