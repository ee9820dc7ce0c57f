package dispatch

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

type successes struct {
	mu    sync.Mutex
	told  map[id.ID]bool
	began time.Time
}

func (s *successes) tell(outcomes []webhookports.AttemptOutcome, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil || now.Sub(s.began) >= webhook.LastSuccessGranularity || now.Before(s.began) {
		s.told, s.began = map[id.ID]bool{}, now
	}
	for i := range outcomes {
		o := &outcomes[i]
		if sub := o.Delivery.SubscriptionID; o.Attempt.OK() && (o.Delivery.Test || !s.told[sub]) {
			s.told[sub], o.Tell = true, true
		}
	}
}
