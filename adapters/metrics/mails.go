package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

type Mails struct{ attempts *prometheus.CounterVec }

func (r *Registry) RegisterMails() *Mails {
	m := &Mails{attempts: r.counters("svc_mails_total",
		"Attempts to send a mail, by whether the mail server took the mail.", "result")}
	for _, sent := range []bool{true, false} {
		m.attempts.WithLabelValues(mailResult(sent))
	}
	return m
}

func (m *Mails) CountAttempt(sent bool) { m.attempts.WithLabelValues(mailResult(sent)).Inc() }

func mailResult(sent bool) string {
	if sent {
		return "sent"
	}
	return "failed"
}
