//go:build failpoints

package main

import (
	"context"

	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// markBeforeSend records the success of a POST before the POST is made, so that a POST which fails is not repeated.
type markBeforeSend struct {
	webhookports.WorkStore
	clock ports.Clock
}

// Load records a success for each delivery that may be sent.
func (s markBeforeSend) Load(ctx context.Context, claims []webhookports.Claim) ([]webhookports.Delivery, error) {
	loaded, err := s.WorkStore.Load(ctx, claims)
	var outcomes []webhookports.Outcome
	for i := range loaded {
		if d := &loaded[i]; d.Current && d.Enabled {
			outcomes = append(outcomes, webhookports.Outcome{
				Delivery: d, Verdict: webhook.Verdict{State: webhook.Succeeded},
				Attempt: webhook.Attempt{Number: d.Attempts + 1, StartedAt: s.clock.Now(),
					Result: webhook.ResultSuccess, ResponseStatus: 200},
			})
		}
	}
	if len(outcomes) > 0 {
		if _, _, err := s.Record(ctx, outcomes, nil, 1, s.clock.Now()); err != nil {
			return nil, err
		}
	}
	return loaded, err
}
