package webhooks

import (
	"time"

	"partnerdeposits/app/platform/schedules"
)

// replaysEvery is half the interval between two steps of a replay (webhook.Replay), so that no due step waits long.
const replaysEvery = 500 * time.Millisecond

// replaysRest is the interval while there are no replays, and so the longest wait of a new replay for its first step.
const replaysRest = 2 * time.Second

// ReplayJob gives the job that advances replays. A round makes a single step and asks for the next round while steps are due.
func (s *Service) ReplayJob() schedules.Job {
	return schedules.Job{Name: "replays", Every: replaysEvery, Rest: replaysRest, Run: s.AdvanceReplay}
}
