package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Mails counts attempts to send a mail by whether they succeeded.
type Mails struct{ attempts *prometheus.CounterVec }

// RegisterMails registers the counter of attempts to send a mail, by whether they succeeded.
func (r *Registry) RegisterMails() *Mails {
	m := &Mails{attempts: r.counters("svc_mails_total",
		"Attempts to send a mail, by whether the mail server took the mail.", "result")}
	for _, sent := range []bool{true, false} {
		m.attempts.WithLabelValues(mailResult(sent))
	}
	return m
}

// CountAttempt counts an attempt to send a mail. sent: true if the mail server took the mail, false if not.
func (m *Mails) CountAttempt(sent bool) { m.attempts.WithLabelValues(mailResult(sent)).Inc() }

func mailResult(sent bool) string {
	if sent {
		return "sent"
	}
	return "failed"
}
