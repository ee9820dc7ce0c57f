package schedules

import (
	"context"
	"time"
)

// replaysEvery is half the interval between two steps of a replay (webhook.Replay), so that no due step waits long.
const replaysEvery = 500 * time.Millisecond

// replaysRest is the interval while there are no replays, and so the longest wait of a new replay for its first step.
const replaysRest = 2 * time.Second

// Replays advances replays; webhooks.Service implements it.
type Replays interface {
	// AdvanceReplay makes a step of a replay; advanced is true when another step may be due.
	AdvanceReplay(ctx context.Context) (advanced bool, err error)
}

// ReplayJob gives the job that advances replays. A round makes a single step and asks for the next round while steps are due.
func ReplayJob(r Replays) Job {
	return Job{Name: "replays", Every: replaysEvery, Rest: replaysRest, Run: r.AdvanceReplay}
}
