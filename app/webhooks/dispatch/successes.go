package dispatch

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// successes limits how often the time of a success is written for an endpoint in good health, whose successes
// change nothing else.
type successes struct {
	mu sync.Mutex
	// The subscriptions whose success was already written in the present interval of webhook.LastSuccessGranularity.
	told  map[id.ID]bool
	began time.Time
}

// tell marks the outcomes whose time of success is written to the database: one success of each subscription in
// each webhook.LastSuccessGranularity, and every success of a test delivery.
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
