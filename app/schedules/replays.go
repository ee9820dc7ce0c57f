package schedules

import (
	"context"
	"time"
)

// replaysEvery is twice as often as a replay may take a step (core/webhook.Replay), so that none waits long for its turn.
const replaysEvery = 500 * time.Millisecond

// Replays is what sends again what partners asked for; webhooks.Service does it.
type Replays interface {
	// AdvanceReplay makes one step of one replay; advanced tells that another may be due.
	AdvanceReplay(ctx context.Context) (advanced bool, err error)
}

// ReplayJob gives the job that advances replays. A round makes every step that is due.
func ReplayJob(r Replays) Job {
	return Job{Name: "replays", Every: replaysEvery, Run: r.AdvanceReplay}
}
