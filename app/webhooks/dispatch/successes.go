package dispatch

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// successes limits how often the time of a success is written for an endpoint in good health, whose successes change
// nothing else.
type successes struct {
	mu    sync.Mutex
	told  map[id.ID]bool // since began
	began time.Time
}

// tell marks a success of each subscription that has none in this webhook.SuccessGrain, and every success of a test.
func (s *successes) tell(outcomes []webhookports.Outcome, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil || now.Sub(s.began) >= webhook.SuccessGrain || now.Before(s.began) {
		s.told, s.began = map[id.ID]bool{}, now
	}
	for i := range outcomes {
		o := &outcomes[i]
		if sub := o.Delivery.SubscriptionID; o.Attempt.OK() && (o.Delivery.Test || !s.told[sub]) {
			s.told[sub], o.Tell = true, true
		}
	}
}
